//! Follows and blocks of a deleted account, with what they count for on the other side.

use std::collections::BTreeMap;

use roundtable_model::entities::{Block, Follow, UserCounter};
use roundtable_model::table::{Transaction, Write};
use roundtable_model::{At, Entity, FollowStatus, Shard, UserCount, UserId};

use super::Purge;
use crate::Failure;
use crate::failure::Remedy;
use crate::reads::read_all;

/// Edges taken away at once: each may touch two counters.
pub(super) const EDGES_AT_ONCE: usize = 33;

/// Whose counter, of what, in which shard.
type Counted = (UserId, UserCount, Shard);

/// An edge that goes, and what it counted for.
#[derive(Clone, Debug)]
pub(super) struct Gone {
    removal: Write,
    /// By how much each counter changes. A circle changes also where nothing is counted.
    counts: Vec<(Counted, i64)>,
}

impl Gone {
    /// A follow or a request, as it is now.
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
    /// Takes follows away, either way; whether there were any.
    pub(super) async fn unfollow(&self, edges: &[Follow]) -> Result<bool, Failure> {
        // An index may show them as they were.
        let places = edges.iter().map(|edge| ((&edge.follower_id, &edge.followee_id), edge.key()));
        let now = read_all::<_, Follow>(self.ground.core().table(), places).await?;
        let gone: Vec<Gone> = now.values().map(Gone::follow).collect();
        self.remove_edges(&gone).await?;
        Ok(!edges.is_empty())
    }

    /// Takes blocks away, either way; whether there were any.
    pub(super) async fn unblock(&self, blocks: &[Block]) -> Result<bool, Failure> {
        let places = blocks.iter().map(|each| ((&each.blocker_id, &each.blocked_id), each.key()));
        let now = read_all::<_, Block>(self.ground.core().table(), places).await?;
        let gone: Vec<Gone> = now.values().map(Gone::block).collect();
        self.remove_edges(&gone).await?;
        Ok(!blocks.is_empty())
    }

    /// All at once, or, if one of them changes meanwhile, one by one.
    async fn remove_edges(&self, gone: &[Gone]) -> Result<(), Failure> {
        let together = self.try_remove(gone).await;
        match together {
            Err(failure) if failure.remedy() == Remedy::Again && gone.len() > 1 => {}
            other => return other,
        }
        let (mut removed, mut refused) = (0, None);
        for edge in gone {
            match self.try_remove(std::slice::from_ref(edge)).await {
                Ok(()) => removed += 1,
                // It is listed again, as it is then.
                Err(failure) if failure.remedy() == Remedy::Again => refused = Some(failure),
                Err(failure) => return Err(failure),
            }
        }
        refused.filter(|_| removed == 0).map_or(Ok(()), Err)
    }

    async fn try_remove(&self, gone: &[Gone]) -> Result<(), Failure> {
        let core = self.ground.core().table();
        let mut counts: BTreeMap<Counted, i64> = BTreeMap::new();
        for (counter, by) in gone.iter().flat_map(|edge| &edge.counts) {
            *counts.entry(counter.clone()).or_default() += by;
        }
        // A counter that is not there belongs to somebody who is gone, and must not come back.
        let place = |(user, of, shard): &Counted| UserCounter::at(user, of, shard);
        let places = counts.keys().map(|counter| (counter.clone(), place(counter)));
        let there = read_all::<_, UserCounter>(core, places).await?;
        let mut transaction = Transaction::new();
        for edge in gone {
            transaction = transaction.with(core, edge.removal.clone());
        }
        for (counter, by) in counts.iter().filter(|(counter, _)| there.contains_key(*counter)) {
            transaction = transaction.with(core, self.counted(place(counter), counter.1, *by));
        }
        if transaction.writes.is_empty() {
            return Ok(());
        }
        self.transact(transaction).await
    }

    fn counted(&self, place: At<UserCounter>, of: UserCount, by: i64) -> Write {
        let mut patch = place.patch().set(UserCounter::UPDATED_AT, &self.ground.now());
        if by != 0 {
            patch = patch.add(UserCounter::COUNT, by);
        }
        if of == UserCount::Following {
            patch = patch.add(UserCounter::VERSION, 1);
        }
        patch.into()
    }
}
