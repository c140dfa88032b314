//! Parks changes that cannot be processed, and later changes that must not overtake them.

use std::collections::HashSet;

use roundtable_model::Entity;
use roundtable_model::table::{Change, Key};

use super::Lane;
use crate::commit::CheckpointOutcome;
use crate::metrics::LaneEvent;
use crate::{Delivery, Effects, ProcessingError, Result, dead_letters};

impl Lane {
    /// Returns the items with a parked change that later changes must not overtake.
    pub(super) async fn parked_items(&self) -> Result<HashSet<Key>> {
        if self.processor.may_overtake() {
            return Ok(HashSet::new());
        }
        dead_letters::parked_items(&self.shared.context, &self.name).await
    }

    /// Returns how many changes come before the first one whose item is parked.
    pub(super) async fn count_unparked(&mut self, rest: &[Change]) -> Result<usize> {
        let first = |parked: &HashSet<Key>| {
            rest.iter().position(|change| parked.contains(&change.key)).unwrap_or(rest.len())
        };
        if first(&self.parked) == 0 {
            self.parked = self.parked_items().await?;
        }
        Ok(first(&self.parked))
    }

    /// Moves a change to the dead letters and advances past it. Returns `None` if another reader
    /// has done so.
    pub(super) async fn park(
        &mut self,
        change: &Change,
        error: &ProcessingError,
        attempts: u32,
    ) -> Result<Option<()>> {
        let context = &self.shared.context;
        let source = (&self.name, &self.shard);
        let dead_letter =
            dead_letters::dead_letter_for_change(context, source, change, error, attempts)?;
        let mut retries = 0;
        loop {
            let mut writes = Effects::new();
            writes.write(self.shared.context.ops().table(), dead_letter.create());
            let mut writes = writes.into_writes();
            // An unreadable change has no counters to mark, and no other reader could count it
            // either.
            let marks = self.effects(std::slice::from_ref(change), Delivery::Skipped).await;
            if retries < self.shared.retries.attempts_max {
                writes.extend(marks.map(Effects::into_writes).unwrap_or_default());
            }
            let Some(checkpoint) = &mut self.checkpoint else { return Ok(None) };
            match checkpoint.commit_with(&self.shared, writes, &change.sequence).await {
                Ok(CheckpointOutcome::Lost) => return Ok(None),
                Ok(CheckpointOutcome::Done) => break,
                Err(error) if retries > self.shared.retries.attempts_max => return Err(error),
                Err(_) => retries += 1,
            }
            self.shared.retries.backoff.wait(retries).await;
        }
        tracing::error!(
            processor = %self.name, shard = %self.shard, sequence = %change.sequence,
            key = %change.key, %error,
            "a change was moved to the dead letters; redrive it once the cause is fixed"
        );
        self.unsaved = 0;
        if !self.processor.may_overtake() {
            self.parked.insert(change.key.clone());
        }
        self.record(LaneEvent::Parked);
        Ok(Some(()))
    }
}
