//! What feeds remember of the table: the latest activities of everybody, the newest ones of single
//! actors, and the posts, people and groups they are about.
//!
//! Where all writes go through this process it is exact: whoever looks at it reads the log of changes
//! to its end first. Elsewhere activities come a moment later, and nothing else is remembered.

mod heard;
mod load;
mod things;
mod told;

use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;
use roundtable_model::entities::{Activity, Group, Post, User};
use roundtable_model::table::Change;
use roundtable_model::{ActorId, GroupId, PostId, UserId};
use tokio::sync::watch;

use self::heard::Heard;
use self::things::learn;
use super::entry::Entry;
use super::known::Known;
use super::log::Log;
use super::merge::Merged;
use super::place::Place;
use super::ring::{Ring, Walked};
use super::tails::Tails;
use crate::follower::{Follower, Hears};
use crate::settings::FeedMemory;
use crate::{Failure, Ground};

/// What feeds remember. Whoever holds it may ask at any time, and is never kept waiting by a read.
pub(crate) struct Memory {
    /// Held for moments only, never while anything is awaited.
    state: RwLock<State>,
    follower: Follower,
    /// How many activities were heard of, for those who wait for the next.
    told: watch::Sender<u64>,
    /// Whether all writes go through this process.
    is_exact: bool,
    settings: FeedMemory,
}

/// What is remembered.
#[derive(Debug)]
struct State {
    ring: Ring,
    tails: Tails,
    log: Log,
    posts: Known<PostId, Post>,
    people: Known<UserId, User>,
    groups: Known<GroupId, Group>,
    /// Whether changes are heard of; what was read before could be outdated unheard.
    is_listening: bool,
}

/// How much of it there is. Bytes are rough; what both lists of activities hold counts in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryFigures {
    /// Of the latest activities of everybody.
    pub recent: usize,
    /// Their bytes.
    pub recent_bytes: usize,
    /// Actors whose newest activities are there.
    pub actors: usize,
    /// Those activities.
    pub actor_entries: usize,
    /// Their bytes, and those of the actors.
    pub actor_bytes: usize,
    /// Posts.
    pub posts: usize,
    /// Their bytes.
    pub post_bytes: usize,
    /// Profiles.
    pub people: usize,
    /// Their bytes.
    pub people_bytes: usize,
    /// Groups.
    pub groups: usize,
    /// Their bytes.
    pub group_bytes: usize,
}

impl Memory {
    /// An empty memory; `is_exact` where all writes go through this process.
    pub(crate) fn new(settings: &FeedMemory, is_exact: bool) -> Self {
        let known = |max| if is_exact { max } else { 0 };
        let state = State {
            ring: Ring::new(settings.recent),
            tails: Tails::new(settings.each, settings.actors),
            log: Log::new(told::LOG_MAX),
            posts: Known::new(known(settings.posts)),
            people: Known::new(known(settings.people)),
            groups: Known::new(known(settings.groups)),
            is_listening: !is_exact,
        };
        Self {
            state: RwLock::new(state),
            follower: Follower::default(),
            told: watch::Sender::new(0),
            is_exact,
            settings: settings.clone(),
        }
    }

    /// Hears of everything that happened before this call. Where writes of others are not seen by this
    /// process, it does nothing: whoever reads the stream there tells by [`Memory::apply`].
    pub(crate) async fn catch_up(self: &Arc<Self>, ground: &Ground) -> Result<(), Failure> {
        if !self.is_exact {
            return Ok(());
        }
        Follower::catch_up(self, ground).await
    }

    /// Hears of changes of the core table, in their order. To hear of one again, with all that
    /// followed it, does no harm.
    pub(crate) fn apply(&self, changes: &[Change]) {
        // Most changes are of other things: those are passed over before anybody is kept waiting.
        let heard: Vec<Heard<'_>> = changes.iter().filter_map(Heard::of).collect();
        if heard.is_empty() {
            return;
        }
        let mut state = self.state.write();
        heard.into_iter().for_each(|heard| state.hear(heard));
        self.tell(state);
    }

    /// Whether everything is heard of from here on; what was missed meanwhile is not relied on. Where
    /// memory is exact it finds that out by itself.
    pub(crate) fn hears(&self, everything: bool) {
        if !self.is_exact {
            let mut state = self.state.write();
            state.is_listening = everything;
            state.forget_all();
            self.tell(state);
        }
    }

    /// Remembers a reader's own activity, which the stream may not have told of yet. Where memory is
    /// exact, nobody needs to: whoever looks has read the stream. Those who listen are told by the stream
    /// alone: this may be old.
    pub(crate) fn note_own(&self, activity: &Activity) {
        if !self.is_exact {
            self.state.write().remember(&Arc::new(Entry::of(activity)));
        }
    }

    /// Walks down the latest activities of everybody from below a place: those that are mine, at most
    /// `wanted` of at most `budget` that are looked at; and the place down to which, and with which,
    /// everything was looked at, `None` when that was all there is.
    ///
    /// `None` when nothing can be said: there is nothing below that place here, or not everything.
    ///
    /// `is_mine` must not ask this memory anything.
    pub(crate) fn recent(
        &self,
        below: Option<&Place>,
        wanted: usize,
        budget: usize,
        is_mine: impl Fn(&Entry) -> bool,
    ) -> Option<Walked> {
        self.state.read().ring.walk(below, wanted, budget, is_mine)
    }

    /// The newest `wanted` activities of these actors, each named once, below a place.
    pub(crate) fn merged(
        &self,
        homes: &mut dyn Iterator<Item = &ActorId>,
        below: Option<&Place>,
        wanted: usize,
    ) -> Merged {
        let state = self.state.read();
        // Nothing is loaded before changes are heard of.
        let may_load = state.is_listening;
        state.tails.merged(homes, below, wanted, may_load)
    }

    /// How much there is.
    pub(crate) fn figures(&self) -> MemoryFigures {
        let state = self.state.read();
        let (recent, recent_bytes) = state.ring.figures();
        let (actors, actor_entries, actor_bytes) = state.tails.figures();
        let (posts, post_bytes) = state.posts.figures();
        let (people, people_bytes) = state.people.figures();
        let (groups, group_bytes) = state.groups.figures();
        MemoryFigures {
            recent,
            recent_bytes,
            actors,
            actor_entries,
            actor_bytes,
            posts,
            post_bytes,
            people,
            people_bytes,
            groups,
            group_bytes,
        }
    }
}

impl Hears for Memory {
    fn follower(&self) -> &Follower {
        &self.follower
    }

    fn hear(&self, changes: &[Change]) {
        self.apply(changes);
    }

    /// Nothing that was read before can be relied on.
    fn begin(&self, _is_gap: bool) {
        let mut state = self.state.write();
        state.is_listening = true;
        state.forget_all();
        self.tell(state);
    }
}

impl State {
    fn hear(&mut self, heard: Heard<'_>) {
        match heard {
            Heard::Made(entry) => {
                self.remember(&entry);
                self.log.push(&entry);
            }
            Heard::Gone(home, place) => {
                self.ring.remove(&place);
                self.tails.remove(&home, &place);
            }
            Heard::Post(id, item) => learn::<Post>(self, &id, item),
            Heard::User(id, item) => learn::<User>(self, &id, item),
            Heard::Group(id, item) => learn::<Group>(self, &id, item),
            Heard::Unreadable => self.forget_all(),
        }
    }

    fn remember(&mut self, entry: &Arc<Entry>) {
        self.ring.insert(entry);
        self.tails.insert(&entry.home(), entry);
    }

    /// Something was missed: nothing remembered can be relied on.
    fn forget_all(&mut self) {
        self.ring.forget_all();
        self.tails.forget_all();
        self.posts.forget_all();
        self.people.forget_all();
        self.groups.forget_all();
        self.log.skip();
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Millions of activities would tell less.
        self.figures().fmt(f)
    }
}

#[cfg(test)]
mod tests;
