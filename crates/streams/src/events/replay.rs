//! Replays events: enqueues again everything that the stream still holds since a point in time.

use std::fmt;
use std::time::Duration;

use roundtable_domain::EventType;
use roundtable_model::entities::{Job, Webhook};
use roundtable_model::table::{
    Error, Sequence, ShardInfo, StreamPage, StreamRead, StreamStart, Transaction,
};
use roundtable_model::{Entity, Time, WebhookId};

use super::event_sources::PendingEvent;
use super::{EventDelivery, outbox};
use crate::jobs::{PageOutcome, job_due_at};
use crate::{ProcessingError, Result};

/// Changes of the stream in one page. Their events fit into one batch.
const PAGE_CHANGES_MAX: usize = 100;
/// The possible lead of the store's clock. Events of that time may be sent twice.
const CLOCK_SKEW_MS: u64 = 5_000;
/// Consecutive empty reads at the end of an open shard before it counts as read: DynamoDB sometimes
/// returns an empty page although there are changes.
const EMPTY_READS_MIN: u32 = 3;
/// The same without a checkpoint to compare with, which may have been removed.
const EMPTY_READS_MAX: u32 = 30;
const EMPTY_READ_DELAY: Duration = Duration::from_secs(10);

/// The position of a replay, stored in its cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ReplayPosition {
    /// Later events are delivered anyway.
    until: Time,
    shard: String,
    after: Option<Sequence>,
    empty_reads: u32,
}

impl EventDelivery {
    pub(super) async fn replay_page(
        &self,
        id: &WebhookId,
        from: Time,
        job: &Job,
    ) -> Result<PageOutcome> {
        let webhook = self.context.ops().webhook(id).get().await?;
        let Some(webhook) = webhook.filter(|webhook| webhook.enabled) else {
            return Ok(PageOutcome::Done);
        };
        let core = self.context.core().table();
        let shards = core.stream_shards().await?;
        let Some(position) = self.position(job, &shards)? else { return Ok(PageOutcome::Done) };
        let start = position.after.clone().map_or(StreamStart::Oldest, StreamStart::After);
        let read = StreamRead::new(&position.shard, start).limit(PAGE_CHANGES_MAX);
        let page = match core.stream_read(read).await {
            Ok(page) => page,
            Err(Error::StreamTrimmed { .. }) => return Ok(position.skip_trimmed(&shards)),
            Err(error) => return Err(error.into()),
        };
        self.enqueue(&webhook, from, &position, &page, job).await?;
        self.advance(position, &page, &shards).await
    }

    /// Returns the position to read from. A replay begins with the oldest change and covers events
    /// until its start; by then the endpoint is enabled, so that no event is missed in between.
    fn position(&self, job: &Job, shards: &[ShardInfo]) -> Result<Option<ReplayPosition>> {
        if let Some(cursor) = job.cursor.as_deref().filter(|cursor| !cursor.is_empty()) {
            return ReplayPosition::parse(cursor).map(Some);
        }
        let until = self.context.now().plus_ms(CLOCK_SKEW_MS);
        Ok(shards.first().map(|first| ReplayPosition::at(first, until)))
    }

    /// Enqueues the events of a page.
    async fn enqueue(
        &self,
        webhook: &Webhook,
        from: Time,
        position: &ReplayPosition,
        page: &StreamPage,
        job: &Job,
    ) -> Result<()> {
        let span = outbox::truncate_to_second(from)..=position.until;
        let found = page
            .changes
            .iter()
            .filter_map(|change| Some((change, PendingEvent::from_change(change)?)));
        let found: Vec<_> = found
            .filter(|(_, event)| span.contains(&event.time))
            .filter(|(_, event)| EventType::is_subscribed(&event.kind, &webhook.event_types))
            .collect();
        let Some((first, _)) = found.first() else { return Ok(()) };
        let events: Vec<&PendingEvent> = found.iter().map(|(_, event)| event).collect();
        let due = job_due_at(first, &self.context);
        let (events_job, webhook_job) =
            outbox::new_batch(&webhook.id, first, due, &events, Some(&job.id))?;
        let ops = self.context.ops().table();
        let enqueue = Transaction::new().with(ops, events_job.put()).with(ops, webhook_job.put());
        self.context.store().transact(enqueue).await?;
        Ok(())
    }

    /// Returns the continuation after a page. On a shared store an empty page means little: a shard
    /// is left when it has ended, when its changes are too late, or when it is open and has been
    /// read as far as its checkpoint.
    async fn advance(
        &self,
        position: ReplayPosition,
        page: &StreamPage,
        shards: &[ShardInfo],
    ) -> Result<PageOutcome> {
        let is_past = page.changes.last().is_some_and(|last| last.at_ms > position.until.ms());
        if page.ended || is_past {
            return Ok(position.next_shard(shards));
        }
        if page.next > position.after {
            let after = page.next.clone();
            return Ok(PageOutcome::Continue(
                ReplayPosition { after, empty_reads: 0, ..position }.to_string(),
            ));
        }
        let empty_reads = position.empty_reads + 1;
        let is_closed =
            shards.iter().any(|other| other.parent.as_deref() == Some(&*position.shard));
        let is_read = self.context.store().capabilities().single_process
            || (!is_closed
                && empty_reads >= EMPTY_READS_MIN
                && self.has_caught_up(&position).await?)
            || (!is_closed && empty_reads >= EMPTY_READS_MAX);
        if is_read {
            return Ok(position.next_shard(shards));
        }
        Ok(PageOutcome::ContinueLater(
            ReplayPosition { empty_reads, ..position }.to_string(),
            EMPTY_READ_DELAY,
        ))
    }

    /// Returns whether the replay has reached the event detector's checkpoint.
    async fn has_caught_up(&self, position: &ReplayPosition) -> Result<bool> {
        let shard = position.shard.parse()?;
        let checkpoint =
            self.context.ops().checkpoint(&super::EventDetector::NAME, &shard).get().await?;
        let sequence =
            checkpoint.map(|checkpoint| Sequence::parse(&checkpoint.sequence)).transpose();
        Ok(sequence.map_err(Error::from)? <= position.after)
    }
}

impl ReplayPosition {
    fn at(shard: &ShardInfo, until: Time) -> Self {
        Self { until, shard: shard.id.clone(), after: None, empty_reads: 0 }
    }

    /// Continues with the next shard, or with the first one if this shard is no longer listed:
    /// events sent twice do no harm.
    fn next_shard(&self, shards: &[ShardInfo]) -> PageOutcome {
        let at = shards.iter().position(|other| other.id == self.shard);
        let next = shards.get(at.map_or(0, |at| at + 1));
        next.map_or(PageOutcome::Done, |next| {
            PageOutcome::Continue(Self::at(next, self.until).to_string())
        })
    }

    /// Continues after a trim: with the rest of the shard, or with the next one.
    fn skip_trimmed(self, shards: &[ShardInfo]) -> PageOutcome {
        tracing::warn!(
            shard = self.shard,
            "part of the replay was trimmed from the stream; those events cannot be sent again"
        );
        match self.after {
            Some(_) => {
                PageOutcome::Continue(Self { after: None, empty_reads: 0, ..self }.to_string())
            }
            None => self.next_shard(shards),
        }
    }

    fn parse(cursor: &str) -> Result<Self> {
        let invalid =
            || ProcessingError::unprocessable(format!("invalid replay cursor {cursor:?}"));
        let mut parts = cursor.splitn(4, '/');
        let mut part = || parts.next().ok_or_else(invalid);
        let until = Time::from_ms(part()?.parse().map_err(|_| invalid())?);
        let empty_reads = part()?.parse().map_err(|_| invalid())?;
        let after = Some(part()?).filter(|digits| !digits.is_empty());
        let after = after.map(Sequence::parse).transpose().map_err(|_| invalid())?;
        Ok(Self { until, shard: part()?.to_owned(), after, empty_reads })
    }
}

impl fmt::Display for ReplayPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after = self.after.as_ref().map(Sequence::to_string).unwrap_or_default();
        write!(f, "{}/{}/{after}/{}", self.until.ms(), self.empty_reads, self.shard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_round_trips_through_its_cursor() {
        for after in [None, Some(Sequence::from(7))] {
            let (until, shard) = (Time::from_ms(5), String::from("shard/1"));
            let position = ReplayPosition { until, shard, after, empty_reads: 2 };
            assert_eq!(ReplayPosition::parse(&position.to_string()).unwrap(), position);
        }
        assert!(ReplayPosition::parse("g0/7").is_err());
    }
}
