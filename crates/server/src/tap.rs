//! Tells those who listen in this process of the changes that it reads, where other processes write as
//! well, and the other processes of the installation. It writes nothing.

use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use lru::LruCache;
use parking_lot::Mutex;
use roundtable_domain::{Feeds, Live, Messages, Notifications};
use roundtable_model::entities::{
    Activity, Comment, Follow, Group, GroupMember, Like, Message, Notification, Post, Quest, User,
};
use roundtable_model::{Answer as _, Processor as Name};
use roundtable_streams::{Batch, Effects, Failure, Processor};
use roundtable_table::{Change, Sequence};

use crate::relay::Relay;

/// What those in a process look at, and nothing else: what is nobody's business, such as passwords and
/// keys, does not leave the process that reads it.
const WANTED: [&str; 11] = [
    // For feeds and those who listen.
    Activity::ENTITY.name,
    Post::ENTITY.name,
    // For feeds.
    User::ENTITY.name,
    Group::ENTITY.name,
    // For those who listen.
    Like::ENTITY.name,
    Comment::ENTITY.name,
    Follow::ENTITY.name,
    GroupMember::ENTITY.name,
    Quest::ENTITY.name,
    Message::ENTITY.name,
    Notification::ENTITY.name,
];

/// Items whose changes are known again when they come twice.
const KNOWN_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(100_000 - 1);

/// Those in a process who want to hear of changes.
#[derive(Clone, Debug)]
pub(crate) struct Taps {
    feeds: Feeds,
    messages: Messages,
    notifications: Notifications,
    live: Live,
    known: Arc<Mutex<Known>>,
}

/// Up to where was heard of items lately: whoever goes on for a worker that died tells again what that
/// one had told since its last checkpoint.
#[derive(Debug)]
struct Known {
    items: LruCache<u64, Sequence>,
    hashes: RandomState,
}

impl Known {
    fn new() -> Self {
        Self { items: LruCache::new(KNOWN_MAX), hashes: RandomState::new() }
    }

    /// Those that were not heard of before.
    fn new_ones(&mut self, changes: &[Change]) -> Vec<Change> {
        let is_new = |change: &&Change| {
            let item = self.hashes.hash_one(&change.key);
            let is_new = self.items.get(&item).is_none_or(|known| *known < change.sequence);
            if is_new {
                self.items.put(item, change.sequence.clone());
            }
            is_new
        };
        changes.iter().filter(is_new).cloned().collect()
    }
}

impl Taps {
    pub(crate) fn new(
        feeds: &Feeds,
        messages: &Messages,
        notifications: &Notifications,
        live: &Live,
    ) -> Self {
        Self {
            feeds: feeds.clone(),
            messages: messages.clone(),
            notifications: notifications.clone(),
            live: live.clone(),
            known: Arc::new(Mutex::new(Known::new())),
        }
    }

    /// Something happened.
    pub(crate) fn hear(&self, changes: &[Change]) {
        let mut known = self.known.lock();
        let new = known.new_ones(changes);
        // Held meanwhile: what happened to one item is told in its order.
        self.tell(&new);
    }

    fn tell(&self, changes: &[Change]) {
        self.feeds.apply(changes);
        self.messages.apply(changes);
        self.notifications.apply(changes);
        self.live.apply(changes);
    }

    /// Whether everything is heard that happens from here on. As long as it is not, nothing is remembered.
    /// Whichever it is, something may have been missed by now, and those who listen learn that.
    pub(crate) fn hears(&self, everything: bool) {
        self.feeds.hears(everything);
        self.notifications.missed();
        self.live.missed();
    }
}

/// Hands changes on.
#[derive(Debug)]
pub(crate) struct Tap {
    /// Those in this process, if there are any.
    pub(crate) taps: Option<Taps>,
    pub(crate) relay: Relay,
}

impl Tap {
    /// With nobody to tell: for whoever looks after the stream of others.
    pub(crate) fn alone() -> Self {
        Self { taps: None, relay: Relay::new() }
    }
}

#[async_trait]
impl Processor for Tap {
    fn name(&self) -> Name {
        Name::named("live")
    }

    fn wants(&self) -> &'static [&'static str] {
        &WANTED
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        if let Some(taps) = &self.taps {
            taps.hear(batch.changes);
        }
        self.relay.tell(batch.changes);
        Ok(Effects::none())
    }
}

#[cfg(test)]
mod tests {
    use roundtable_model::Core;
    use roundtable_model::entities::{ApiKey, Credential, EmailLock, Invitation, Session};
    use roundtable_table::Key;

    use super::*;

    #[test]
    fn nothing_secret_leaves_a_process() {
        let is_entity =
            |name: &&str| Core::SHAPE.entities.iter().any(|entity| entity.name == *name);
        assert!(WANTED.iter().all(is_entity));
        for secret in [
            Credential::ENTITY.name,
            Session::ENTITY.name,
            ApiKey::ENTITY.name,
            Invitation::ENTITY.name,
            EmailLock::ENTITY.name,
        ] {
            assert!(!WANTED.contains(&secret), "{secret}");
        }
    }

    #[test]
    fn what_is_told_again_is_passed_over_and_what_is_new_is_not() {
        let change = |item: &str, sequence: u64| Change {
            sequence: Sequence::from(sequence),
            at_ms: 0,
            key: Key::new(item, item),
            old: None,
            new: None,
            expired: false,
        };
        let mut known = Known::new();
        let mut heard = |changes: &[(&str, u64)]| {
            let changes: Vec<Change> = changes.iter().map(|(it, at)| change(it, *at)).collect();
            let new = known.new_ones(&changes);
            new.iter().map(|it| it.sequence.clone()).collect::<Vec<_>>()
        };
        let all = [("a", 1), ("b", 2), ("a", 3)];
        assert_eq!(heard(&all), [1, 2, 3].map(Sequence::from));
        assert_eq!(heard(&all), [] as [Sequence; 0]);
        // Shards have sequences of their own, and an item has one shard at a time.
        assert_eq!(heard(&[("a", 3), ("c", 1), ("a", 4)]), [1, 4].map(Sequence::from));
    }
}
