//! Forwards the changes that a worker reads to the consumers in its own process and, through the relay,
//! to the installation's other processes. It writes nothing.

use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use lru::LruCache;
use parking_lot::Mutex;
use roundtable_domain::{Feeds, LiveUpdates, Messages, Notifications};
use roundtable_model::entities::{
    Activity, Comment, Follow, Group, GroupMember, Like, Message, Notification, Post, Quest, User,
};
use roundtable_model::{FromItem as _, ProcessorName as Name};
use roundtable_streams::{Batch, Effects, ProcessingError, Processor};
use roundtable_table::{Change, Sequence};

use crate::relay::RelayServer;

/// The only entities that consumers need: private ones, such as credentials and keys, never leave the
/// process that reads them.
const FORWARDED_ENTITIES: [&str; 11] = [
    // For feeds and live updates.
    Activity::ENTITY.name,
    Post::ENTITY.name,
    // For feeds.
    User::ENTITY.name,
    Group::ENTITY.name,
    // For live updates.
    Like::ENTITY.name,
    Comment::ENTITY.name,
    Follow::ENTITY.name,
    GroupMember::ENTITY.name,
    Quest::ENTITY.name,
    Message::ENTITY.name,
    Notification::ENTITY.name,
];

/// Items for which repeated changes are recognised.
const SEEN_ITEMS_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(100_000 - 1);

/// The services of this process that follow changes.
#[derive(Clone, Debug)]
pub(crate) struct LocalConsumers {
    feeds: Feeds,
    messages: Messages,
    notifications: Notifications,
    live: LiveUpdates,
    seen: Arc<Mutex<SeenSequences>>,
}

/// The last sequence of recently changed items: a worker that takes over a shard repeats the changes
/// since its last checkpoint.
#[derive(Debug)]
struct SeenSequences {
    items: LruCache<u64, Sequence>,
    hasher: RandomState,
}

impl SeenSequences {
    fn new() -> Self {
        Self { items: LruCache::new(SEEN_ITEMS_MAX), hasher: RandomState::new() }
    }

    /// Returns the changes not seen before.
    fn unseen(&mut self, changes: &[Change]) -> Vec<Change> {
        let is_new = |change: &&Change| {
            let item = self.hasher.hash_one(&change.key);
            let is_new = self.items.get(&item).is_none_or(|seen| *seen < change.sequence);
            if is_new {
                self.items.put(item, change.sequence.clone());
            }
            is_new
        };
        changes.iter().filter(is_new).cloned().collect()
    }
}

impl LocalConsumers {
    pub(crate) fn new(
        feeds: &Feeds,
        messages: &Messages,
        notifications: &Notifications,
        live: &LiveUpdates,
    ) -> Self {
        Self {
            feeds: feeds.clone(),
            messages: messages.clone(),
            notifications: notifications.clone(),
            live: live.clone(),
            seen: Arc::new(Mutex::new(SeenSequences::new())),
        }
    }

    /// Applies changes that were not applied before.
    pub(crate) fn apply(&self, changes: &[Change]) {
        let mut seen = self.seen.lock();
        let new = seen.unseen(changes);
        // Under the lock, so that each item's changes are applied in order.
        self.apply_new(&new);
    }

    fn apply_new(&self, changes: &[Change]) {
        self.feeds.apply(changes);
        self.messages.apply(changes);
        self.notifications.apply(changes);
        self.live.apply(changes);
    }

    /// Says whether all changes are received from now on; until then nothing is cached. Either way some
    /// may have been missed, so subscribers are told to refetch.
    pub(crate) fn set_complete(&self, is_complete: bool) {
        self.feeds.set_complete(is_complete);
        self.notifications.report_gap();
        self.live.report_gap();
    }
}

/// A processor that passes changes on to consumers.
#[derive(Debug)]
pub(crate) struct ChangeForwarder {
    pub(crate) consumers: Option<LocalConsumers>,
    pub(crate) relay: RelayServer,
}

impl ChangeForwarder {
    /// Without consumers, for a process that only administers the stream.
    pub(crate) fn without_consumers() -> Self {
        Self { consumers: None, relay: RelayServer::new() }
    }
}

#[async_trait]
impl Processor for ChangeForwarder {
    fn name(&self) -> Name {
        Name::from_static("live")
    }

    fn entity_types(&self) -> &'static [&'static str] {
        &FORWARDED_ENTITIES
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, ProcessingError> {
        if let Some(consumers) = &self.consumers {
            consumers.apply(batch.changes);
        }
        self.relay.send(batch.changes);
        Ok(Effects::new())
    }
}

#[cfg(test)]
mod tests {
    use roundtable_model::Core;
    use roundtable_model::entities::{ApiKey, Credential, EmailLock, Invitation, Session};
    use roundtable_table::Key;

    use super::*;

    #[test]
    fn no_secret_leaves_a_process() {
        let is_entity =
            |name: &&str| Core::SHAPE.entities.iter().any(|entity| entity.name == *name);
        assert!(FORWARDED_ENTITIES.iter().all(is_entity));
        for secret in [
            Credential::ENTITY.name,
            Session::ENTITY.name,
            ApiKey::ENTITY.name,
            Invitation::ENTITY.name,
            EmailLock::ENTITY.name,
        ] {
            assert!(!FORWARDED_ENTITIES.contains(&secret), "{secret}");
        }
    }

    #[test]
    fn repeated_changes_are_skipped_and_new_ones_are_not() {
        let change = |item: &str, sequence: u64| Change {
            sequence: Sequence::from(sequence),
            at_ms: 0,
            key: Key::new(item, item),
            old: None,
            new: None,
            expired: false,
        };
        let mut seen = SeenSequences::new();
        let mut applied = |changes: &[(&str, u64)]| {
            let changes: Vec<Change> =
                changes.iter().map(|(item, sequence)| change(item, *sequence)).collect();
            let new = seen.unseen(&changes);
            new.iter().map(|change| change.sequence.clone()).collect::<Vec<_>>()
        };
        let all = [("a", 1), ("b", 2), ("a", 3)];
        assert_eq!(applied(&all), [1, 2, 3].map(Sequence::from));
        assert_eq!(applied(&all), [] as [Sequence; 0]);
        // Each shard has its own sequence, and an item is in one shard at a time.
        assert_eq!(applied(&[("a", 3), ("c", 1), ("a", 4)]), [1, 4].map(Sequence::from));
    }
}
