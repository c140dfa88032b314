//! A home feed as it grows: each new entry once, in the order they came, from where a reader left off.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use roundtable_model::ActivityId;
use roundtable_model::entities::Activity;
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

/// One reader's feed as it grows.
#[derive(Debug)]
pub struct LiveFeed {
    feeds: Feeds,
    caller: Caller,
    /// The number of the next activity to look at.
    next: u64,
    /// What the reader is about to be told.
    ready: VecDeque<FeedEntry>,
    /// What was told from pages, and may come again from the log.
    told: HashSet<ActivityId>,
    /// The newest entry that was told; before there is one, the moment from which on there may be.
    last: Place,
    changed: watch::Receiver<u64>,
}

impl Feeds {
    /// The caller's feed from now on, or from behind the entry they saw last.
    pub async fn live(
        &self,
        caller: &Caller,
        after: Option<&ActivityId>,
    ) -> Result<LiveFeed, FeedError> {
        self.ground.reader(caller).await?;
        self.catch_up().await?;
        let (next, is_known) = self.memory.behind(after);
        let last = after.and_then(|id| Some(Place { at: id.time()?, id: id.clone() }));
        let mut live = LiveFeed {
            feeds: self.clone(),
            caller: caller.clone(),
            next,
            ready: VecDeque::new(),
            told: HashSet::new(),
            last: last.unwrap_or_else(|| Place::first_at(self.ground.now())),
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

impl LiveFeed {
    /// The next entry; waits for it.
    pub async fn next(&mut self) -> Result<FeedEntry, FeedError> {
        // What is ready from before may be hidden by now.
        let mut is_fresh = false;
        loop {
            while let Some(entry) = self.ready.front() {
                let place = Place::of(&entry.activity);
                let entry =
                    if is_fresh { Some(entry.clone()) } else { self.as_it_is(entry).await? };
                // Taken off when it is known what becomes of it: whoever stops waiting loses nothing.
                self.ready.pop_front();
                self.last = place.max(self.last.clone());
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
        let is_new = |entry: &&Arc<Entry>| !self.told.contains(&entry.place.id);
        let mine = entries.iter().filter(|entry| circle.has(entry)).filter(is_new).cloned();
        let shown = self.feeds.shown(&self.caller, &me, &circle, sourced(mine.collect())).await?;
        // Together, with nothing awaited in between: whoever stops waiting loses nothing.
        self.ready.extend(shown);
        self.next = next;
        entries.iter().for_each(|entry| {
            self.told.remove(&entry.place.id);
        });
        Ok(true)
    }

    /// What the log has forgotten, from pages: all that is newer than what was told last.
    async fn read_up(&mut self) -> Result<(), FeedError> {
        let last = self.last.clone();
        let (mut missed, mut seen, mut after) = (VecDeque::new(), Vec::new(), None);
        while missed.len() < MISSED_MAX {
            let input = PageInput { limit: Some(PAGE), after: after.take() };
            let page = self.feeds.home(&self.caller, &input).await?;
            let is_end = page.next.is_none();
            after = page.next;
            let entries = page.items.into_iter().map(|(entry, _)| entry);
            let (newer, older): (Vec<FeedEntry>, Vec<FeedEntry>) =
                entries.partition(|entry| Place::of(&entry.activity) > last);
            let is_all = newer.len() < PAGE;
            seen.extend(older.into_iter().map(|entry| entry.activity.activity_id));
            newer.into_iter().for_each(|entry| missed.push_front(entry));
            if is_all || is_end {
                break;
            }
        }
        // Some of it, and of what was seen before, may still come to the log that is read from here on.
        let missed_ids = missed.iter().map(|entry| entry.activity.activity_id.clone());
        self.told = missed_ids.chain(seen).collect();
        self.ready.extend(missed);
        Ok(())
    }
}
