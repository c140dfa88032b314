//! Removes the follows and blocks of a deleted account, and updates the other side's counters.

use std::collections::BTreeMap;

use roundtable_model::entities::{Block, Follow, UserCounter};
use roundtable_model::table::{Transaction, Write};
use roundtable_model::{Entity, EntityKey, FollowStatus, Shard, UserCount, UserId};

use super::Purge;
use crate::Result;
use crate::error::ErrorClass;
use crate::reads::read_all;

/// Edges removed at once. Each may touch two counters.
pub(super) const EDGES_AT_ONCE: usize = 33;

type UserCounterKey = (UserId, UserCount, Shard);

/// An edge to remove, and the counters it affects.
#[derive(Clone, Debug)]
pub(super) struct RemovedEdge {
    removal: Write,
    /// The change of each counter. It may be zero: removing a block changes the circle without
    /// changing a count.
    counts: Vec<(UserCounterKey, i64)>,
}

impl RemovedEdge {
    fn follow(edge: &Follow) -> Self {
        let unchanged = Follow::VERSION.is(&edge.version);
        let removal = edge.key().delete().when(unchanged).into();
        let following = (edge.follower_id.clone(), UserCount::Following, Shard::ZERO);
        let followers = (edge.followee_id.clone(), UserCount::Followers, edge.shard);
        let counts = match edge.status {
            FollowStatus::Active => vec![(following, -1), (followers, -1)],
            FollowStatus::Pending => Vec::new(),
        };
        Self { removal, counts }
    }

    fn block(block: &Block) -> Self {
        let circle = |user: &UserId| ((user.clone(), UserCount::Following, Shard::ZERO), 0);
        let counts = vec![circle(&block.blocker_id), circle(&block.blocked_id)];
        Self { removal: block.key().delete().into(), counts }
    }
}

impl Purge {
    /// Removes follows in either direction. Returns whether there were any.
    pub(super) async fn remove_follows(&self, edges: &[Follow]) -> Result<bool> {
        // An index may show an earlier state.
        let keys = edges.iter().map(|edge| ((&edge.follower_id, &edge.followee_id), edge.key()));
        let current = read_all::<_, Follow>(self.context.core().table(), keys).await?;
        let removed_edges: Vec<RemovedEdge> = current.values().map(RemovedEdge::follow).collect();
        self.remove_edges(&removed_edges).await?;
        Ok(!edges.is_empty())
    }

    /// Removes blocks in either direction. Returns whether there were any.
    pub(super) async fn remove_blocks(&self, blocks: &[Block]) -> Result<bool> {
        let keys = blocks.iter().map(|each| ((&each.blocker_id, &each.blocked_id), each.key()));
        let current = read_all::<_, Block>(self.context.core().table(), keys).await?;
        let removed_edges: Vec<RemovedEdge> = current.values().map(RemovedEdge::block).collect();
        self.remove_edges(&removed_edges).await?;
        Ok(!blocks.is_empty())
    }

    /// Removes all edges at once, or one by one if one of them changes meanwhile.
    async fn remove_edges(&self, removed_edges: &[RemovedEdge]) -> Result<()> {
        let result = self.try_remove_edges(removed_edges).await;
        match result {
            Err(error) if error.class() == ErrorClass::Conflict && removed_edges.len() > 1 => {}
            other => return other,
        }
        let (mut removed, mut conflict) = (0, None);
        for edge in removed_edges {
            match self.try_remove_edges(std::slice::from_ref(edge)).await {
                Ok(()) => removed += 1,
                // It is listed again in its new state.
                Err(error) if error.class() == ErrorClass::Conflict => conflict = Some(error),
                Err(error) => return Err(error),
            }
        }
        conflict.filter(|_| removed == 0).map_or(Ok(()), Err)
    }

    async fn try_remove_edges(&self, removed_edges: &[RemovedEdge]) -> Result<()> {
        let core = self.context.core().table();
        let mut counts: BTreeMap<UserCounterKey, i64> = BTreeMap::new();
        for (counter, delta) in removed_edges.iter().flat_map(|edge| &edge.counts) {
            *counts.entry(counter.clone()).or_default() += delta;
        }
        // A missing counter belongs to a deleted user and must not be created again.
        let key = |(user, of, shard): &UserCounterKey| UserCounter::at(user, of, shard);
        let keys = counts.keys().map(|counter| (counter.clone(), key(counter)));
        let existing = read_all::<_, UserCounter>(core, keys).await?;
        let mut transaction = Transaction::new();
        for edge in removed_edges {
            transaction = transaction.with(core, edge.removal.clone());
        }
        for (counter, delta) in counts.iter().filter(|(counter, _)| existing.contains_key(*counter))
        {
            transaction =
                transaction.with(core, self.counter_update(key(counter), counter.1, *delta));
        }
        if transaction.writes.is_empty() {
            return Ok(());
        }
        self.transact(transaction).await
    }

    fn counter_update(&self, key: EntityKey<UserCounter>, of: UserCount, delta: i64) -> Write {
        let mut patch = key.patch().set(UserCounter::UPDATED_AT, &self.context.now());
        if delta != 0 {
            patch = patch.add(UserCounter::COUNT, delta);
        }
        if of == UserCount::Following {
            patch = patch.add(UserCounter::VERSION, 1);
        }
        patch.into()
    }
}
