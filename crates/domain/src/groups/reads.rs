//! Reads of groups, their members, and the groups of a user.

use std::collections::HashMap;

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, GroupMember};
use roundtable_model::{GroupId, GroupRole, MemberStatus, UserId};

use super::access::member_relations;
use super::{GroupError, Groups};
use crate::access::{Permission, Relations, allows};
use crate::pages::fill_page;
use crate::viewer_access::ViewerRelations;
use crate::{Caller, Page, PageInput, ServiceError};

/// A group as a viewer sees it. A private group shows this much to all viewers, and the rest to its
/// members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupView {
    pub group: Group,
    /// Counts active members only.
    pub members_count: u64,
    /// The viewer's own membership, in any status.
    pub viewer: Option<GroupMember>,
}

impl GroupView {
    /// The viewer's role; `None` unless they are an active member.
    pub fn viewer_role(&self) -> Option<GroupRole> {
        let viewer = self.viewer.as_ref()?;
        (viewer.status == MemberStatus::Active).then_some(viewer.role)
    }
}

#[boxed]
impl Groups {
    pub async fn get(
        &self,
        viewer: Option<&Caller>,
        group: &GroupId,
    ) -> Result<GroupView, GroupError> {
        let found = self.views(viewer, std::slice::from_ref(group)).await?;
        found.into_iter().flatten().next().ok_or(GroupError::NoSuchGroup)
    }

    /// Returns groups in the order given; `None` where one does not exist.
    pub async fn views(
        &self,
        viewer: Option<&Caller>,
        groups: &[GroupId],
    ) -> Result<Vec<Option<GroupView>>, GroupError> {
        let (access, counts) =
            try_join(self.relations_to(viewer, groups), self.counts(groups)).await?;
        Ok(groups.iter().map(|group| view(&access, &counts, group)).collect())
    }

    /// Returns the caller's groups, the latest joined first.
    pub async fn mine(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<GroupView>, GroupError> {
        let me = self.context.authorize_read(caller).await?.id;
        self.joined_by(Some(caller), &me, page).await
    }

    /// Returns a user's groups: public ones, and the private ones that the viewer is in, too.
    pub async fn of(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        page: &PageInput,
    ) -> Result<Page<GroupView>, GroupError> {
        let access = self.context.viewer_access(viewer, [user], []).await?;
        if !access.can_see_inside_user(user) {
            return Err(GroupError::NoSuchUser);
        }
        self.joined_by(viewer, user, page).await
    }

    /// Returns the members of a group; of a private one only to its members. Pending and invited
    /// members are listed for the group's staff only.
    pub async fn members(
        &self,
        viewer: Option<&Caller>,
        group: &GroupId,
        page: &PageInput,
    ) -> Result<Page<GroupMember>, GroupError> {
        let access = self.context.viewer_relations(viewer, [], [group]).await?;
        let sees =
            Relations::ANONYMOUS.with_if(access.can_see_inside_group(group), Relations::CAN_SEE);
        if !allows(Permission::SeeMembers, sees) {
            return Err(GroupError::NoSuchGroup);
        }
        let lists_all = is_group_staff(&access, group);
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().members(group).limit(limit).after(after);
                if lists_all {
                    listing.page().await
                } else {
                    listing.filter_by(GroupMember::STATUS, &MemberStatus::Active).page().await
                }
            },
            async |members: Vec<GroupMember>| {
                let people = members.iter().map(|member| &member.user_id);
                let access = self.context.viewer_access(viewer, people, [group]).await?;
                let visible = |member: &GroupMember| {
                    access.visible_user(&member.user_id).is_some()
                        && access.can_see_in_group(group, member.joined_at)
                };
                Ok(members.into_iter().map(|member| visible(&member).then_some(member)).collect())
            },
        )
        .await
    }

    /// Returns memberships by group and user, in the order given: the viewer's own, and those
    /// listed for the viewer.
    pub async fn memberships(
        &self,
        viewer: Option<&Caller>,
        item_keys: &[(GroupId, UserId)],
    ) -> Result<Vec<Option<GroupMember>>, GroupError> {
        let at = item_keys.iter().map(|(group, user)| GroupMember::at(group, user));
        let members = self.context.items_at("member", at);
        let people = item_keys.iter().map(|(_, user)| user);
        let groups = item_keys.iter().map(|(group, _)| group);
        let access = self.context.viewer_relations(viewer, people, groups);
        let (members, access) = try_join(members, access).await?;
        let is_visible = |member: &GroupMember| {
            let (group, user) = (&member.group_id, &member.user_id);
            // As the group shows it: not to suspended viewers.
            let is_mine = access.membership(group).is_some_and(|mine| mine.user_id == *user);
            access.visible_user(user).is_some()
                && access.visible_group(group).is_some()
                && (is_mine || is_membership_visible(&access, group, member))
        };
        Ok(members.into_iter().map(|member| member.filter(is_visible)).collect())
    }

    /// Returns a removed membership as it was, if it is the caller's own or was listed for them.
    pub(crate) async fn visible_former_membership(
        &self,
        caller: &Caller,
        member: GroupMember,
    ) -> Result<Option<GroupMember>, GroupError> {
        let (group, user) = (&member.group_id, &member.user_id);
        let access = self.context.viewer_relations(Some(caller), [user], [group]).await?;
        let is_mine = caller.user_id == *user;
        let is_visible = access.visible_user(user).is_some()
            && access.visible_group(group).is_some()
            && (is_mine || is_membership_visible(&access, group, &member));
        Ok(is_visible.then_some(member))
    }

    async fn joined_by(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        page: &PageInput,
    ) -> Result<Page<GroupView>, GroupError> {
        let core = self.context.core();
        fill_page(
            page,
            async |limit, after| {
                let listing = core.groups_of(user).limit(limit).after(after);
                listing.filter_by(GroupMember::STATUS, &MemberStatus::Active).page().await
            },
            async |listed: Vec<GroupMember>| {
                let ids: Vec<GroupId> = listed.into_iter().map(|member| member.group_id).collect();
                // The index may be stale, so the membership is read again.
                let members = async { Ok(core.memberships(&ids, user).get().await?) };
                let visible = try_join(self.relations_to(viewer, &ids), self.counts(&ids));
                let ((access, counts), members) = try_join(visible, members).await?;
                let views = ids.iter().zip(members).map(|(id, member)| {
                    let member = member.filter(|it| it.status == MemberStatus::Active)?;
                    let is_visible = access.can_see_in_group(id, member.joined_at);
                    view(&access, &counts, id).filter(|_| is_visible)
                });
                Ok(views.collect())
            },
        )
        .await
    }

    async fn relations_to(
        &self,
        viewer: Option<&Caller>,
        groups: &[GroupId],
    ) -> Result<ViewerRelations, ServiceError> {
        Ok(self.context.viewer_relations(viewer, [], groups).await?)
    }

    async fn counts(&self, groups: &[GroupId]) -> Result<HashMap<GroupId, u64>, ServiceError> {
        let counters = self.context.core().group_counts(groups).get().await?.into_iter().flatten();
        Ok(counters.map(|counter| (counter.group_id, counter.count)).collect())
    }
}

fn view(
    access: &ViewerRelations,
    counts: &HashMap<GroupId, u64>,
    group: &GroupId,
) -> Option<GroupView> {
    Some(GroupView {
        group: access.visible_group(group)?.clone(),
        members_count: counts.get(group).copied().unwrap_or(0),
        viewer: access.membership(group).cloned(),
    })
}

/// Returns whether the viewer may see a membership.
pub(super) fn is_membership_visible(
    access: &ViewerRelations,
    group: &GroupId,
    member: &GroupMember,
) -> bool {
    let active = member.status == MemberStatus::Active;
    access.can_see_in_group(group, member.joined_at) && (active || is_group_staff(access, group))
}

fn is_group_staff(access: &ViewerRelations, group: &GroupId) -> bool {
    let staff = Relations::GROUP_ADMIN | Relations::GROUP_OWNER;
    access.membership(group).is_some_and(|member| member_relations(member).intersects(staff))
}
