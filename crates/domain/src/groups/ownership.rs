//! The limit on the groups that a user owns, by the user's tier.

use roundtable_model::entities::{GroupMember, User};
use roundtable_model::table::Update;
use roundtable_model::{GroupId, GroupRole, Shards, UserCount, UserId};

use super::Groups;
use crate::ServiceError;
use crate::circle::raise_circle_version_from;

/// Memberships read at once.
const PAGE_ITEMS: usize = 100;

impl Groups {
    /// Refuses a user who owns as many groups as their tier allows. Returns the write of the user's circle
    /// for the transaction that makes them the owner of another: of concurrent ones, only one succeeds.
    pub(super) async fn circle_of_new_owner(&self, user: &User) -> Result<Update, ServiceError> {
        let counts = self.context.core().counts(&user.id, &[UserCount::Following], Shards::ONE);
        let circle = counts.strong().get().await?.into_iter().flatten().next();
        let limits = self.context.settings().limits_of(user.tier);
        if self.owned_by(&user.id, limits.groups_owned_max).await? >= limits.groups_owned_max {
            return Err(ServiceError::TierLimitReached {
                tier: limits.tier,
                max: limits.groups_owned_max,
                limit: "groups of one owner",
                advice: "delete one, or hand it over with `setGroupRole`",
            });
        }
        let version = circle.and_then(|circle| circle.version);
        Ok(raise_circle_version_from(&user.id, version, self.context.now()))
    }

    /// Counts the groups that a user owns, up to a maximum.
    async fn owned_by(&self, user: &UserId, max: u64) -> Result<u64, ServiceError> {
        let core = self.context.core();
        let (mut owned, mut after) = (0, None);
        loop {
            let listing = core.groups_of(user).limit(PAGE_ITEMS).after(after.take());
            let page = listing.filter_by(GroupMember::ROLE, &GroupRole::Owner).page().await?;
            let ids: Vec<GroupId> = page.items.into_iter().map(|member| member.group_id).collect();
            // A deleted group keeps its members for a while.
            let groups = core.groups(&ids).strong().get().await?.into_iter().flatten();
            owned += groups.filter(|group| group.owner_id == *user).count() as u64;
            if owned >= max || page.next.is_none() {
                return Ok(owned);
            }
            after = page.next;
        }
    }
}
