//! Spreads the followers of large accounts over more partitions as they grow (R39). Existing
//! follows stay where they are: each one records its shard.
//!
//! The number of shards follows from the current counters, so changes may be delivered again, late,
//! or in any order.

use std::collections::BTreeSet;

use async_trait::async_trait;
use roundtable_domain::Context;
use roundtable_model::entities::{User, UserCounter};
use roundtable_model::{Entity, ProcessorName, Shard, Shards, UserCount, UserId, UserStatus};

use crate::processor::{Batch, Effects, Images, Processor};
use crate::reads::read_all;
use crate::{Delivery, Result};

/// The processor that adds follower shards.
#[derive(Clone, Debug)]
pub struct FollowerShardScaler {
    context: Context,
}

impl FollowerShardScaler {
    pub const NAME: ProcessorName = ProcessorName::from_static("follower-shards");

    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    fn followers_per_shard(&self) -> u64 {
        self.context.settings().shards.followers_per_shard.max(1)
    }

    /// Returns the number of shards a user needs, if it is more than they have.
    async fn shards_needed(&self, user: &User) -> Result<Option<Shards>> {
        let (core, shards) = (self.context.core(), user.follower_shards);
        let counts = core.counts(&user.id, &[UserCount::Followers], shards).strong().get().await?;
        let followers: u64 = counts.iter().flatten().map(|counter| counter.count).sum();
        let needed = followers.div_ceil(self.followers_per_shard()).min(Shards::MAX.count().into());
        let needed = Shards::new(u16::try_from(needed).unwrap_or(u16::MAX));
        Ok(needed.ok().filter(|needed| *needed > shards))
    }
}

#[async_trait]
impl Processor for FollowerShardScaler {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const { &[UserCounter::SHAPE.name] }
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery == Delivery::Skipped {
            return Ok(effects);
        }
        let mut large: BTreeSet<UserId> = BTreeSet::new();
        for change in batch.changes {
            let Some(counter) = Images::<UserCounter>::of(change)?.new else { continue };
            // An account with one shard has all followers in it. Most have few and need no lookup.
            let is_large =
                counter.shard != Shard::ZERO || counter.count > self.followers_per_shard();
            if counter.counter == UserCount::Followers && is_large {
                large.insert(counter.user_id);
            }
        }
        let core = self.context.core().table();
        let users = read_all::<_, User>(core, large.iter().map(|id| (id, User::at(id)))).await?;
        for user in users.values().filter(|user| user.status != UserStatus::Deleted) {
            let Some(needed) = self.shards_needed(user).await? else { continue };
            let fewer = User::FOLLOWER_SHARDS.at_most(&needed);
            let grown = user.key().patch().set(User::FOLLOWER_SHARDS, &needed).when(fewer);
            effects.write(core, grown);
        }
        Ok(effects)
    }
}
