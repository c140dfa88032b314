//! Sending an endpoint what waits for it, in order, one event at a time; and letting things wait again.

use std::time::Duration;

use roundtable_domain::Undelivered;
use roundtable_model::entities::{Job, Webhook};
use roundtable_model::table::{Error, Sequence, StreamRead, StreamStart};
use roundtable_model::{Entity, Misfit, Shards, Span, Time, WebhookId};

use super::turns::{Comes, Held, Turn};
use super::watch::Happened;
use super::{Events, waiting};
use crate::Failure;
use crate::jobs::{Next, happened};

/// Events of one page.
const PAGE_EVENTS_MAX: usize = 20;
/// Changes of the stream in one page of a replay: their events fit into one parcel.
const PAGE_CHANGES_MAX: usize = 100;
/// Parcels that are dropped in one page, when nobody wants them.
const PAGE_DROPPED_MAX: usize = 25;
/// How often an endpoint is tried with growing waits in between: 1 s, 4 s, … 17 min, an hour. Then it is
/// as with every job that keeps failing.
const TRIES_MAX: u32 = 8;
const FIRST_WAIT_MS: u64 = 1_000;
const LONGEST_WAIT_MS: u64 = 60 * 60 * 1000;
/// How long something waits for an endpoint that fails before the endpoint is given up.
const FAILING_MS_MAX: u64 = 24 * 60 * 60 * 1000;
/// What an errand says that was told to come back.
const RESTED: &str = "rested";

/// How far an errand has come: how often it has failed at a stretch, and how much of a parcel is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Place {
    tries: u32,
    parcel: String,
    sent: usize,
}

impl Events {
    /// A page of what waits for an endpoint.
    pub(super) async fn send(&self, id: &WebhookId, job: &Job) -> Result<Next, Failure> {
        let webhook = self.ground.ops().webhook(id).get().await?;
        let Some(webhook) = webhook.filter(|webhook| webhook.enabled) else {
            return self.drop_parcels(id).await;
        };
        let place = match job.cursor.as_deref() {
            None | Some("" | RESTED) => Place::default(),
            Some(cursor) => Place::parse(cursor)?,
        };
        let comes = match job.cursor.as_deref() {
            Some(RESTED) => Comes::Rested,
            _ if place.tries > 0 || job.attempts > 1 => Comes::Retrying,
            _ => Comes::First,
        };
        match self.turns.take(id, comes, self.ground.now()) {
            Turn::Yours(held) => self.send_parcel(&webhook, place, held).await,
            Turn::Others => Ok(Next::Done),
            Turn::Rest(rest) => Ok(Next::Later(RESTED.to_owned(), rest)),
        }
    }

    /// Sends the oldest parcel, or some of it.
    async fn send_parcel(
        &self,
        webhook: &Webhook,
        mut place: Place,
        mut held: Held,
    ) -> Result<Next, Failure> {
        let Some(parcel) = self.parcels(&webhook.id, 1).await?.into_iter().next() else {
            let next = if held.end() { Next::Done } else { Next::Page(String::new()) };
            return Ok(next);
        };
        let known = parcel.id.to_string();
        if place.parcel != known {
            (place.parcel, place.sent) = (known, 0);
        }
        let events: Vec<Happened> = parcel.payload.to()?;
        let already = place.sent;
        for event in events.iter().skip(already).take(PAGE_EVENTS_MAX) {
            let message = self.bodies.of(event).await?;
            match self.deliver.deliver(webhook, &message).await {
                Ok(()) => (place.sent, place.tries) = (place.sent + 1, 0),
                Err(Undelivered::Gone) => {
                    return self.give_up(&webhook.id, "the endpoint said that it is gone").await;
                }
                // What was sent is noted first.
                Err(Undelivered::Failed(_)) if place.sent > already => break,
                Err(Undelivered::Failed(why)) => {
                    return self.failed(webhook, &parcel, place, &held, why).await;
                }
            }
        }
        held.rest(None);
        if place.sent >= events.len() {
            self.forget(&parcel).await?;
            place = Place::default();
        }
        Ok(Next::Page(place.to_string()))
    }

    /// An endpoint has failed: it is tried again later, less and less often.
    async fn failed(
        &self,
        webhook: &Webhook,
        parcel: &Job,
        place: Place,
        held: &Held,
        why: String,
    ) -> Result<Next, Failure> {
        let now = self.ground.now();
        if parcel.created_at.plus_ms(FAILING_MS_MAX) <= now {
            return self.give_up(&webhook.id, "the endpoint has failed for a day").await;
        }
        let tries = place.tries + 1;
        let wait_ms = FIRST_WAIT_MS.saturating_mul(4u64.saturating_pow(tries - 1));
        let wait_ms = wait_ms.min(LONGEST_WAIT_MS);
        held.rest(Some(now.plus_ms(wait_ms)));
        if tries > TRIES_MAX {
            return Err(Failure::broken(format!("an endpoint takes no events: {why}")));
        }
        tracing::warn!(webhook = %webhook.id, tries, why, "an endpoint takes no events");
        let place = Place { tries, ..place };
        Ok(Next::Later(place.to_string(), Duration::from_millis(wait_ms)))
    }

    async fn give_up(&self, id: &WebhookId, why: &str) -> Result<Next, Failure> {
        tracing::error!(webhook = %id, why, "an endpoint is given up");
        self.webhooks.give_up(id, why).await?;
        self.drop_parcels(id).await
    }

    /// Takes away what waits for nobody.
    async fn drop_parcels(&self, id: &WebhookId) -> Result<Next, Failure> {
        let parcels = self.parcels(id, PAGE_DROPPED_MAX).await?;
        for parcel in &parcels {
            self.forget(parcel).await?;
        }
        Ok(if parcels.is_empty() { Next::Done } else { Next::Page(String::new()) })
    }

    async fn parcels(&self, id: &WebhookId, limit: usize) -> Result<Vec<Job>, Failure> {
        let due = Span::until(self.ground.now().plus_ms(1));
        let parcels = self.ground.ops().jobs(&waiting::queue(id)?, due, Shards::ONE);
        Ok(parcels.limit(limit).page().await?.items)
    }

    async fn forget(&self, parcel: &Job) -> Result<(), Failure> {
        match self.ground.ops().table().delete(parcel.key().delete()).await {
            // Somebody else has sent it, too.
            Ok(_) | Err(Error::ConditionFailed { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// A page of the stream that is to be sent to an endpoint again.
    pub(super) async fn replay(
        &self,
        id: &WebhookId,
        (from, until): (Time, Time),
        cursor: Option<&str>,
    ) -> Result<Next, Failure> {
        let Some(webhook) = self.ground.ops().webhook(id).get().await? else {
            return Ok(Next::Done);
        };
        let core = self.ground.core().table();
        let shards = core.stream_shards().await?;
        let (shard, start) = match cursor.filter(|cursor| !cursor.is_empty()) {
            None => (shards.first().map(|shard| shard.id.clone()), StreamStart::Oldest),
            Some(cursor) => begin(cursor)?,
        };
        let Some(shard) = shard else { return Ok(Next::Done) };
        let after = match &start {
            StreamStart::After(sequence) => Some(sequence.clone()),
            StreamStart::Oldest | StreamStart::Latest => None,
        };
        let (limit, wait) = (PAGE_CHANGES_MAX, Duration::ZERO);
        let page =
            core.stream_read(StreamRead { shard: shard.clone(), start, limit, wait }).await?;
        let wanted = |event: &Happened| {
            (from..=until).contains(&event.time)
                && event.kind.is_among(&webhook.event_types)
                && webhook.enabled
        };
        let found = page.changes.iter().filter_map(|change| Some((change, Happened::of(change)?)));
        let found: Vec<_> = found.filter(|(_, event)| wanted(event)).collect();
        if let Some((first, _)) = found.first() {
            let events: Vec<&Happened> = found.iter().map(|(_, event)| event).collect();
            let due = happened(first, &self.ground);
            let (parcel, errand) = waiting::parcel(id, first, due, &events)?;
            // It has waited since now, whenever it happened.
            let parcel = Job { created_at: self.ground.now(), ..parcel };
            let ops = self.ground.ops().table();
            ops.put(parcel.put()).await?;
            ops.put(errand.put()).await?;
        }
        // What happened since it was asked for is sent anyway.
        let past = page.changes.last().is_some_and(|change| change.at_ms > until.ms());
        if let Some(next) = page.next.filter(|next| Some(next) > after.as_ref() && !past) {
            return Ok(Next::Page(format!("{shard}/{next}")));
        }
        let at = shards.iter().position(|known| known.id == shard);
        let next = at.and_then(|at| shards.get(at + 1));
        Ok(next.map_or(Next::Done, |next| Next::Page(format!("{}/", next.id))))
    }
}

/// Where a replay goes on: a shard, and after what.
fn begin(cursor: &str) -> Result<(Option<String>, StreamStart), Failure> {
    let bad = || Failure::broken(format!("{cursor:?} is no place in the stream"));
    let (shard, after) = cursor.rsplit_once('/').ok_or_else(bad)?;
    let start = match after {
        "" => StreamStart::Oldest,
        digits => StreamStart::After(Sequence::parse(digits).map_err(|_| bad())?),
    };
    Ok((Some(shard.to_owned()), start))
}

impl Place {
    fn parse(cursor: &str) -> Result<Self, Misfit> {
        let mut parts = cursor.split('/');
        let mut part = || parts.next().unwrap_or_default();
        let (tries, parcel, sent) = (part().parse(), part().to_owned(), part().parse());
        match (tries, sent) {
            (Ok(tries), Ok(sent)) => Ok(Self { tries, parcel, sent }),
            _ => Err(Misfit::new("a place among parcels", format!("{cursor:?}"))),
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.tries, self.parcel, self.sent)
    }
}
