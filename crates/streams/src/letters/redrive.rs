//! Trying parked work again. A change is processed in one transaction with the removal of its letter, on
//! every backend: the letter is what says that it has not been processed.

use std::collections::HashSet;

use roundtable_model::entities::{DeadLetter, Job};
use roundtable_model::table::{CancelReason, Error, Key, Sequence, Transaction};
use roundtable_model::{Entity, JobId, Queue, Result, Shard, Time};

use super::{DeadLetters, ParkedChange, changes_of, each};
use crate::commit::EFFECTS_MAX;
use crate::failure::Remedy;
use crate::{Batch, Delivery, Failure};

/// What came of redriving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redriven {
    /// Letters that are gone: their changes were processed, their jobs are under way again.
    pub done: usize,
    /// Letters that failed again, or wait for one that did.
    pub failed: usize,
}

/// What came of one letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    /// Somebody else has dealt with it.
    Gone,
}

/// Where a letter about a change is. There may be more letters than fit into memory, images and all.
#[derive(Debug)]
struct Parked {
    item: Key,
    sequence: Sequence,
    failed_at: Time,
    id: JobId,
}

impl DeadLetters {
    /// Redrives one letter; whether it was there. Earlier parked changes of the same item come first,
    /// where their order matters.
    pub async fn redrive(&self, queue: &Queue, at: Time, id: &JobId) -> Result<bool, Failure> {
        let letter = self.shared.ground.ops().dead_letter(queue, &at, id).get().await?;
        let Some(letter) = letter else { return Ok(false) };
        if !queue.as_str().starts_with(Queue::CHANGES) {
            return Ok(self.redrive_job(&letter).await? == Outcome::Done);
        }
        let parked = ParkedChange::read(&letter)?;
        let ordered = !self.processor(&parked)?.may_overtake();
        if ordered {
            let earlier = |other: &Parked| {
                other.item == parked.change.key && other.sequence < parked.change.sequence
            };
            for earlier in self.parked(queue).await?.into_iter().filter(earlier) {
                if let Some((letter, change)) = self.change(queue, &earlier).await? {
                    self.redrive_change(&letter, &change).await?;
                }
            }
        }
        Ok(self.redrive_change(&letter, &parked).await? == Outcome::Done)
    }

    /// Redrives everything, the oldest first, up to `max` letters. What fails again stays, and so do
    /// later changes of the same item where their order matters.
    pub async fn redrive_all(&self, max: usize) -> Result<Redriven, Failure> {
        let mut redriven = Redriven::default();
        for processor in &self.processors {
            let (queue, mut stuck) = (changes_of(&processor.name())?, HashSet::new());
            for parked in self.parked(&queue).await? {
                if redriven.done + redriven.failed >= max {
                    return Ok(redriven);
                }
                let key = &parked.item;
                if !processor.may_overtake() && stuck.contains(key) {
                    redriven.failed += 1;
                    continue;
                }
                let Some((letter, parked)) = self.change(&queue, &parked).await? else { continue };
                match self.redrive_change(&letter, &parked).await {
                    Ok(Outcome::Done) => redriven.done += 1,
                    Ok(Outcome::Gone) => {}
                    Err(failure) if failure.remedy() == Remedy::Wait => return Err(failure),
                    Err(failure) => {
                        tracing::warn!(processor = %processor.name(), %key, %failure, "cannot redrive");
                        redriven.failed += 1;
                        stuck.insert(key.clone());
                    }
                }
            }
        }
        for queue in &self.jobs {
            let mut after = None;
            loop {
                let page = self.list(queue, None, after).await?;
                for letter in page.items {
                    if redriven.done + redriven.failed >= max {
                        return Ok(redriven);
                    }
                    let outcome = self.redrive_job(&letter).await?;
                    redriven.done += usize::from(outcome == Outcome::Done);
                }
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(redriven)
    }

    /// Where the parked changes of a queue are, each item's in the order they happened.
    async fn parked(&self, queue: &Queue) -> Result<Vec<Parked>, Failure> {
        let mut all = Vec::new();
        each(&self.shared.ground, queue, |letter| {
            all.push(ParkedChange::read(&letter).map(|parked| Parked {
                item: parked.change.key,
                sequence: parked.change.sequence,
                failed_at: letter.failed_at,
                id: letter.id,
            }));
        })
        .await?;
        let mut all = all.into_iter().collect::<Result<Vec<_>, Failure>>()?;
        all.sort_by(|one, other| one.sequence.cmp(&other.sequence));
        Ok(all)
    }

    /// A parked change, and its letter; `None` if somebody else has dealt with it.
    async fn change(
        &self,
        queue: &Queue,
        parked: &Parked,
    ) -> Result<Option<(DeadLetter, ParkedChange)>, Failure> {
        let ops = self.shared.ground.ops();
        let letter = ops.dead_letter(queue, &parked.failed_at, &parked.id).get().await?;
        let Some(letter) = letter else { return Ok(None) };
        let change = ParkedChange::read(&letter)?;
        Ok(Some((letter, change)))
    }

    fn processor(&self, parked: &ParkedChange) -> Result<&dyn crate::Processor, Failure> {
        let found = self.processors.iter().find(|each| each.name() == parked.processor);
        found.map(|found| &**found).ok_or_else(|| {
            Failure::broken(format!("there is no processor {:?} any more", parked.processor))
        })
    }

    async fn redrive_change(
        &self,
        letter: &DeadLetter,
        parked: &ParkedChange,
    ) -> Result<Outcome, Failure> {
        let mut tries = 0;
        loop {
            tries += 1;
            let failure = match self.try_change(letter, parked).await {
                Ok(outcome) => return Ok(outcome),
                Err(failure) => failure,
            };
            if failure.remedy() == Remedy::Wait || tries >= self.shared.retries.attempts_max {
                self.note(letter, &failure).await;
                return Err(failure);
            }
            self.shared.retries.backoff.wait(tries).await;
        }
    }

    async fn try_change(
        &self,
        letter: &DeadLetter,
        parked: &ParkedChange,
    ) -> Result<Outcome, Failure> {
        if !parked.is_whole() {
            return Err(Failure::broken(
                "its images were too large to keep; repair what is derived",
            ));
        }
        let changes = std::slice::from_ref(&parked.change);
        let batch = Batch { shard: None, delivery: Delivery::Redriven, changes };
        let effects = self.processor(parked)?.effects(&batch).await?;
        if effects.items() > EFFECTS_MAX {
            let items = effects.items();
            return Err(Failure::broken(format!("one change would lead to {items} writes")));
        }
        let transaction = Transaction { writes: effects.into_writes(), token: None };
        self.transact(transaction.with(self.ops(), letter.key().delete())).await
    }

    async fn redrive_job(&self, letter: &DeadLetter) -> Result<Outcome, Failure> {
        let job = Job {
            queue: letter.queue.clone(),
            shard: Shard::ZERO,
            due_at: self.shared.ground.now(),
            id: letter.id.clone(),
            payload: letter.payload.clone(),
            cursor: letter.cursor.clone(),
            attempts: 0,
            created_at: letter.created_at,
        };
        let again = Transaction::new().with(self.ops(), job.put());
        self.transact(again.with(self.ops(), letter.key().delete())).await
    }

    /// Does this together with the removal of a letter, which is its last write.
    async fn transact(&self, transaction: Transaction) -> Result<Outcome, Failure> {
        match self.shared.ground.store().transact(transaction).await {
            Ok(_) => Ok(Outcome::Done),
            Err(Error::Cancelled { reasons })
                if matches!(reasons.last(), Some(Some(CancelReason::ConditionFailed { .. }))) =>
            {
                Ok(Outcome::Gone)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Writes onto the letter that it failed again; that this fails, too, hardly matters.
    async fn note(&self, letter: &DeadLetter, failure: &Failure) {
        let patch = letter.key().patch();
        let patch = patch.set(DeadLetter::ERROR, &failure.to_string()).add(DeadLetter::ATTEMPTS, 1);
        if let Err(error) = self.ops().update(patch.into()).await {
            tracing::debug!(%error, "the letter keeps its old error");
        }
    }
}
