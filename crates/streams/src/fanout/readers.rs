//! To whom a home's activities are copied: a person's followers, or a group's members.

use roundtable_model::entities::GroupMember;
use roundtable_model::{Cursor, MemberStatus, Shards, UserId};

use super::{FanOut, Home};
use crate::Failure;

/// The largest page of a listing.
pub(super) const READERS_MAX: usize = 999;

/// Some readers.
#[derive(Clone, Debug)]
pub(super) struct Readers {
    pub(super) ids: Vec<UserId>,
    /// Where the others are.
    pub(super) next: Option<Cursor>,
}

impl FanOut {
    /// Over how many partitions the readers of a home are spread. Those that are added later hold nobody
    /// who had to be copied to.
    pub(super) async fn spread(&self, home: &Home) -> Result<Shards, Failure> {
        let Home::Person(id) = home else { return Ok(Shards::ONE) };
        let user = self.ground.core().profile(id).strong().get().await?;
        Ok(user.map_or(Shards::ONE, |user| user.follower_shards))
    }

    /// A page of readers.
    pub(super) async fn readers(
        &self,
        home: &Home,
        spread: Shards,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<Readers, Failure> {
        let core = self.ground.core();
        let (mut ids, next): (Vec<UserId>, _) = match home {
            Home::Person(id) => {
                let page = core.followers(id, spread).limit(limit).after(after).page().await?;
                (page.items.into_iter().map(|edge| edge.follower_id).collect(), page.next)
            }
            Home::Group(id) => {
                let active = core.members(id).with(GroupMember::STATUS, &MemberStatus::Active);
                let page = active.strong().limit(limit).after(after).page().await?;
                (page.items.into_iter().map(|member| member.user_id).collect(), page.next)
            }
        };
        // An index may show one edge as it was and as it is, in two shards.
        ids.dedup();
        Ok(Readers { ids, next })
    }
}
