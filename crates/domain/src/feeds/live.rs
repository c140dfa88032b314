//! A home feed as it grows: each new entry once, in the order they came, from where a reader left off.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Activity;
use roundtable_model::{ActivityId, Misfit};
use tokio::sync::watch;

use super::entry::Entry;
use super::home::sourced;
use super::place::Place;
use super::{FeedEntry, FeedError, Feeds};
use crate::{Caller, Failure, PageInput};

/// Activities looked at in one go.
const LOOK: usize = 200;
/// Entries that a reader who was away is told of, at the most; pages have the rest.
const MISSED_MAX: usize = 1_000;
/// Entries of one page of them.
const PAGE: usize = 100;

/// Those told last that are remembered, so that none of them is told again after a gap.
const TOLD_MAX: usize = 256;

/// One reader's feed as it grows.
#[derive(Debug)]
pub struct LiveFeed {
    feeds: Feeds,
    caller: Caller,
    /// The number of the next activity to look at.
    next: u64,
    /// What the reader is about to be told.
    ready: VecDeque<FeedEntry>,
    /// What was read from pages, and may come again from the log.
    expected: HashSet<ActivityId>,
    told: Told,
    changed: watch::Receiver<u64>,
}

/// What a reader knows: whatever is not above a place, and single ones above it.
///
/// Not whatever is older than the latest: clocks differ, and what comes late may be older.
#[derive(Debug)]
struct Told {
    floor: Place,
    above: BTreeSet<Place>,
}

#[boxed]
impl Feeds {
    /// The caller's feed from now on, or from behind the entry they saw last.
    pub async fn live(
        &self,
        caller: &Caller,
        after: Option<&ActivityId>,
    ) -> Result<LiveFeed, FeedError> {
        self.ground.reader(caller).await?;
        let last = after.map(last_seen).transpose()?;
        self.catch_up().await?;
        let (next, is_known) = self.memory.behind(after);
        let floor = last.unwrap_or_else(|| Place::first_at(self.ground.now()));
        let mut live = LiveFeed {
            feeds: self.clone(),
            caller: caller.clone(),
            next,
            ready: VecDeque::new(),
            expected: HashSet::new(),
            told: Told { floor, above: BTreeSet::new() },
            changed: self.memory.changes(),
        };
        if after.is_some() && !is_known {
            live.read_up().await?;
        }
        Ok(live)
    }

    /// Applies what has happened since. [`Feeds::follow`] does it all the time.
    pub async fn catch_up(&self) -> Result<(), FeedError> {
        Ok(self.memory.catch_up(&self.ground).await?)
    }
}

#[boxed]
impl LiveFeed {
    /// The next entry; waits for it.
    pub async fn next(&mut self) -> Result<FeedEntry, FeedError> {
        // What is ready from before may be hidden by now.
        let mut is_fresh = false;
        loop {
            while let Some(entry) = self.ready.front() {
                let entry =
                    if is_fresh { Some(entry.clone()) } else { self.as_it_is(entry).await? };
                // Taken off when it is known what becomes of it: whoever stops waiting loses nothing.
                self.ready.pop_front();
                if let Some(entry) = entry {
                    return Ok(entry);
                }
            }
            // Marked as seen before the log is looked at: what comes later ends the wait below.
            self.changed.borrow_and_update();
            is_fresh = self.look().await?;
            if !is_fresh {
                // The sender lives in the feeds that this holds.
                let _ = self.changed.changed().await;
            }
        }
    }

    /// An entry that has waited, if the reader may be told of it at this moment.
    async fn as_it_is(&self, entry: &FeedEntry) -> Result<Option<FeedEntry>, FeedError> {
        let Activity { actor_id, group_id, created_at, activity_id, .. } = &entry.activity;
        let home = Activity::home(actor_id, group_id);
        let now = self.feeds.at(&self.caller, &[(home, *created_at, activity_id.clone())]).await?;
        let now = now.into_iter().flatten().next();
        Ok(now.map(|now| FeedEntry { source: entry.source, ..now }))
    }

    /// Looks at some more of what has come; whether there was any.
    async fn look(&mut self) -> Result<bool, FeedError> {
        let Some(entries) = self.feeds.memory.log_from(self.next, LOOK) else {
            // It came faster than the reader took it.
            let next = self.feeds.memory.behind(None).0;
            self.read_up().await?;
            self.next = next;
            return Ok(true);
        };
        if entries.is_empty() {
            return Ok(false);
        }
        let next = self.next + entries.len() as u64;
        let Feeds { ground, circles, .. } = &self.feeds;
        let me = ground.reader(&self.caller).await?;
        let circle = circles.of(ground, &me.id).await.map_err(Failure::from)?;
        let is_new = |entry: &&Arc<Entry>| !self.expected.contains(&entry.place.id);
        let mine = entries.iter().filter(|entry| circle.has(entry)).filter(is_new).cloned();
        let shown = self.feeds.shown(&self.caller, &me, &circle, sourced(mine.collect())).await?;
        // Together, with nothing awaited in between: whoever stops waiting loses nothing.
        self.make_ready(shown);
        self.next = next;
        entries.iter().for_each(|entry| {
            self.expected.remove(&entry.place.id);
        });
        Ok(true)
    }

    /// What the log has forgotten, from pages: whatever the reader does not know.
    async fn read_up(&mut self) -> Result<(), FeedError> {
        let (mut missed, mut known, mut after) = (VecDeque::new(), Vec::new(), None);
        while missed.len() < MISSED_MAX {
            let input = PageInput { limit: Some(PAGE), after: after.take() };
            let page = self.feeds.home(&self.caller, &input).await?;
            after = page.next;
            for (entry, _) in page.items {
                let place = Place::of(&entry.activity);
                if self.told.has(&place) {
                    known.push(place);
                } else {
                    missed.push_front(entry);
                }
            }
            let is_all = known.last().is_some_and(|place| *place <= self.told.floor);
            if is_all || after.is_none() {
                break;
            }
        }
        // All of it may still come to the log that is read from here on, and so may what was told before.
        let missed_ids = missed.iter().map(|entry| entry.activity.activity_id.clone());
        let known = known.into_iter().chain(self.told.above.iter().cloned());
        self.expected = missed_ids.chain(known.map(|place| place.id)).collect();
        self.make_ready(missed);
        Ok(())
    }

    fn make_ready(&mut self, entries: impl IntoIterator<Item = FeedEntry>) {
        for entry in entries {
            self.told.add(Place::of(&entry.activity));
            self.ready.push_back(entry);
        }
    }
}

impl Told {
    fn has(&self, place: &Place) -> bool {
        *place <= self.floor || self.above.contains(place)
    }

    fn add(&mut self, place: Place) {
        self.above.insert(place);
        if self.above.len() > TOLD_MAX
            && let Some(lowest) = self.above.pop_first()
        {
            self.floor = lowest.max(self.floor.clone());
        }
    }
}

/// The place of the entry that a reader saw last: it may be gone, and its id still tells when it was.
fn last_seen(id: &ActivityId) -> Result<Place, Failure> {
    let at = id.time().ok_or_else(|| {
        Failure::bad("after", Misfit::new("the activityId of an entry", format!("\"{id}\"")))
    })?;
    Ok(Place { at, id: id.clone() })
}
