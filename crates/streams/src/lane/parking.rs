//! Putting changes aside that cannot be processed, and those that must not overtake them.

use std::collections::HashSet;

use roundtable_model::Entity;
use roundtable_model::table::{Change, Key};

use super::Lane;
use crate::commit::Committed;
use crate::figures::Event;
use crate::{Delivery, Effects, Failure, letters};

impl Lane {
    /// Items with a parked change that must not be overtaken.
    pub(super) async fn parked_items(&self) -> Result<HashSet<Key>, Failure> {
        if self.processor.may_overtake() {
            return Ok(HashSet::new());
        }
        letters::parked_items(&self.shared.ground, &self.name).await
    }

    /// How many changes come before one whose item is parked.
    pub(super) async fn clear(&mut self, rest: &[Change]) -> Result<usize, Failure> {
        let first = |parked: &HashSet<Key>| {
            rest.iter().position(|change| parked.contains(&change.key)).unwrap_or(rest.len())
        };
        if first(&self.parked) == 0 {
            // It may have been redriven since.
            self.parked = self.parked_items().await?;
        }
        Ok(first(&self.parked))
    }

    /// Puts a change aside, and goes past it; `None` if another reader has.
    pub(super) async fn park(
        &mut self,
        change: &Change,
        failure: &Failure,
        attempts: u32,
    ) -> Result<Option<()>, Failure> {
        let ground = &self.shared.ground;
        let place = (&self.name, &self.shard);
        let letter = letters::of_change(ground, place, change, failure, attempts)?;
        let mut tries = 0;
        loop {
            let mut writes = Effects::none();
            writes.write(self.shared.ground.ops().table(), letter.create());
            let mut writes = writes.into_writes();
            // What cannot be read has no counters to mark; nobody else could count it either.
            let marks = self.effects(std::slice::from_ref(change), Delivery::PassedOver).await;
            if tries < self.shared.retries.attempts_max {
                writes.extend(marks.map(Effects::into_writes).unwrap_or_default());
            }
            let Some(mark) = &mut self.mark else { return Ok(None) };
            match mark.commit_with(&self.shared, writes, &change.sequence).await {
                Ok(Committed::Lost) => return Ok(None),
                Ok(Committed::Done) => break,
                Err(refused) if tries > self.shared.retries.attempts_max => return Err(refused),
                Err(_) => tries += 1,
            }
            self.shared.retries.backoff.wait(tries).await;
        }
        tracing::error!(
            processor = %self.name, shard = %self.shard, sequence = %change.sequence,
            key = %change.key, %failure, "parked a change"
        );
        self.unsaved = 0;
        if !self.processor.may_overtake() {
            self.parked.insert(change.key.clone());
        }
        self.event(Event::Parked);
        Ok(Some(()))
    }
}
