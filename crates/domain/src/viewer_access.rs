//! Visibility: decides what a viewer may see, from facts read in a few batches however long a page is.
//!
//! A block, an unfollow, a suspension or a moderation decision takes effect at the next read, because
//! the facts are those of the moment: [`Context::viewer_access`] reads them strongly for each request, or
//! takes them from memory that has applied the whole log, which only the embedded store offers.
//!
//! [`Context::access_by_relations`] decides by relations that its caller has in memory. Home feeds use it
//! if the reader's circle is settled: it has the version that a strong read has just returned, and was
//! not read from an index that may have lagged. On stores other than the embedded one, users and groups
//! are then read for the request, but not strongly, so that a suspension may show a moment later there.
//!
//! This module depends on memory and on no feature. It sees a circle through [`KnownRelations`] only.

mod remembered;

use std::ops::Deref;
use std::sync::Arc;

use futures::future::{try_join, try_join3};
use hashbrown::{HashMap, HashSet};
use roundtable_model::entities::{Comment, Follow, Group, GroupMember, Post, User};
use roundtable_model::{
    FollowStatus, GroupId, MemberStatus, ModerationStatus, Result as ModelResult, Time, UserId,
    UserStatus, Visibility,
};

pub(crate) use self::remembered::KnownRelations;
use crate::accounts::public_profile;
use crate::groups::require_writable;
use crate::{Caller, Context, Roles, ServiceError};

/// One viewer's access to some users and groups.
#[derive(Debug, Default)]
pub struct ViewerAccess {
    viewer: Option<UserId>,
    roles: Roles,
    people: HashMap<UserId, ViewedUser>,
    groups: HashMap<GroupId, ViewedGroup>,
}

/// A user in relation to the viewer.
#[derive(Debug)]
struct ViewedUser {
    profile: Arc<User>,
    is_followed: bool,
    is_blocked: bool,
}

/// A group in relation to the viewer.
#[derive(Debug)]
struct ViewedGroup {
    group: Arc<Group>,
    is_active: bool,
}

/// One viewer's access with the viewer's follows and memberships themselves, all read from the table.
#[derive(Debug, Default)]
pub(crate) struct ViewerRelations {
    access: ViewerAccess,
    follows: HashMap<UserId, Follow>,
    members: HashMap<GroupId, GroupMember>,
}

impl Context {
    /// Returns a viewer's access to these users and groups: from memory where that is exact, otherwise
    /// from the table, each read once.
    pub async fn viewer_access<'a>(
        &self,
        viewer: Option<&Caller>,
        people: impl IntoIterator<Item = &'a UserId>,
        groups: impl IntoIterator<Item = &'a GroupId>,
    ) -> ModelResult<ViewerAccess> {
        let people: HashSet<&UserId> = people.into_iter().collect();
        let groups: HashSet<&GroupId> = groups.into_iter().collect();
        if let Some(access) = self.remembered_access(viewer, &people, &groups).await? {
            return Ok(access);
        }
        Ok(self.viewer_relations(viewer, people, groups).await?.into_access())
    }

    /// As [`Context::viewer_access`], with the viewer's follows and memberships.
    pub(crate) async fn viewer_relations<'a>(
        &self,
        viewer: Option<&Caller>,
        people: impl IntoIterator<Item = &'a UserId>,
        groups: impl IntoIterator<Item = &'a GroupId>,
    ) -> ModelResult<ViewerRelations> {
        let mut people: HashSet<&UserId> = people.into_iter().collect();
        people.extend(viewer.map(|viewer| &viewer.user_id));
        let relations = self.read_relations(viewer, people, groups).await?;
        Ok(match viewer {
            Some(viewer) => relations.for_viewer(viewer),
            None => relations,
        })
    }

    /// As [`Context::viewer_relations`], for a caller whose profile has already been read.
    pub(crate) async fn viewer_access_of<'a>(
        &self,
        caller: &Caller,
        profile: &User,
        people: impl IntoIterator<Item = &'a UserId>,
        groups: impl IntoIterator<Item = &'a GroupId>,
    ) -> ModelResult<ViewerRelations> {
        let others = people.into_iter().filter(|id| **id != profile.id).collect();
        let mut relations = self.read_relations(Some(caller), others, groups).await?;
        let own = ViewedUser::stranger(Arc::new(profile.clone()));
        relations.access.people.insert(profile.id.clone(), own);
        Ok(relations.for_viewer(caller))
    }

    /// Reads the facts, before the viewer's own state is applied.
    async fn read_relations<'a>(
        &self,
        viewer: Option<&Caller>,
        people: HashSet<&UserId>,
        groups: impl IntoIterator<Item = &'a GroupId>,
    ) -> ModelResult<ViewerRelations> {
        let groups: HashSet<&GroupId> = groups.into_iter().collect();
        let people: Vec<UserId> = people.into_iter().cloned().collect();
        let groups: Vec<GroupId> = groups.into_iter().cloned().collect();
        let mut relations = ViewerRelations::default();
        let (people, groups) =
            try_join(self.read_people(viewer, &people), self.read_groups(viewer, &groups)).await?;
        for (profile, edge, is_blocked) in people {
            let is_followed = edge.as_ref().is_some_and(|edge| edge.status == FollowStatus::Active);
            let id = profile.id.clone();
            relations.follows.extend(edge.map(|edge| (id.clone(), edge)));
            let viewed = ViewedUser { profile: Arc::new(profile), is_followed, is_blocked };
            relations.access.people.insert(id, viewed);
        }
        for (group, member) in groups {
            let is_active =
                member.as_ref().is_some_and(|member| member.status == MemberStatus::Active);
            let id = group.id.clone();
            relations.members.extend(member.map(|member| (id.clone(), member)));
            let viewed = ViewedGroup { group: Arc::new(group), is_active };
            relations.access.groups.insert(id, viewed);
        }
        Ok(relations)
    }

    /// Reads the users that exist, the viewer's follows of them, and whether there is a block.
    async fn read_people(
        &self,
        viewer: Option<&Caller>,
        ids: &[UserId],
    ) -> ModelResult<Vec<(User, Option<Follow>, bool)>> {
        let core = self.core();
        let profiles = core.profiles(ids).strong().get();
        let Some(Caller { user_id: me, .. }) = viewer else {
            let profiles = profiles.await?.into_iter().flatten();
            return Ok(profiles.map(|profile| (profile, None, false)).collect());
        };
        let blocks = try_join(core.blocked(me, ids).get(), core.blocked_by(ids, me).get());
        let follows = core.follows_among(me, ids).strong().get();
        let (profiles, follows, (mine, theirs)) = try_join3(profiles, follows, blocks).await?;
        let each = profiles.into_iter().zip(follows).zip(mine.into_iter().zip(theirs));
        let existing = each.filter_map(|((profile, edge), (mine, theirs))| {
            Some((profile?, edge, mine.is_some() || theirs.is_some()))
        });
        Ok(existing.collect())
    }

    /// Reads the groups that exist, and the viewer's memberships.
    async fn read_groups(
        &self,
        viewer: Option<&Caller>,
        ids: &[GroupId],
    ) -> ModelResult<Vec<(Group, Option<GroupMember>)>> {
        let core = self.core();
        let groups = core.groups(ids).strong().get();
        let (groups, members) = match viewer {
            Some(viewer) => try_join(groups, core.memberships(ids, &viewer.user_id).get()).await?,
            None => (groups.await?, ids.iter().map(|_| None).collect()),
        };
        let each = groups.into_iter().zip(members);
        Ok(each.filter_map(|(group, member)| Some((group?, member))).collect())
    }
}

impl ViewedUser {
    const fn stranger(profile: Arc<User>) -> Self {
        Self { profile, is_followed: false, is_blocked: false }
    }
}

impl ViewerRelations {
    /// As [`ViewerAccess::for_viewer`].
    fn for_viewer(mut self, viewer: &Caller) -> Self {
        self.access = self.access.for_viewer(viewer);
        if self.access.status_of(&viewer.user_id) != Some(UserStatus::Active) {
            self.members.clear();
        }
        self
    }

    pub(crate) fn into_access(self) -> ViewerAccess {
        self.access
    }

    /// The viewer's follow of this user, or their request to follow.
    pub(crate) fn follow_of(&self, id: &UserId) -> Option<&Follow> {
        self.follows.get(id)
    }

    /// The viewer's own membership, in any status.
    pub(crate) fn membership(&self, id: &GroupId) -> Option<&GroupMember> {
        self.members.get(id)
    }
}

impl Deref for ViewerRelations {
    type Target = ViewerAccess;

    fn deref(&self) -> &ViewerAccess {
        &self.access
    }
}

impl ViewerAccess {
    /// Applies the viewer's own state. A suspended or deleted viewer sees what a stranger does:
    /// their follows and memberships no longer grant access.
    fn for_viewer(mut self, viewer: &Caller) -> Self {
        let Caller { user_id, .. } = viewer;
        match self.status_of(user_id) {
            Some(UserStatus::Active) => {
                self.viewer = Some(user_id.clone());
                self.roles = self.current_roles(viewer);
            }
            // A suspended user can still see their own profile, which shows the suspension.
            Some(UserStatus::Suspended) => {
                self.viewer = Some(user_id.clone());
                self.drop_relations();
            }
            Some(UserStatus::Deleted) | None => self.drop_relations(),
        }
        self
    }

    fn drop_relations(&mut self) {
        self.people.values_mut().for_each(|person| person.is_followed = false);
        self.groups.values_mut().for_each(|group| group.is_active = false);
    }

    /// The roles that the viewer's profile, read with the rest, still has.
    fn current_roles(&self, viewer: &Caller) -> Roles {
        let me = self.people.get(&viewer.user_id);
        me.map(|me| viewer.current_roles(&me.profile)).unwrap_or_default()
    }

    /// Returns whether the viewer is a moderator or an admin.
    pub(crate) const fn is_staff(&self) -> bool {
        self.roles.moderates()
    }

    /// Returns whether the viewer sees a user's e-mail address: their own, and admins all.
    pub(crate) fn sees_email(&self, id: &UserId) -> bool {
        self.is_me(id) || self.roles.admin
    }

    fn status_of(&self, id: &UserId) -> Option<UserStatus> {
        self.people.get(id).map(|person| person.profile.status)
    }

    /// Returns the user's profile if the viewer may see it.
    pub fn visible_user(&self, id: &UserId) -> Option<&User> {
        self.visible_profile(id).map(|profile| &**profile)
    }

    /// Returns the user's profile as the viewer may see it: mostly without the e-mail address.
    pub(crate) fn shown_profile(&self, id: &UserId) -> Option<Arc<User>> {
        let profile = self.visible_profile(id)?;
        if profile.email.is_none() || self.sees_email(id) {
            return Some(Arc::clone(profile));
        }
        Some(Arc::new(public_profile(User::clone(profile))))
    }

    /// As [`ViewerAccess::visible_user`], to be shared.
    pub(crate) fn visible_profile(&self, id: &UserId) -> Option<&Arc<User>> {
        let person = self.people.get(id)?;
        let shown = match person.profile.status {
            UserStatus::Deleted => false,
            UserStatus::Active if !person.is_blocked => true,
            UserStatus::Active | UserStatus::Suspended => self.is_me(id) || self.roles.moderates(),
        };
        shown.then_some(&person.profile)
    }

    /// Returns whether the viewer may see the user's content. A private account shows its lists and
    /// posts to accepted followers only.
    pub fn can_see_inside_user(&self, id: &UserId) -> bool {
        self.visible_user(id).is_some_and(|profile| {
            !profile.is_private || self.is_me(id) || self.follows(id) || self.roles.moderates()
        })
    }

    /// Returns whether the viewer follows this user and was accepted.
    pub fn follows(&self, id: &UserId) -> bool {
        self.people.get(id).is_some_and(|person| person.is_followed)
    }

    /// Returns whether the viewer blocked this user, or the other way round.
    pub fn is_blocked(&self, id: &UserId) -> bool {
        self.people.get(id).is_some_and(|person| person.is_blocked)
    }

    /// Returns the group if it exists: groups are visible to all viewers.
    pub fn visible_group(&self, id: &GroupId) -> Option<&Group> {
        self.groups.get(id).map(|membership| &*membership.group)
    }

    /// Returns whether the viewer may see a group's content. A private group shows it to active
    /// members only.
    pub fn can_see_inside_group(&self, id: &GroupId) -> bool {
        self.groups
            .get(id)
            .is_some_and(|one| !one.group.is_private || one.is_active || self.roles.moderates())
    }

    /// Returns whether the viewer may see what was written in a group, or who joined it, at a time. What
    /// is older than its last step into the public stays with its active members.
    pub fn can_see_in_group(&self, id: &GroupId, at: Time) -> bool {
        self.groups.get(id).is_some_and(|one| {
            !one.group.is_confidential(at) || one.is_active || self.roles.moderates()
        })
    }

    /// Returns whether the viewer is an active member of a group.
    pub(crate) fn is_active_member(&self, id: &GroupId) -> bool {
        self.groups.get(id).is_some_and(|one| one.is_active)
    }

    /// Refuses to write to an archived group.
    pub(crate) fn require_writable(&self, id: Option<&GroupId>) -> Result<(), ServiceError> {
        id.and_then(|id| self.visible_group(id)).map_or(Ok(()), require_writable)
    }

    pub fn can_see_post(&self, post: &Post) -> bool {
        if post.is_deleted || self.visible_user(&post.author_id).is_none() {
            return false;
        }
        let mine = self.is_me(&post.author_id);
        if mine || self.roles.moderates() {
            return true;
        }
        if post.moderation_status != ModerationStatus::Approved {
            return false;
        }
        match (&post.group_id, post.visibility) {
            (_, Visibility::Private) => false,
            (Some(group), _) => self.can_see_in_group(group, post.created_at),
            (None, Visibility::Public) => self.can_see_inside_user(&post.author_id),
            (None, Visibility::Followers) => self.follows(&post.author_id),
        }
    }

    /// Returns whether the viewer may see a comment, provided they may see its post.
    pub fn can_see_comment(&self, comment: &Comment) -> bool {
        !comment.is_deleted
            && self.visible_user(&comment.user_id).is_some()
            && (comment.moderation_status == ModerationStatus::Approved
                || self.is_me(&comment.user_id)
                || self.roles.moderates())
    }

    /// Returns whether the viewer may see a user's goals: their own, and admins all.
    pub(crate) fn can_see_goals_of(&self, id: &UserId) -> bool {
        self.is_me(id) || self.roles.admin
    }

    fn is_me(&self, id: &UserId) -> bool {
        self.viewer.as_ref() == Some(id)
    }
}
