//! A group, and how the caller stands to it: what every mutation of a group begins with.

use futures::future::try_join;
use roundtable_model::entities::{Group, GroupMember};
use roundtable_model::table::Write;
use roundtable_model::{GroupId, GroupRole, MemberStatus};

use super::{GroupError, Groups, writes};
use crate::access::{Act, Standing, allows};
use crate::{Caller, Failure, Ground, audit};

/// A group as the caller finds it.
pub(super) struct Place {
    /// The group.
    pub(super) group: Group,
    /// The caller's own membership, whatever its status.
    pub(super) mine: Option<GroupMember>,
}

impl Groups {
    /// A group, and the caller's place in it.
    pub(super) async fn place(
        &self,
        caller: &Caller,
        group: &GroupId,
    ) -> Result<Place, GroupError> {
        let core = self.ground.core();
        let (group, mine) =
            try_join(core.group(group).get(), core.member(group, &caller.user_id).get()).await?;
        Ok(Place { group: group.ok_or(GroupError::NoSuchGroup)?, mine })
    }
}

impl Place {
    /// Refuses what the caller may not do. Answers with what the transaction must say of it: that the
    /// caller's membership, which allows it, is still as it was read; or, where only a role beyond the
    /// group allows it, an entry for the audit.
    pub(super) fn demand(
        &self,
        ground: &Ground,
        caller: &Caller,
        act: Act,
        action: &'static str,
    ) -> Result<Write, GroupError> {
        match &self.mine {
            Some(mine) if allows(act, standing(mine)) => Ok(writes::still(mine).into()),
            _ if allows(act, beyond(caller)) => {
                Ok(audit::entry(ground, Some(caller), action, &self.group.id, None))
            }
            _ => Err(Failure::Forbidden.into()),
        }
    }
}

/// What a membership makes of somebody; one that is only asked for or offered, nothing much.
pub(super) fn standing(member: &GroupMember) -> Standing {
    let active = member.status == MemberStatus::Active;
    Standing::SIGNED_IN
        .and_if(active, Standing::MEMBER)
        .and_if(active && member.role == GroupRole::Admin, Standing::GROUP_ADMIN)
        .and_if(active && member.role == GroupRole::Owner, Standing::GROUP_OWNER)
}

/// What somebody is whatever the group.
fn beyond(caller: &Caller) -> Standing {
    Standing::SIGNED_IN
        .and_if(caller.roles.moderator, Standing::MODERATOR)
        .and_if(caller.roles.admin, Standing::ADMIN)
}
