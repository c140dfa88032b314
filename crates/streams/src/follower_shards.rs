//! Spreads the followers of large accounts over more partitions as they become more (R39). Follows made
//! before stay where they are: every one knows its shard.
//!
//! How many shards there must be follows from what the counters say now, so changes may come again, late,
//! or in any order.

use std::collections::BTreeSet;

use async_trait::async_trait;
use roundtable_domain::Ground;
use roundtable_model::entities::{User, UserCounter};
use roundtable_model::{Entity, Processor as Name, Shard, Shards, UserCount, UserId, UserStatus};

use crate::processor::{Batch, Effects, Images, Processor};
use crate::reads::read_all;
use crate::{Delivery, Failure};

/// Grows the shards of followers.
#[derive(Clone, Debug)]
pub struct FollowerShards {
    ground: Ground,
}

impl FollowerShards {
    /// What it is called.
    pub const NAME: Name = Name::named("follower-shards");

    /// The follower shards of this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// How many followers one shard is for.
    fn each(&self) -> u64 {
        self.ground.settings().shards.followers_per_shard.max(1)
    }

    /// How many shards somebody needs, where those they have are too few.
    async fn needed(&self, user: &User) -> Result<Option<Shards>, Failure> {
        let (core, shards) = (self.ground.core(), user.follower_shards);
        let counts = core.counts(&user.id, &[UserCount::Followers], shards).strong().get().await?;
        let followers: u64 = counts.iter().flatten().map(|counter| counter.count).sum();
        let needed = followers.div_ceil(self.each()).min(Shards::MAX.count().into());
        let needed = Shards::new(u16::try_from(needed).unwrap_or(u16::MAX));
        Ok(needed.ok().filter(|needed| *needed > shards))
    }
}

#[async_trait]
impl Processor for FollowerShards {
    fn name(&self) -> Name {
        Self::NAME
    }

    fn wants(&self) -> &'static [&'static str] {
        const { &[UserCounter::SHAPE.name] }
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let mut effects = Effects::none();
        if batch.delivery == Delivery::PassedOver {
            return Ok(effects);
        }
        let mut large: BTreeSet<UserId> = BTreeSet::new();
        for change in batch.changes {
            let Some(counter) = Images::<UserCounter>::of(change)?.new else { continue };
            // Whoever has one shard has all followers in it; most have few, and are not looked up.
            let is_large = counter.shard != Shard::ZERO || counter.count > self.each();
            if counter.counter == UserCount::Followers && is_large {
                large.insert(counter.user_id);
            }
        }
        let core = self.ground.core().table();
        let users = read_all::<_, User>(core, large.iter().map(|id| (id, User::at(id)))).await?;
        for user in users.values().filter(|user| user.status != UserStatus::Deleted) {
            let Some(needed) = self.needed(user).await? else { continue };
            let fewer = User::FOLLOWER_SHARDS.at_most(&needed);
            let grown = user.key().patch().set(User::FOLLOWER_SHARDS, &needed).when(fewer);
            effects.write(core, grown);
        }
        Ok(effects)
    }
}
