//! How far the sending of a parcel has come, written onto the parcel itself: whichever errand comes next,
//! in whichever process, goes on from there. And what becomes of one that cannot be sent.

use std::fmt;
use std::time::Duration;

use roundtable_domain::Errand;
use roundtable_model::entities::{DeadLetter, Job, Webhook};
use roundtable_model::table::{CancelReason, Condition, Error, Query, SortRange, Transaction};
use roundtable_model::{Answer, Entity, Json, Shard, Time, WebhookId};

use super::{Events, waiting};
use crate::Failure;
use crate::jobs::Next;

/// Parcels that are taken away in one page, when nobody takes them.
const PAGE_CLEARED_MAX: usize = 25;
/// What an errand says once what it is about waits.
pub(super) const WAITS: &str = "waits";

/// How far a parcel has come, as its cursor says. How often it failed at a stretch is in its attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// How many of its events have been taken.
    pub(super) sent: usize,
    /// When the endpoint failed first, of the times it has failed since it last took something.
    pub(super) failing_since: Option<Time>,
    /// Nobody tries before that: the endpoint is left alone, or somebody is at it.
    pub(super) rests_until: Option<Time>,
}

impl Progress {
    /// What cannot be read is as nothing: then events come again.
    pub(super) fn of(parcel: &Job) -> Self {
        let mut parts = parcel.cursor.as_deref().unwrap_or_default().split('/');
        let mut part = || parts.next().unwrap_or_default();
        let sent = part().parse().unwrap_or_default();
        let mut time = || part().parse().ok().map(Time::from_ms);
        Self { sent, failing_since: time(), rests_until: time() }
    }

    /// How long nobody tries, if they do not.
    pub(super) fn rest(&self, now: Time) -> Option<(Time, Duration)> {
        let until = self.rests_until.filter(|until| *until > now)?;
        Some((until, Duration::from_millis(until.ms() - now.ms())))
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |time: Option<Time>| time.map(|time| time.ms().to_string()).unwrap_or_default();
        write!(f, "{}/{}/{}", self.sent, ms(self.failing_since), ms(self.rests_until))
    }
}

impl Events {
    /// What has waited for longest.
    pub(super) async fn parcels(
        &self,
        webhook: &WebhookId,
        limit: usize,
    ) -> Result<Vec<Job>, Failure> {
        let queue = waiting::queue(webhook)?;
        let now = self.ground.now();
        let any = Job::at(&queue, &Shard::ZERO, &now, &webhook.recast()).into_key();
        // The errand that comes for a parcel may be there a moment before a weak read shows the parcel.
        let due =
            Query::new(any.partition).sort(SortRange::Less(now.plus_ms(1).to_string().into()));
        let table = self.ground.ops().table().for_pattern("jobs");
        let parcels = table.query(due.limit(limit).strong()).await?.items;
        Ok(parcels.iter().map(Job::from_item).collect::<Result<_, _>>()?)
    }

    /// Writes down how far a parcel has come; `None` if it is not as it was read.
    pub(super) async fn note(
        &self,
        parcel: &Job,
        progress: Progress,
        attempts: u64,
    ) -> Result<Option<Job>, Failure> {
        let onward = Job { cursor: Some(progress.to_string()), attempts, ..parcel.clone() };
        let patch = parcel.key().patch().set(Job::CURSOR, &onward.cursor);
        let patch = patch.set(Job::ATTEMPTS, &attempts).when(as_read(parcel));
        match self.ground.ops().table().update(patch.into()).await {
            Ok(_) => Ok(Some(onward)),
            Err(Error::ConditionFailed { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A parcel that was sent is gone, unless it is not as it was read.
    pub(super) async fn forget(&self, parcel: &Job) -> Result<(), Failure> {
        let gone = parcel.key().delete().when(as_read(parcel));
        match self.ground.ops().table().delete(gone).await {
            Ok(_) | Err(Error::ConditionFailed { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// A parcel that nobody can send becomes a dead letter, and those behind it go on.
    pub(super) async fn bury(
        &self,
        webhook: &WebhookId,
        parcel: &Job,
        why: &str,
    ) -> Result<Next, Failure> {
        tracing::error!(%webhook, parcel = %parcel.id, why, "events cannot be sent");
        let ops = self.ground.ops().table();
        let letter = self.letter(webhook, parcel, why)?;
        let gone = parcel.key().delete().when(as_read(parcel));
        let buried = Transaction::new().with(ops, letter.put()).with(ops, gone);
        self.unless_changed(buried).await?;
        Ok(Next::Page(WAITS.to_owned()))
    }

    /// Takes away what waits for an endpoint that is told nothing: into dead letters, if it is only turned
    /// off. It must still be so then: whoever turns it on again finds what waits.
    pub(super) async fn clear(&self, id: &WebhookId, is_there: bool) -> Result<Next, Failure> {
        let ops = self.ground.ops().table();
        let parcels = self.parcels(id, PAGE_CLEARED_MAX).await?;
        for parcel in &parcels {
            let gone = parcel.key().delete().when(as_read(parcel));
            let cleared = Transaction::new().with(ops, gone);
            let cleared = if is_there {
                let off = Webhook::at(id).check(Webhook::ENABLED.is(&false));
                let letter = self.letter(id, parcel, "the endpoint was turned off")?;
                cleared.with(ops, off).with(ops, letter.put())
            } else {
                cleared.with(ops, Webhook::at(id).absent())
            };
            if !self.unless_changed(cleared).await? {
                return Ok(Next::Page(WAITS.to_owned()));
            }
        }
        Ok(if parcels.is_empty() { Next::Done } else { Next::Page(WAITS.to_owned()) })
    }

    /// Lets a parcel wait again that was a dead letter, and sends what waits.
    pub(super) async fn resend(
        &self,
        webhook: &WebhookId,
        parcel: &Job,
        errand: &Job,
    ) -> Result<Next, Failure> {
        if errand.cursor.as_deref() == Some(WAITS) {
            return self.send(webhook, errand).await;
        }
        if self.ground.ops().webhook(webhook).get().await?.is_none() {
            return Ok(Next::Done);
        }
        self.ground.ops().table().put(parcel.put()).await?;
        Ok(Next::Page(WAITS.to_owned()))
    }

    /// The letter of a parcel: an errand, so that it can be redriven as every job can.
    fn letter(&self, webhook: &WebhookId, parcel: &Job, why: &str) -> Result<DeadLetter, Failure> {
        let payload = Json::of(&Errand::Resend {
            webhook: webhook.clone(),
            parcel: parcel.id.clone(),
            happened: parcel.due_at,
            events: parcel.payload.to()?,
        })?;
        let sent = Progress { sent: Progress::of(parcel).sent, ..Progress::default() };
        Ok(DeadLetter {
            queue: Errand::QUEUE,
            failed_at: self.ground.now(),
            id: parcel.id.clone(),
            payload,
            cursor: Some(sent.to_string()),
            error: why.to_owned(),
            attempts: parcel.attempts,
            created_at: parcel.created_at,
        })
    }

    /// Writes this, unless something is not as it was read; whether it was.
    async fn unless_changed(&self, transaction: Transaction) -> Result<bool, Failure> {
        let refused = |reason: &Option<CancelReason>| {
            matches!(reason, Some(CancelReason::ConditionFailed { .. }))
        };
        match self.ground.store().transact(transaction).await {
            Ok(_) => Ok(true),
            Err(Error::Cancelled { reasons }) if reasons.iter().any(refused) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn as_read(parcel: &Job) -> Condition {
    Job::CURSOR.is(&parcel.cursor).and(Job::ATTEMPTS.is(&parcel.attempts))
}

#[cfg(test)]
mod tests {
    use roundtable_model::samples;

    use super::*;

    #[test]
    fn progress_reads_as_it_was_written() {
        let time = |ms| Some(Time::from_ms(ms));
        let read = |cursor: String| Progress::of(&Job { cursor: Some(cursor), ..samples::job() });
        for progress in [
            Progress::default(),
            Progress { sent: 20, ..Progress::default() },
            Progress { sent: 3, failing_since: time(5), rests_until: time(9) },
            Progress { sent: 0, failing_since: None, rests_until: time(9) },
        ] {
            assert_eq!(read(progress.to_string()), progress);
        }
        assert_eq!(read(String::from("nonsense")), Progress::default());
    }
}
