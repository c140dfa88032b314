//! Live feeds: each new entry is delivered once, in order of arrival, from where a reader left off. A
//! reader who left another process may get the entries of the last moments again: they arrived there in
//! another order, so it is unknown which of them the reader has.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::slice;
use std::sync::Arc;

use futures::future::BoxFuture;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Activity;
use roundtable_model::{ActivityId, ActorId, InvalidValue, Time};
use tokio::sync::watch;

use super::cached_activity::CachedActivity;
use super::home::from_memory;
use super::position::FeedPosition;
use super::{FeedEntry, FeedError, FeedSource, Feeds};
use crate::bus::LogStart;
use crate::{Caller, LiveSource, PageInput, ResumePoint, ServiceError};

const BATCH: usize = 200;
/// Missed entries delivered to a returning reader; older ones are on pages.
const MISSED_MAX: usize = 1_000;
const PAGE: usize = 100;

/// Delivered positions that are remembered, so that none is repeated after a gap.
const DELIVERED_MAX: usize = 256;

/// One subscription to a home feed.
#[derive(Debug)]
pub struct LiveFeed {
    feeds: Feeds,
    caller: Caller,
    /// The log number to read next.
    next: u64,
    ready: VecDeque<ReadyEntry>,
    /// The first of `ready`, if the same call has read it.
    fresh: Option<FeedEntry>,
    /// Entries already read from pages, which the log may bring again.
    expected: HashSet<ActivityId>,
    delivered: DeliveredPositions,
    changed: watch::Receiver<u64>,
}

/// An entry to deliver. It is read again on delivery, because it may be hidden by then; so a subscriber
/// who reads slowly keeps no content in memory.
#[derive(Debug)]
struct ReadyEntry {
    place: (ActorId, Time, ActivityId),
    source: FeedSource,
}

/// Delivered positions: everything up to a floor, and single ones above it.
///
/// A single maximum would not do: clocks differ, so a late activity may be older than one already
/// delivered.
#[derive(Debug)]
struct DeliveredPositions {
    floor: FeedPosition,
    above: BTreeSet<FeedPosition>,
}

#[boxed]
impl Feeds {
    /// Subscribes to the caller's feed from now on, or from after the last entry they saw.
    pub async fn live(
        &self,
        caller: &Caller,
        after: Option<&ResumePoint<ActivityId>>,
    ) -> Result<LiveFeed, FeedError> {
        self.context.authorize_read(caller).await?;
        let last = after.map(|after| last_seen(&after.id)).transpose()?;
        self.bus.catch_up().await?;
        let LogStart { next, misses_some } = self.bus.log_start(self.memory().log(), after);
        let since =
            last.as_ref().map_or_else(|| self.context.now(), |last| self.bus.read_since(last.at));
        let floor = FeedPosition::first_at(since);
        let mut live = LiveFeed {
            feeds: self.clone(),
            caller: caller.clone(),
            next,
            ready: VecDeque::new(),
            fresh: None,
            expected: last.iter().map(|last| last.id.clone()).collect(),
            delivered: DeliveredPositions { floor, above: last.into_iter().collect() },
            changed: self.memory().log().changes(),
        };
        if misses_some {
            live.read_missed().await?;
        }
        Ok(live)
    }
}

impl LiveSource for LiveFeed {
    type Event = FeedEntry;
    type Error = FeedError;

    fn read(&mut self) -> BoxFuture<'_, Result<Option<FeedEntry>, FeedError>> {
        Box::pin(async move {
            self.fresh = None;
            loop {
                while let Some(entry) = self.ready.front() {
                    let now = match self.fresh.take() {
                        Some(fresh) => Some(fresh),
                        None => self.current_entry(entry).await?,
                    };
                    // Removed only after the await above, so that cancellation loses nothing.
                    self.ready.pop_front();
                    if now.is_some() {
                        return Ok(now);
                    }
                }
                // Marked before the log is read: a later change ends the wait.
                self.changed.borrow_and_update();
                if !self.read_log().await? {
                    return Ok(None);
                }
            }
        })
    }

    fn changed(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // The sender lives in the bus held by the feeds.
            let _ = self.changed.changed().await;
        })
    }
}

impl LiveFeed {
    /// Returns an entry as it is now, if it is still visible.
    async fn current_entry(&self, entry: &ReadyEntry) -> Result<Option<FeedEntry>, FeedError> {
        let now = self.feeds.at(&self.caller, slice::from_ref(&entry.place)).await?;
        let now = now.into_iter().flatten().next();
        Ok(now.map(|now| FeedEntry { source: entry.source, ..now }))
    }

    /// Reads more activities; returns whether there were any.
    async fn read_log(&mut self) -> Result<bool, FeedError> {
        let Some(entries) = self.feeds.memory().log().read_from(self.next, BATCH) else {
            // The reader fell behind the log.
            let next = self.feeds.memory().log().end();
            self.read_missed().await?;
            self.next = next;
            return Ok(true);
        };
        if entries.is_empty() {
            return Ok(false);
        }
        let next = self.next + entries.len() as u64;
        let Feeds { context, bus } = &self.feeds;
        // Content may have been hidden since the log was written.
        bus.catch_up().await?;
        let me = context.authorize_read(&self.caller).await?;
        let circle = self.feeds.circle_of(&me.id).await?;
        let is_new = |entry: &&Arc<CachedActivity>| !self.expected.contains(&entry.position.id);
        let mine = entries.iter().filter(|entry| circle.includes(entry)).filter(is_new).cloned();
        let visible = self
            .feeds
            .visible_entries(&self.caller, &me, &circle, from_memory(mine.collect()))
            .await?;
        // Nothing is awaited from here on, so that cancellation loses nothing.
        self.fresh = visible.first().cloned();
        self.make_ready(visible.into_iter().map(ReadyEntry::of));
        self.next = next;
        entries.iter().for_each(|entry| {
            self.expected.remove(&entry.position.id);
        });
        Ok(true)
    }

    /// Reads from pages what the log no longer has and the reader has not been sent.
    async fn read_missed(&mut self) -> Result<(), FeedError> {
        let (mut missed, mut delivered, mut after) = (VecDeque::new(), Vec::new(), None);
        // Of each page only the positions are kept. Charged together, ten pages of long posts would end
        // the subscription, and every attempt to resume it.
        let feeds = Feeds {
            context: self.feeds.context.without_read_budget(),
            bus: self.feeds.bus.clone(),
        };
        while missed.len() < MISSED_MAX {
            let input = PageInput { limit: Some(PAGE), after: after.take() };
            let page = feeds.home(&self.caller, &input).await?;
            after = page.next;
            for (entry, _) in page.items {
                let position = FeedPosition::of(&entry.activity);
                if self.delivered.contains(&position) {
                    delivered.push(position);
                } else {
                    missed.push_front(ReadyEntry::of(entry));
                }
            }
            let is_all = delivered.last().is_some_and(|position| *position <= self.delivered.floor);
            if is_all || after.is_none() {
                break;
            }
        }
        // The log read from here on may still bring all of these, and entries delivered before.
        let missed_ids = missed.iter().map(|entry| entry.position().id);
        let delivered = delivered.into_iter().chain(self.delivered.above.iter().cloned());
        self.expected = missed_ids.chain(delivered.map(|position| position.id)).collect();
        self.make_ready(missed);
        Ok(())
    }

    fn make_ready(&mut self, entries: impl IntoIterator<Item = ReadyEntry>) {
        for entry in entries {
            self.delivered.add(entry.position());
            self.ready.push_back(entry);
        }
    }
}

impl ReadyEntry {
    fn of(entry: FeedEntry) -> Self {
        let Activity { actor_id, group_id, created_at, activity_id, .. } = entry.activity;
        let place = (Activity::home(&actor_id, &group_id), created_at, activity_id);
        Self { place, source: entry.source }
    }

    fn position(&self) -> FeedPosition {
        let (_, at, id) = &self.place;
        FeedPosition { at: *at, id: id.clone() }
    }
}

impl DeliveredPositions {
    fn contains(&self, position: &FeedPosition) -> bool {
        *position <= self.floor || self.above.contains(position)
    }

    fn add(&mut self, position: FeedPosition) {
        self.above.insert(position);
        if self.above.len() > DELIVERED_MAX
            && let Some(lowest) = self.above.pop_first()
        {
            self.floor = lowest.max(self.floor.clone());
        }
    }
}

/// The position of the last entry a reader saw. It may be gone; its id still contains the time.
fn last_seen(id: &ActivityId) -> Result<FeedPosition, ServiceError> {
    let at = id.time().ok_or_else(|| {
        ServiceError::bad_input(
            "after",
            InvalidValue::new("the activityId of an entry", format!("\"{id}\"")),
        )
    })?;
    Ok(FeedPosition { at, id: id.clone() })
}
