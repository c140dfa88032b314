//! What people see of groups: that they are there, who is in them, and which are whose.

use std::collections::HashMap;

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, GroupMember};
use roundtable_model::{GroupId, GroupRole, MemberStatus, UserId};

use super::place::standing;
use super::{GroupError, Groups};
use crate::access::{Act, Standing, allows};
use crate::pages::fill;
use crate::{Caller, Failure, Page, PageInput, Sight};

/// A group as a viewer sees it. A private one shows this much to everybody, and the rest to its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupView {
    /// The group.
    pub group: Group,
    /// How many active members it has.
    pub members_count: u64,
    /// The viewer's own membership, whatever its status.
    pub viewer: Option<GroupMember>,
}

impl GroupView {
    /// What the viewer may do in it; nothing while they are not in.
    pub fn viewer_role(&self) -> Option<GroupRole> {
        let viewer = self.viewer.as_ref()?;
        (viewer.status == MemberStatus::Active).then_some(viewer.role)
    }
}

#[boxed]
impl Groups {
    /// A group.
    pub async fn get(
        &self,
        viewer: Option<&Caller>,
        group: &GroupId,
    ) -> Result<GroupView, GroupError> {
        let found = self.views(viewer, std::slice::from_ref(group)).await?;
        found.into_iter().flatten().next().ok_or(GroupError::NoSuchGroup)
    }

    /// Several groups, in the order they were asked for; `None` where there is none.
    pub async fn views(
        &self,
        viewer: Option<&Caller>,
        groups: &[GroupId],
    ) -> Result<Vec<Option<GroupView>>, GroupError> {
        let (sight, counts) = try_join(self.sight_of(viewer, groups), self.counts(groups)).await?;
        Ok(groups.iter().map(|group| view(&sight, &counts, group)).collect())
    }

    /// The groups the caller is in, the one joined last first.
    pub async fn mine(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<GroupView>, GroupError> {
        let me = self.ground.reader(caller).await?.id;
        self.joined_by(Some(caller), &me, page).await
    }

    /// The groups a person is in, as far as the viewer may know: of private ones, those that the viewer
    /// is in, too.
    pub async fn of(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        page: &PageInput,
    ) -> Result<Page<GroupView>, GroupError> {
        let sight = self.ground.sight(viewer, [user], []).await?;
        if !sight.sees_inside(user) {
            return Err(GroupError::NoSuchUser);
        }
        self.joined_by(viewer, user, page).await
    }

    /// Who is in a group: of a private one, for its members. Who has asked or was invited is for those
    /// who run it.
    pub async fn members(
        &self,
        viewer: Option<&Caller>,
        group: &GroupId,
        page: &PageInput,
    ) -> Result<Page<GroupMember>, GroupError> {
        let sight = self.ground.sight(viewer, [], [group]).await?;
        let sees = Standing::ANONYMOUS.and_if(sight.sees_inside_group(group), Standing::SEES);
        if !allows(Act::SeeMembers, sees) {
            return Err(GroupError::NoSuchGroup);
        }
        let everybody = runs(&sight, group);
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().members(group).limit(limit).after(after);
                if everybody {
                    listing.page().await
                } else {
                    listing.with(GroupMember::STATUS, &MemberStatus::Active).page().await
                }
            },
            async |members: Vec<GroupMember>| {
                let people = members.iter().map(|member| &member.user_id);
                let sight = self.ground.sight(viewer, people, []).await?;
                let seen = |member: &GroupMember| sight.person(&member.user_id).is_some();
                Ok(members.into_iter().map(|member| seen(&member).then_some(member)).collect())
            },
        )
        .await
    }

    /// Memberships by group and person, each in its place: one's own, and those that are listed for the
    /// viewer.
    pub async fn memberships(
        &self,
        viewer: Option<&Caller>,
        places: &[(GroupId, UserId)],
    ) -> Result<Vec<Option<GroupMember>>, GroupError> {
        let at = places.iter().map(|(group, user)| GroupMember::at(group, user));
        let members = self.ground.at("member", at);
        let people = places.iter().map(|(_, user)| user);
        let groups = places.iter().map(|(group, _)| group);
        let sight = self.ground.sight(viewer, people, groups);
        let (members, sight) = try_join(members, sight).await?;
        let is_shown = |member: &GroupMember| {
            let (group, user) = (&member.group_id, &member.user_id);
            // As the group shows it to them: not to those who are suspended.
            let is_mine = sight.membership(group).is_some_and(|mine| mine.user_id == *user);
            sight.person(user).is_some()
                && sight.group(group).is_some()
                && (is_mine || shows(&sight, group, member))
        };
        Ok(members.into_iter().map(|member| member.filter(is_shown)).collect())
    }

    /// A membership that is over, as it was, if it was listed for the caller, or their own.
    pub(crate) async fn seen_leaving(
        &self,
        caller: &Caller,
        member: GroupMember,
    ) -> Result<Option<GroupMember>, GroupError> {
        let (group, user) = (&member.group_id, &member.user_id);
        let sight = self.ground.sight(Some(caller), [user], [group]).await?;
        let is_mine = caller.user_id == *user;
        let is_shown = sight.person(user).is_some()
            && sight.group(group).is_some()
            && (is_mine || shows(&sight, group, &member));
        Ok(is_shown.then_some(member))
    }

    /// The groups somebody is in that the viewer may know of.
    async fn joined_by(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        page: &PageInput,
    ) -> Result<Page<GroupView>, GroupError> {
        let core = self.ground.core();
        fill(
            page,
            async |limit, after| {
                let listing = core.groups_of(user).limit(limit).after(after);
                listing.with(GroupMember::STATUS, &MemberStatus::Active).page().await
            },
            async |listed: Vec<GroupMember>| {
                let ids: Vec<GroupId> = listed.into_iter().map(|member| member.group_id).collect();
                // The index may be behind: whether somebody is in is read again.
                let members = async { Ok(core.memberships(&ids, user).get().await?) };
                let seen = try_join(self.sight_of(viewer, &ids), self.counts(&ids));
                let ((sight, counts), members) = try_join(seen, members).await?;
                let shown = ids.iter().zip(members).map(|(id, member)| {
                    member.filter(|member| member.status == MemberStatus::Active)?;
                    view(&sight, &counts, id).filter(|_| sight.sees_inside_group(id))
                });
                Ok(shown.collect())
            },
        )
        .await
    }

    async fn sight_of(
        &self,
        viewer: Option<&Caller>,
        groups: &[GroupId],
    ) -> Result<Sight, Failure> {
        Ok(self.ground.sight(viewer, [], groups).await?)
    }

    async fn counts(&self, groups: &[GroupId]) -> Result<HashMap<GroupId, u64>, Failure> {
        let counters = self.ground.core().group_counts(groups).get().await?.into_iter().flatten();
        Ok(counters.map(|counter| (counter.group_id, counter.count)).collect())
    }
}

fn view(sight: &Sight, counts: &HashMap<GroupId, u64>, group: &GroupId) -> Option<GroupView> {
    Some(GroupView {
        group: sight.group(group)?.clone(),
        members_count: counts.get(group).copied().unwrap_or(0),
        viewer: sight.membership(group).cloned(),
    })
}

/// Whether the viewer may know of somebody's membership.
pub(super) fn shows(sight: &Sight, group: &GroupId, member: &GroupMember) -> bool {
    let active = member.status == MemberStatus::Active;
    sight.sees_inside_group(group) && (active || runs(sight, group))
}

/// Whether the viewer helps to run a group.
fn runs(sight: &Sight, group: &GroupId) -> bool {
    let staff = Standing::GROUP_ADMIN | Standing::GROUP_OWNER;
    sight.membership(group).is_some_and(|member| standing(member).is_any(staff))
}
