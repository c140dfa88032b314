//! What memory reads for itself: the newest activities of single actors, and the latest of everybody.

use std::sync::Arc;

use futures::stream::{self, StreamExt, TryStreamExt};
use roundtable_model::entities::Activity;
use roundtable_model::table::Scan;
use roundtable_model::{ActorId, Answer, Span};

use super::super::entry::Entry;
use super::super::loads::Ticket;
use super::super::merge::Merged;
use super::super::place::Place;
use super::super::ring::Gathering;
use super::Memory;
use super::heard::is_activity;
use crate::{Failure, Ground};

/// Actors read at the same time.
const AT_ONCE: usize = 16;
/// Actors read before others get a turn: the embedded engine never waits by itself.
const IN_A_ROW: usize = 64;
/// Activities of one actor that are read at the most; a tail may grow longer.
const READ_MAX: usize = 900;
/// The same where every kilobyte of them is paid for.
const READ_AWAY_MAX: usize = 64;
/// How often what is missing is loaded for one look: others may push it out again.
const TRIES: usize = 2;

impl Memory {
    /// As [`Memory::merged`], with the missing tails loaded first. Those that found no room are worn.
    pub(crate) async fn newest<'h>(
        &self,
        ground: &Ground,
        homes: impl Iterator<Item = &'h ActorId> + Clone + Send,
        below: Option<&Place>,
        wanted: usize,
    ) -> Result<Merged, Failure> {
        for _ in 0..TRIES {
            let merged = self.merged(&mut homes.clone(), below, wanted);
            if merged.missing.is_empty() {
                return Ok(merged);
            }
            self.load_tails(ground, merged.missing).await?;
        }
        Ok(self.state.read().tails.merged(&mut homes.clone(), below, wanted, false))
    }

    /// Reads the newest activities of these actors, and remembers them.
    pub(crate) async fn load_tails(
        &self,
        ground: &Ground,
        homes: Vec<ActorId>,
    ) -> Result<(), Failure> {
        for homes in homes.chunks(IN_A_ROW) {
            // Owned: nobody could tell that futures of borrowed ones are `Send`, and a server needs
            // them to be.
            stream::iter(homes.to_vec())
                .map(|home| async move { self.load_tail(ground, &home).await })
                .buffer_unordered(AT_ONCE)
                .try_collect::<()>()
                .await?;
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    async fn load_tail(&self, ground: &Ground, home: &ActorId) -> Result<(), Failure> {
        let Some(loading) = Loading::begin(self, home) else { return Ok(()) };
        // Strong also on DynamoDB: what the stream has told of before must be among them.
        let listing = ground.core().activities_of(home, Span::ALL).strong();
        let most = if self.is_exact { READ_MAX } else { READ_AWAY_MAX };
        let page = listing.limit(self.settings.each.min(most)).page().await?;
        let newest = page.items.iter().map(Entry::of).collect();
        loading.finish(newest, page.next.is_none());
        Ok(())
    }

    /// Reads the latest activities of everybody by a look at the whole table: in the background, and
    /// only where memory is exact. What happens meanwhile is heard of. Nothing is to be done a second
    /// time, unless a part of the stream was missed.
    pub(crate) async fn fill_ring(self: &Arc<Self>, ground: &Ground) -> Result<(), Failure> {
        if !self.is_exact || self.settings.recent == 0 || self.is_ring_filled() {
            return Ok(());
        }
        self.catch_up(ground).await?;
        let ticket = self.state.write().ring.begin_filling();
        let mut gathering = Gathering::new(self.settings.recent);
        let mut next = None;
        loop {
            let page = ground.core().table().scan(Scan::new().strong().after(next.take())).await?;
            for item in page.items.iter().filter(|item| is_activity(item)) {
                gathering.add(Entry::of(&Activity::from_item(item)?));
            }
            next = page.next;
            if next.is_none() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let gathered = gathering.done();
        self.state.write().ring.fill(ticket, gathered);
        Ok(())
    }

    /// Whether the latest activities of everybody can be asked for.
    pub(super) fn is_ring_filled(&self) -> bool {
        self.state.read().ring.is_filled()
    }
}

/// A tail that is being read. When it is dropped before it is, nobody waits for it.
struct Loading<'m> {
    memory: &'m Memory,
    home: &'m ActorId,
    ticket: Option<Ticket>,
}

impl<'m> Loading<'m> {
    /// `None` when it is held already, or never will be.
    fn begin(memory: &'m Memory, home: &'m ActorId) -> Option<Self> {
        let mut state = memory.state.write();
        let is_wanted =
            state.is_listening && !state.tails.is_off() && state.tails.get(home).is_none();
        let ticket = is_wanted.then(|| state.tails.begin(home))?;
        Some(Self { memory, home, ticket: Some(ticket) })
    }

    fn finish(mut self, newest: Vec<Entry>, is_all: bool) {
        if let Some(ticket) = self.ticket.take() {
            self.memory.state.write().tails.finish(self.home, ticket, newest, is_all);
        }
    }
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.memory.state.write().tails.abandon(self.home, ticket);
        }
    }
}
