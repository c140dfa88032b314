//! One processor on one shard: reads changes, processes them, parks those it cannot process, and
//! records its position. A lane can be dropped at any moment; the next one continues after the last
//! committed writes.

mod batch_sizer;
mod parking;

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use roundtable_model::table::{self, Change, Key, Sequence};
use roundtable_model::{ProcessorName, StreamShard, Time};

use crate::commit::{CheckpointOutcome, EFFECTS_MAX, LaneCheckpoint};
use crate::error::ErrorClass;
use crate::metrics::LaneEvent;
use crate::processor::entity_type;
use crate::runner_state::RunnerState;
use crate::shard_tail::{ShardTail, TailPage};
use crate::{Batch, Delivery, Effects, ProcessingError, Processor, Result};

use self::batch_sizer::BatchSizer;

/// Factor by which changes are retried more often if they only conflicted with other writers.
const CONFLICT_ATTEMPTS_FACTOR: u32 = 4;
/// The time that one read waits for the first change.
const READ_WAIT: Duration = Duration::from_secs(1);
/// A checkpoint that only skips unwanted changes is written after this many changes…
const UNSAVED_CHANGES_MAX: usize = 10_000;
/// …or after this time, so that the stream need not be kept for longer.
const UNSAVED_MS_MAX: u64 = 60_000;
/// The shortest time between two reports of a checkpoint.
const REPORT_INTERVAL_MS: u64 = 5_000;

#[derive(Debug)]
pub(crate) struct Lane {
    shared: Arc<RunnerState>,
    processor: Arc<dyn Processor>,
    name: ProcessorName,
    shard: StreamShard,
    tail: Arc<ShardTail>,
    /// `None` until it is loaded, and after another reader has moved it.
    checkpoint: Option<LaneCheckpoint>,
    /// The last change that was processed, parked or skipped.
    position: Option<Sequence>,
    /// Items with a parked change that later changes must not overtake.
    parked: HashSet<Key>,
    /// The approximate number of changes skipped since the checkpoint was last written.
    unsaved: usize,
    saved_at: Time,
    /// The checkpoint last reported to the shard assignment, and the time of the report.
    reported: Option<(Sequence, Time)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneStep {
    Advanced,
    Idle,
    Ended,
    /// Another reader is at work, or the shard is no longer assigned to this process.
    Lost,
    Stopped,
}

/// The result of processing a page.
enum LaneResult {
    Done,
    Lost,
    Stopped,
}

enum BatchOutcome {
    Done,
    Lost,
    /// The effects do not fit into one transaction.
    TooManyEffects,
}

impl Lane {
    pub(crate) fn new(
        shared: &Arc<RunnerState>,
        processor: &Arc<dyn Processor>,
        tail: &Arc<ShardTail>,
        shard: StreamShard,
    ) -> Self {
        Self {
            saved_at: shared.context.now(),
            shared: Arc::clone(shared),
            name: processor.name(),
            processor: Arc::clone(processor),
            shard,
            tail: Arc::clone(tail),
            checkpoint: None,
            position: None,
            parked: HashSet::new(),
            unsaved: 0,
            reported: None,
        }
    }

    /// Runs until the shard ends or is lost, or the runner stops.
    pub(crate) async fn run(mut self) -> LaneStep {
        let mut failures = 0;
        let end = loop {
            if self.shared.stop.is_set() {
                break LaneStep::Stopped;
            }
            if !self.is_held() {
                break LaneStep::Lost;
            }
            match self.step(READ_WAIT).await {
                Ok(LaneStep::Ended) => break LaneStep::Ended,
                Ok(_) => failures = 0,
                Err(error) => {
                    failures += 1;
                    tracing::warn!(
                        processor = %self.name, shard = %self.shard, %error,
                        "cannot read or process the stream; retrying"
                    );
                    self.shared
                        .stop
                        .run_until_set(self.shared.retries.backoff.wait(failures))
                        .await;
                }
            }
        };
        let flushed = match self.flush().await {
            Ok(()) => self.report_checkpoint().await,
            failed => failed,
        };
        if let Err(error) = flushed {
            // The changes are read again and have no further effect.
            tracing::warn!(
                processor = %self.name, shard = %self.shard, %error,
                "cannot write the checkpoint; these changes will be read again"
            );
        }
        self.shared.metrics.clear_backlog(&self.name, self.shard.as_str());
        end
    }

    /// Reads one page and processes it.
    pub(crate) async fn step(&mut self, wait: Duration) -> Result<LaneStep> {
        if self.checkpoint.is_none() {
            self.load_checkpoint().await?;
            self.report_checkpoint().await?;
        }
        let Some(page) = self.read_page(wait).await? else { return Ok(LaneStep::Stopped) };
        match self.process_page(&page).await? {
            LaneResult::Done => {}
            LaneResult::Stopped => return Ok(LaneStep::Stopped),
            LaneResult::Lost => {
                self.checkpoint = None;
                return Ok(LaneStep::Lost);
            }
        }
        let before = self.position.clone();
        self.position = self.position.take().max(page.next.clone());
        self.report_position(None);
        self.save_periodically().await?;
        if page.ended {
            return Ok(LaneStep::Ended);
        }
        let moved = !page.changes.is_empty() || self.position != before;
        Ok(if moved { LaneStep::Advanced } else { LaneStep::Idle })
    }

    /// Writes the checkpoint if changes were skipped since it was last written.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        let (Some(checkpoint), Some(position)) = (&mut self.checkpoint, &self.position) else {
            return Ok(());
        };
        if checkpoint.saved.as_ref() == Some(position) {
            return Ok(());
        }
        if checkpoint.save(&self.shared, position).await? == CheckpointOutcome::Lost {
            self.checkpoint = None;
        }
        self.unsaved = 0;
        Ok(())
    }

    fn is_held(&self) -> bool {
        self.shared.shard_assignment.is_assigned(self.shard.as_str())
    }

    async fn load_checkpoint(&mut self) -> Result<()> {
        let checkpoint = LaneCheckpoint::load(&self.shared, &self.name, &self.shard).await?;
        self.parked = self.parked_items().await?;
        (self.position, self.unsaved) = (checkpoint.saved.clone(), 0);
        self.checkpoint = Some(checkpoint);
        Ok(())
    }

    /// Reads the next page. Returns `None` if the runner stops.
    async fn read_page(&mut self, wait: Duration) -> Result<Option<Arc<TailPage>>> {
        let read = async {
            match self.tail.read(self.position.as_ref(), wait).await {
                Err(table::Error::StreamTrimmed { after, .. }) if self.position.is_some() => {
                    Ok(Err(after))
                }
                other => other.map(Ok),
            }
        };
        match self.shared.stop.run_until_set(read).await {
            None => Ok(None),
            Some(Err(error)) => Err(error.into()),
            Some(Ok(Ok(page))) => Ok(Some(page)),
            Some(Ok(Err(after))) => {
                tracing::error!(
                    processor = %self.name, shard = %self.shard, after,
                    "changes were trimmed before they were processed; verify and repair derived data"
                );
                self.shared.metrics.record(&self.name, self.shard.as_str(), LaneEvent::Gap);
                self.position = None;
                Ok(Some(self.tail.read(None, wait).await?))
            }
        }
    }

    /// Processes the changes of a page that this processor wants and has not processed.
    async fn process_page(&mut self, page: &TailPage) -> Result<LaneResult> {
        let new = |change: &&Change| Some(&change.sequence) > self.position.as_ref();
        let types = self.processor.entity_types();
        let wanted =
            |change: &&Change| entity_type(change).is_some_and(|kind| types.contains(&kind));
        let mut wanted: Vec<Change> =
            page.changes.iter().filter(new).filter(wanted).cloned().collect();
        self.unsaved += page.unwanted + page.changes.len() - wanted.len();
        wanted.sort_by(|one, other| one.sequence.cmp(&other.sequence));
        wanted.dedup_by(|one, other| one.sequence == other.sequence);
        let mut sizer = BatchSizer::new();
        let mut rest = wanted.as_slice();
        while let Some(first) = rest.first() {
            if self.shared.stop.is_set() {
                return Ok(LaneResult::Stopped);
            }
            if !self.is_held() {
                return Ok(LaneResult::Lost);
            }
            self.report_position(Some(first));
            let unparked = self.count_unparked(rest).await?;
            let completed = if unparked == 0 {
                let blocked =
                    ProcessingError::unprocessable("an earlier change of the same item is parked");
                self.park(first, &blocked, 0).await?.map(|()| 1)
            } else {
                let batch = rest.get(..sizer.size().min(unparked)).unwrap_or(rest);
                self.process_batch(batch, &mut sizer).await?
            };
            let Some(completed) = completed else { return Ok(LaneResult::Lost) };
            let (done, others) = rest.split_at(completed);
            if let Some(last) = done.last() {
                self.position = Some(last.sequence.clone());
                sizer.advance(completed);
            }
            rest = others;
        }
        Ok(LaneResult::Done)
    }

    /// Processes a batch, or parks it if it is one change that keeps failing. Returns how many
    /// changes were completed, or `None` if another reader has taken over.
    async fn process_batch(
        &mut self,
        batch: &[Change],
        sizer: &mut BatchSizer,
    ) -> Result<Option<usize>> {
        let error = match self.try_batch(batch).await {
            Ok(BatchOutcome::Done) => {
                self.record(LaneEvent::Processed(batch.len()));
                return Ok(Some(batch.len()));
            }
            Ok(BatchOutcome::Lost) => return Ok(None),
            Ok(BatchOutcome::TooManyEffects) => {
                sizer.size = (batch.len() / 2).max(1);
                return Ok(Some(0));
            }
            Err(error) => error,
        };
        self.record(LaneEvent::Retried);
        sizer.attempts += 1;
        let (attempts, attempts_max) = (sizer.attempts, self.shared.retries.attempts_max);
        self.log_retry(&error, batch.len(), attempts);
        let given_up = match error.class() {
            ErrorClass::Unavailable => false,
            // One of several changes may be at fault: process them one by one.
            ErrorClass::Other => batch.len() > 1 || attempts >= attempts_max,
            ErrorClass::Conflict => {
                attempts >= attempts_max.saturating_mul(CONFLICT_ATTEMPTS_FACTOR)
            }
        };
        if !given_up {
            let backoff = &self.shared.retries.backoff;
            self.shared.stop.run_until_set(backoff.wait(attempts)).await;
            return Ok(Some(0));
        }
        if let [change] = batch {
            return Ok(self.park(change, &error, attempts).await?.map(|()| 1));
        }
        (sizer.singles_left, sizer.attempts) = (batch.len(), 0);
        Ok(Some(0))
    }

    fn log_retry(&self, error: &ProcessingError, changes: usize, attempts: u32) {
        let (processor, shard) = (&self.name, &self.shard);
        // Users write the same counters, so that losing to one of them is no news.
        if error.class() == ErrorClass::Conflict && attempts < self.shared.retries.attempts_max {
            tracing::debug!(%processor, %shard, changes, attempts, %error, "lost to another writer; retrying");
        } else {
            tracing::warn!(%processor, %shard, changes, attempts, %error, "cannot process changes; retrying");
        }
    }

    async fn try_batch(&mut self, batch: &[Change]) -> Result<BatchOutcome> {
        let Some(last) = batch.last() else { return Ok(BatchOutcome::Done) };
        let effects = self.effects(batch, Delivery::Streamed).await?;
        if effects.item_count() > EFFECTS_MAX {
            let items = effects.item_count();
            if batch.len() == 1 {
                return Err(ProcessingError::unprocessable(format!(
                    "one change leads to {items} writes, more than one transaction holds"
                )));
            }
            return Ok(BatchOutcome::TooManyEffects);
        }
        if effects.is_empty() {
            self.unsaved += batch.len();
            return Ok(BatchOutcome::Done);
        }
        let Some(checkpoint) = &mut self.checkpoint else { return Ok(BatchOutcome::Lost) };
        let enqueues = effects.touches(self.shared.context.ops().table());
        match checkpoint.commit(&self.shared, effects, &last.sequence).await? {
            CheckpointOutcome::Done => {
                self.unsaved = 0;
                if enqueues {
                    self.shared.work_signal.notify();
                }
                Ok(BatchOutcome::Done)
            }
            CheckpointOutcome::Lost => Ok(BatchOutcome::Lost),
        }
    }

    async fn effects(&self, changes: &[Change], delivery: Delivery) -> Result<Effects> {
        let shard = (!self.shared.commits_with_checkpoint()).then(|| self.shard.as_str());
        let batch = Batch { shard, delivery, changes };
        let effects = AssertUnwindSafe(self.processor.effects(&batch)).catch_unwind();
        effects
            .await
            .unwrap_or_else(|_| Err(ProcessingError::unprocessable("the processor panicked")))
    }

    async fn save_periodically(&mut self) -> Result<()> {
        let now = self.shared.context.now();
        let is_overdue = self.saved_at.plus_ms(UNSAVED_MS_MAX) <= now;
        if self.unsaved >= UNSAVED_CHANGES_MAX || is_overdue {
            self.flush().await?;
        }
        if is_overdue {
            self.saved_at = now;
        }
        let is_due = |(_, at): &(_, Time)| at.plus_ms(REPORT_INTERVAL_MS) <= now;
        if self.reported.as_ref().is_none_or(is_due) {
            self.report_checkpoint().await?;
        }
        Ok(())
    }

    /// Reports the checkpoint, if it has moved; the beginning of the stream while there is none.
    pub(crate) async fn report_checkpoint(&mut self) -> Result<()> {
        let Some(checkpoint) = &self.checkpoint else { return Ok(()) };
        let saved = checkpoint.saved.clone().unwrap_or_else(|| Sequence::from(0));
        if self.reported.as_ref().is_none_or(|(reported, _)| *reported != saved) {
            let (assignment, shard) = (&self.shared.shard_assignment, self.shard.as_str());
            assignment.report_checkpoint(&self.name, shard, &saved).await?;
            self.reported = Some((saved, self.shared.context.now()));
        }
        Ok(())
    }

    fn record(&self, event: LaneEvent) {
        self.shared.metrics.record(&self.name, self.shard.as_str(), event);
    }

    /// Reports the position and the backlog. `next` is the change about to be processed.
    fn report_position(&self, next: Option<&Change>) {
        let backlog = self.tail.count_after(self.position.as_ref());
        let (shard, since) = (self.shard.as_str(), next.map(|change| change.at_ms));
        let since = since.filter(|_| backlog > 0);
        self.shared.metrics.set_position(&self.name, shard, self.position.as_ref(), backlog, since);
    }
}
