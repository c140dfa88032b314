//! A group with the caller's membership: the starting point of every mutation of a group.

use futures::future::try_join;
use roundtable_model::entities::{Group, GroupMember, User};
use roundtable_model::table::Write;
use roundtable_model::{GroupId, GroupRole, MemberStatus};

use super::{GroupError, Groups, writes};
use crate::access::{Permission, Relations, allows, require};
use crate::{Caller, Context, audit};

pub(super) struct GroupAccess {
    pub(super) group: Group,
    /// The caller's own membership, in any status.
    pub(super) membership: Option<GroupMember>,
    /// The caller's relations to any group.
    relations: Relations,
}

impl Groups {
    pub(super) async fn load_access(
        &self,
        caller: &Caller,
        me: &User,
        group: &GroupId,
    ) -> Result<GroupAccess, GroupError> {
        let core = self.context.core();
        let relations = caller.relations(me);
        let (group, membership) =
            try_join(core.group(group).get(), core.member(group, &caller.user_id).get()).await?;
        let group = group.ok_or(GroupError::NoSuchGroup)?;
        Ok(GroupAccess { group, membership, relations })
    }
}

impl GroupAccess {
    /// Refuses what the caller may not do. Returns the write that the transaction must include: a
    /// check that the membership that allows it is unchanged or, where only a staff role allows it,
    /// an audit entry.
    pub(super) fn authorize(
        &self,
        context: &Context,
        caller: &Caller,
        permission: Permission,
        action: &'static str,
    ) -> Result<Write, GroupError> {
        let any = caller.signed_in_relations();
        if let Some(membership) = &self.membership
            && allows(permission, any | member_relations(membership))
        {
            return Ok(writes::unchanged_member_check(membership).into());
        }
        require(permission, self.all_relations())?;
        Ok(audit::entry(context, Some(caller), action, &self.group.id, None))
    }

    /// The caller's relations to the group, by membership and by role.
    pub(super) fn all_relations(&self) -> Relations {
        self.relations | self.membership.as_ref().map(member_relations).unwrap_or_default()
    }
}

/// The relations that a membership gives; a pending one gives none beyond being signed in.
pub(crate) fn member_relations(member: &GroupMember) -> Relations {
    let active = member.status == MemberStatus::Active;
    Relations::SIGNED_IN
        .with_if(active, Relations::MEMBER)
        .with_if(active && member.role == GroupRole::Admin, Relations::GROUP_ADMIN)
        .with_if(active && member.role == GroupRole::Owner, Relations::GROUP_OWNER)
}
