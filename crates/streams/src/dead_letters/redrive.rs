//! Redrives parked changes and jobs. On every backend a change is processed in one transaction with
//! the removal of its dead letter, whose existence means that the change has not been processed.

use roundtable_domain_macros::boxed;
use std::collections::HashSet;

use roundtable_model::entities::{DeadLetter, Job};
use roundtable_model::table::{CancelReason, Error, Key, Sequence, Transaction};
use roundtable_model::{Entity, JobId, Queue, Shard, Time};

use super::{DeadLetters, ParkedChange, change_queue, for_each_letter};
use crate::commit::EFFECTS_MAX;
use crate::error::ErrorClass;
use crate::{Batch, Delivery, ProcessingError, Result};

/// The result of redriving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RedriveSummary {
    /// Dead letters that were removed: their changes were processed, or their jobs enqueued again.
    pub done: usize,
    /// Dead letters that failed again, or that wait for one that did.
    pub failed: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RedriveOutcome {
    Done,
    /// Another caller has removed it.
    Gone,
}

/// The key of a parked change and of its dead letter, without the images: all dead letters of a
/// queue may not fit into memory.
#[derive(Debug)]
struct ParkedChangeRef {
    item: Key,
    sequence: Sequence,
    failed_at: Time,
    id: JobId,
}

#[boxed]
impl DeadLetters {
    /// Redrives one dead letter. Returns whether it existed. Earlier parked changes of the same
    /// item come first if their order matters.
    pub async fn redrive(&self, queue: &Queue, at: Time, id: &JobId) -> Result<bool> {
        let letter = self.shared.context.ops().dead_letter(queue, &at, id).get().await?;
        let Some(letter) = letter else { return Ok(false) };
        if !queue.as_str().starts_with(Queue::CHANGES_PREFIX) {
            return Ok(self.redrive_job(&letter).await? == RedriveOutcome::Done);
        }
        let parked = ParkedChange::decode(&letter)?;
        let ordered = !self.processor(&parked)?.may_overtake();
        if ordered {
            let earlier = |other: &ParkedChangeRef| {
                other.item == parked.change.key && other.sequence < parked.change.sequence
            };
            for earlier in self.parked_changes(queue).await?.into_iter().filter(earlier) {
                if let Some((letter, change)) = self.load_parked(queue, &earlier).await? {
                    self.redrive_change(&letter, &change).await?;
                }
            }
        }
        Ok(self.redrive_change(&letter, &parked).await? == RedriveOutcome::Done)
    }

    /// Redrives up to `max` dead letters, oldest first. Those that fail again stay, and so do later
    /// changes of the same item if their order matters.
    pub async fn redrive_all(&self, max: usize) -> Result<RedriveSummary> {
        let mut summary = RedriveSummary::default();
        for processor in &self.processors {
            let (queue, mut blocked) = (change_queue(&processor.name())?, HashSet::new());
            for parked in self.parked_changes(&queue).await? {
                if summary.done + summary.failed >= max {
                    return Ok(summary);
                }
                let key = &parked.item;
                if !processor.may_overtake() && blocked.contains(key) {
                    summary.failed += 1;
                    continue;
                }
                let Some((letter, parked)) = self.load_parked(&queue, &parked).await? else {
                    continue;
                };
                match self.redrive_change(&letter, &parked).await {
                    Ok(RedriveOutcome::Done) => summary.done += 1,
                    Ok(RedriveOutcome::Gone) => {}
                    Err(error) if error.class() == ErrorClass::Unavailable => return Err(error),
                    Err(error) => {
                        tracing::warn!(
                            processor = %processor.name(), %key, %error,
                            "a dead letter failed again; it stays in its queue"
                        );
                        summary.failed += 1;
                        blocked.insert(key.clone());
                    }
                }
            }
        }
        for queue in &self.jobs {
            let mut after = None;
            loop {
                let page = self.list(queue, None, after).await?;
                for letter in page.items {
                    if summary.done + summary.failed >= max {
                        return Ok(summary);
                    }
                    let outcome = self.redrive_job(&letter).await?;
                    summary.done += usize::from(outcome == RedriveOutcome::Done);
                }
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(summary)
    }

    /// Returns references to the parked changes of a queue, in stream order.
    async fn parked_changes(&self, queue: &Queue) -> Result<Vec<ParkedChangeRef>> {
        let mut all = Vec::new();
        for_each_letter(&self.shared.context, queue, |letter| {
            all.push(ParkedChange::decode(&letter).map(|parked| ParkedChangeRef {
                item: parked.change.key,
                sequence: parked.change.sequence,
                failed_at: letter.failed_at,
                id: letter.id,
            }));
        })
        .await?;
        let mut all = all.into_iter().collect::<Result<Vec<_>>>()?;
        all.sort_by(|one, other| one.sequence.cmp(&other.sequence));
        Ok(all)
    }

    /// Loads a parked change and its dead letter. Returns `None` if another caller has removed it.
    async fn load_parked(
        &self,
        queue: &Queue,
        parked: &ParkedChangeRef,
    ) -> Result<Option<(DeadLetter, ParkedChange)>> {
        let ops = self.shared.context.ops();
        let letter = ops.dead_letter(queue, &parked.failed_at, &parked.id).get().await?;
        let Some(letter) = letter else { return Ok(None) };
        let change = ParkedChange::decode(&letter)?;
        Ok(Some((letter, change)))
    }

    fn processor(&self, parked: &ParkedChange) -> Result<&dyn crate::Processor> {
        let found = self.processors.iter().find(|each| each.name() == parked.processor);
        found.map(|found| &**found).ok_or_else(|| {
            ProcessingError::unprocessable(format!(
                "no processor {:?} in this version",
                parked.processor
            ))
        })
    }

    async fn redrive_change(
        &self,
        letter: &DeadLetter,
        parked: &ParkedChange,
    ) -> Result<RedriveOutcome> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let error = match self.try_change(letter, parked).await {
                Ok(outcome) => return Ok(outcome),
                Err(error) => error,
            };
            if error.class() == ErrorClass::Unavailable
                || attempts >= self.shared.retries.attempts_max
            {
                self.record_failure(letter, &error).await;
                return Err(error);
            }
            self.shared.retries.backoff.wait(attempts).await;
        }
    }

    async fn try_change(
        &self,
        letter: &DeadLetter,
        parked: &ParkedChange,
    ) -> Result<RedriveOutcome> {
        if !parked.has_images() {
            return Err(ProcessingError::unprocessable(
                "its images were too large to keep; discard it, then verify and repair derived data",
            ));
        }
        let changes = std::slice::from_ref(&parked.change);
        let batch = Batch { shard: None, delivery: Delivery::Redriven, changes };
        let effects = self.processor(parked)?.effects(&batch).await?;
        if effects.item_count() > EFFECTS_MAX {
            let items = effects.item_count();
            return Err(ProcessingError::unprocessable(format!(
                "one change leads to {items} writes, more than one transaction holds"
            )));
        }
        let transaction = Transaction { writes: effects.into_writes(), token: None };
        self.transact(transaction.with(self.ops(), letter.key().delete())).await
    }

    async fn redrive_job(&self, letter: &DeadLetter) -> Result<RedriveOutcome> {
        let job = Job {
            queue: letter.queue.clone(),
            shard: Shard::ZERO,
            due_at: self.shared.context.now(),
            id: letter.id.clone(),
            payload: letter.payload.clone(),
            cursor: letter.cursor.clone(),
            attempts: 0,
            created_at: letter.created_at,
        };
        let again = Transaction::new().with(self.ops(), job.put());
        self.transact(again.with(self.ops(), letter.key().delete())).await
    }

    /// Runs a transaction whose last write removes the dead letter.
    async fn transact(&self, transaction: Transaction) -> Result<RedriveOutcome> {
        match self.shared.context.store().transact(transaction).await {
            Ok(_) => Ok(RedriveOutcome::Done),
            Err(Error::Cancelled { reasons })
                if matches!(reasons.last(), Some(Some(CancelReason::ConditionFailed { .. }))) =>
            {
                Ok(RedriveOutcome::Gone)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Records the new error on the dead letter. Losing this update does no harm.
    async fn record_failure(&self, letter: &DeadLetter, error: &ProcessingError) {
        let patch = letter.key().patch();
        let patch = patch.set(DeadLetter::ERROR, &error.to_string()).add(DeadLetter::ATTEMPTS, 1);
        if let Err(error) = self.ops().update(patch.into()).await {
            tracing::debug!(%error, "cannot record the new error on the dead letter");
        }
    }
}
