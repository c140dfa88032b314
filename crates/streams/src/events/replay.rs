//! Letting everything wait for an endpoint again that the stream still holds, since a point in time.

use std::fmt;
use std::time::Duration;

use roundtable_domain::EventType;
use roundtable_model::entities::{Job, Webhook};
use roundtable_model::table::{
    Error, Sequence, Shard, StreamPage, StreamRead, StreamStart, Transaction,
};
use roundtable_model::{Entity, Time, WebhookId};

use super::watch::Happened;
use super::{Events, waiting};
use crate::Failure;
use crate::jobs::{Next, happened};

/// Changes of the stream in one page: their events fit into one parcel.
const PAGE_CHANGES_MAX: usize = 100;
/// How far the store's clock may be ahead of ours. What happens meanwhile may come twice.
const SKEW_MS: u64 = 5_000;
/// How often nothing must be found at the end of a shard that goes on, and how long to wait in between:
/// DynamoDB shows nothing now and then where something is.
const EMPTY_LOOKS: u32 = 3;
/// How often at most: what has been told of a shard may be forgotten since.
const EMPTY_LOOKS_MAX: u32 = 30;
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// How far a replay has come.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    /// What happens later is told anyway.
    until: Time,
    shard: String,
    after: Option<Sequence>,
    /// How often nothing has been found here.
    empty: u32,
}

impl Events {
    /// A page of the stream that is to be sent to an endpoint again.
    pub(super) async fn replay(
        &self,
        id: &WebhookId,
        from: Time,
        job: &Job,
    ) -> Result<Next, Failure> {
        let webhook = self.ground.ops().webhook(id).get().await?;
        let Some(webhook) = webhook.filter(|webhook| webhook.enabled) else {
            return Ok(Next::Done);
        };
        let core = self.ground.core().table();
        let shards = core.stream_shards().await?;
        let Some(place) = self.place(job, &shards)? else { return Ok(Next::Done) };
        let start = place.after.clone().map_or(StreamStart::Oldest, StreamStart::After);
        let read = StreamRead::new(&place.shard, start).limit(PAGE_CHANGES_MAX);
        let page = match core.stream_read(read).await {
            Ok(page) => page,
            Err(Error::StreamTrimmed { .. }) => return Ok(place.forgotten(&shards)),
            Err(error) => return Err(error.into()),
        };
        self.let_wait(&webhook, from, &place, &page, job).await?;
        self.onward(place, &page, &shards).await
    }

    /// Where to read: it begins at the beginning, and takes what has happened until then. By that time
    /// the endpoint is turned on, so that nothing falls in between.
    fn place(&self, job: &Job, shards: &[Shard]) -> Result<Option<Place>, Failure> {
        if let Some(cursor) = job.cursor.as_deref().filter(|cursor| !cursor.is_empty()) {
            return Place::parse(cursor).map(Some);
        }
        let until = self.ground.now().plus_ms(SKEW_MS);
        Ok(shards.first().map(|first| Place::at(first, until)))
    }

    /// Lets the events of a page wait.
    async fn let_wait(
        &self,
        webhook: &Webhook,
        from: Time,
        place: &Place,
        page: &StreamPage,
        job: &Job,
    ) -> Result<(), Failure> {
        let span = waiting::to_the_second(from)..=place.until;
        let found = page.changes.iter().filter_map(|change| Some((change, Happened::of(change)?)));
        let found: Vec<_> = found
            .filter(|(_, event)| span.contains(&event.time))
            .filter(|(_, event)| EventType::is_asked_for(&event.kind, &webhook.event_types))
            .collect();
        let Some((first, _)) = found.first() else { return Ok(()) };
        let events: Vec<&Happened> = found.iter().map(|(_, event)| event).collect();
        let due = happened(first, &self.ground);
        let (parcel, errand) = waiting::parcel(&webhook.id, first, due, &events, Some(&job.id))?;
        let ops = self.ground.ops().table();
        let waits = Transaction::new().with(ops, parcel.put()).with(ops, errand.put());
        self.ground.store().transact(waits).await?;
        Ok(())
    }

    /// Where to go on after a page. That nothing was found says little on a store that others work on:
    /// a shard is left when it says that it has ended, when what it shows is too late, or when it goes on
    /// and everything that was told of it has been read.
    async fn onward(
        &self,
        place: Place,
        page: &StreamPage,
        shards: &[Shard],
    ) -> Result<Next, Failure> {
        let is_past = page.changes.last().is_some_and(|last| last.at_ms > place.until.ms());
        if page.ended || is_past {
            return Ok(place.next_shard(shards));
        }
        if page.next > place.after {
            let after = page.next.clone();
            return Ok(Next::Page(Place { after, empty: 0, ..place }.to_string()));
        }
        let empty = place.empty + 1;
        let is_closed = shards.iter().any(|other| other.parent.as_deref() == Some(&*place.shard));
        let is_over = self.ground.store().capabilities().one_process
            || (!is_closed && empty >= EMPTY_LOOKS && self.has_told(&place).await?)
            || (!is_closed && empty >= EMPTY_LOOKS_MAX);
        if is_over {
            return Ok(place.next_shard(shards));
        }
        Ok(Next::Later(Place { empty, ..place }.to_string(), LOOK_AGAIN))
    }

    /// Whether a replay is as far as those who tell what happens now.
    async fn has_told(&self, place: &Place) -> Result<bool, Failure> {
        let shard = place.shard.parse()?;
        let checkpoint =
            self.ground.ops().checkpoint(&super::EventWatch::NAME, &shard).get().await?;
        let told = checkpoint.map(|checkpoint| Sequence::parse(&checkpoint.sequence)).transpose();
        Ok(told.map_err(Error::from)? <= place.after)
    }
}

impl Place {
    fn at(shard: &Shard, until: Time) -> Self {
        Self { until, shard: shard.id.clone(), after: None, empty: 0 }
    }

    /// The beginning of the next shard; of the first, if this one is not known any more: what comes twice
    /// does no harm.
    fn next_shard(&self, shards: &[Shard]) -> Next {
        let at = shards.iter().position(|known| known.id == self.shard);
        let next = shards.get(at.map_or(0, |at| at + 1));
        next.map_or(Next::Done, |next| Next::Page(Self::at(next, self.until).to_string()))
    }

    /// What comes next is not there any more: what is left of the shard, or the next one.
    fn forgotten(self, shards: &[Shard]) -> Next {
        tracing::warn!(shard = self.shard, "the stream has forgotten what was to be replayed");
        match self.after {
            Some(_) => Next::Page(Self { after: None, empty: 0, ..self }.to_string()),
            None => self.next_shard(shards),
        }
    }

    fn parse(cursor: &str) -> Result<Self, Failure> {
        let bad = || Failure::broken(format!("{cursor:?} is no place in the stream"));
        let mut parts = cursor.splitn(4, '/');
        let mut part = || parts.next().ok_or_else(bad);
        let until = Time::from_ms(part()?.parse().map_err(|_| bad())?);
        let empty = part()?.parse().map_err(|_| bad())?;
        let after = Some(part()?).filter(|digits| !digits.is_empty());
        let after = after.map(Sequence::parse).transpose().map_err(|_| bad())?;
        Ok(Self { until, shard: part()?.to_owned(), after, empty })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after = self.after.as_ref().map(Sequence::to_string).unwrap_or_default();
        write!(f, "{}/{}/{after}/{}", self.until.ms(), self.empty, self.shard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_as_it_was_written() {
        for after in [None, Some(Sequence::from(7))] {
            let (until, shard) = (Time::from_ms(5), String::from("shard/1"));
            let place = Place { until, shard, after, empty: 2 };
            assert_eq!(Place::parse(&place.to_string()).unwrap(), place);
        }
        assert!(Place::parse("g0/7").is_err());
    }
}
