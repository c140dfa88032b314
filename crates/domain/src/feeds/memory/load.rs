//! Loads into the feed cache: the newest activities of single actors, and the latest of all.

use futures::stream::{self, StreamExt, TryStreamExt};
use roundtable_model::{ActorId, Span};

use super::super::cached_activity::CachedActivity;
use super::super::merge::MergedTails;
use super::super::position::FeedPosition;
use super::super::ring::{RingContents, RingWalk};
use super::super::walk::{WalkBounds, walk_activities};
use super::FeedMemory;
use crate::memory::LoadTicket;
use crate::{Context, ServiceError};

const CONCURRENT_LOADS: usize = 16;
/// Actors loaded before yielding: the embedded engine never yields by itself.
const LOADS_PER_YIELD: usize = 64;
/// Activities loaded of one actor; a tail may grow longer.
const READ_MAX: usize = 900;
/// The same where every kilobyte read costs money.
const READ_AWAY_MAX: usize = 64;
/// Activities of all actors loaded before yielding.
const FILL_STEP: usize = 500;
/// Attempts to load missing tails for one page: concurrent loads may evict them again.
const LOAD_ATTEMPTS: usize = 2;

impl FeedMemory {
    /// As [`FeedMemory::merged`], with missing tails loaded first. Those that did not fit count as
    /// exhausted.
    pub(crate) async fn newest<'h>(
        &self,
        context: &Context,
        homes: impl Iterator<Item = &'h ActorId> + Clone + Send,
        below: Option<&FeedPosition>,
        wanted: usize,
    ) -> Result<MergedTails, ServiceError> {
        for _ in 0..LOAD_ATTEMPTS {
            let merged = self.merged(&mut homes.clone(), below, wanted);
            if merged.missing.is_empty() {
                return Ok(merged);
            }
            self.load_tails(context, merged.missing).await?;
        }
        Ok(self.state.read().tails.merged(&mut homes.clone(), below, wanted, false))
    }

    pub(crate) async fn load_tails(
        &self,
        context: &Context,
        homes: Vec<ActorId>,
    ) -> Result<(), ServiceError> {
        let context = &context.without_read_budget();
        for homes in homes.chunks(LOADS_PER_YIELD) {
            // Owned: futures of borrowed ids could not be proven `Send`, which a server needs.
            stream::iter(homes.to_vec())
                .map(|home| async move { self.load_tail(context, &home).await })
                .buffer_unordered(CONCURRENT_LOADS)
                .try_collect::<()>()
                .await?;
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    async fn load_tail(&self, context: &Context, home: &ActorId) -> Result<(), ServiceError> {
        let Some(loading) = TailLoad::begin(self, home) else { return Ok(()) };
        // Strongly consistent also on DynamoDB: it must include what the stream has delivered before.
        let listing = context.core().activities_of(home, Span::ALL).strong();
        let most = if self.is_exact { READ_MAX } else { READ_AWAY_MAX };
        let page = listing.limit(self.settings.each.min(most)).page().await?;
        let newest = page.items.iter().map(CachedActivity::of).collect();
        loading.finish(newest, page.next.is_none());
        Ok(())
    }

    /// Loads the latest activities of all actors, newest first: in the background, and only if
    /// [needed](FeedMemory::needs_ring). Changes meanwhile must be applied.
    pub(crate) async fn fill_ring(&self, context: &Context) -> Result<(), ServiceError> {
        let ticket = self.state.write().ring.begin_filling();
        let mut contents = RingContents::default();
        let mut below = None;
        loop {
            // One more than fits: the first that is left out is the floor of the rest.
            let wanted = (self.settings.recent + 1 - contents.len()).min(FILL_STEP);
            let bounds = WalkBounds { wanted, passed_max: FILL_STEP };
            let found = walk_activities(context, below.as_ref(), bounds, |_| true).await?;
            let Some(RingWalk { entries, down_to, .. }) = found else { return Ok(()) };
            entries.into_iter().for_each(|entry| contents.push_older(entry));
            below = down_to;
            if below.is_none() || contents.len() > self.settings.recent {
                break;
            }
            tokio::task::yield_now().await;
        }
        if let Some(floor) = below {
            contents.end_above(floor);
        }
        self.state.write().ring.fill(ticket, contents);
        Ok(())
    }

    /// Returns whether the latest activities of all actors should be loaded: not where other
    /// processes write as well, and once unless there was a gap.
    pub(crate) fn needs_ring(&self) -> bool {
        self.is_exact && self.settings.recent > 0 && !self.state.read().ring.is_filled()
    }
}

/// A load of one tail. Dropping it abandons the load.
struct TailLoad<'m> {
    memory: &'m FeedMemory,
    home: &'m ActorId,
    ticket: Option<LoadTicket>,
}

impl<'m> TailLoad<'m> {
    /// `None` if the tail is cached already or cannot be.
    fn begin(memory: &'m FeedMemory, home: &'m ActorId) -> Option<Self> {
        let mut state = memory.state.write();
        let is_wanted =
            state.is_following && !state.tails.is_off() && state.tails.get(home).is_none();
        let ticket = is_wanted.then(|| state.tails.begin(home))?;
        Some(Self { memory, home, ticket: Some(ticket) })
    }

    fn finish(mut self, newest: Vec<CachedActivity>, is_all: bool) {
        if let Some(ticket) = self.ticket.take() {
            self.memory.state.write().tails.finish(self.home, ticket, newest, is_all);
        }
    }
}

impl Drop for TailLoad<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.memory.state.write().tails.abandon(self.home, ticket);
        }
    }
}
