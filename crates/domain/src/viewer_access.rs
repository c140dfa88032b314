//! Visibility: decides what a viewer may see, from facts read in a few batches however long a page is.
//!
//! A block, an unfollow, a suspension or a moderation decision takes effect at the next read, because
//! [`Context::viewer_access`] reads all facts strongly for each request and caches nothing.
//!
//! [`ViewerAccess::from_memory`] is the one exception: the caller passes in what it has in memory.
//! Home feeds do so, if the reader's relations are settled: they have the version that a strong read
//! has just returned, and were not read from an index that may have lagged. On the embedded store,
//! users and groups come from a cache that has applied the whole log. On other stores they are read
//! for the request, but not strongly, so that a suspension may show a moment later there.
//!
//! This module depends on no feature: a feature implements [`KnownRelations`] for what it holds.

use std::sync::Arc;

use futures::future::try_join_all;
use hashbrown::{HashMap, HashSet};
use roundtable_model::entities::{Comment, Follow, Group, GroupMember, Post, User};
use roundtable_model::{
    FollowStatus, GroupId, MemberStatus, ModerationStatus, Result, UserId, UserStatus, Visibility,
};

use crate::{Caller, Context};

/// A viewer's relations to users and groups, held in memory.
pub(crate) trait KnownRelations {
    /// Returns whether the viewer follows this user and was accepted.
    fn follows(&self, user: &UserId) -> bool;

    /// Returns whether the viewer blocked this user, or the other way round.
    fn is_blocked(&self, user: &UserId) -> bool;

    fn is_active_member(&self, group: &GroupId) -> bool;
}

/// One viewer's access to some users and groups.
#[derive(Debug, Default)]
pub struct ViewerAccess {
    viewer: Option<UserId>,
    staff: bool,
    people: HashMap<UserId, ViewedUser>,
    groups: HashMap<GroupId, ViewedGroup>,
}

/// A user in relation to the viewer.
#[derive(Debug)]
struct ViewedUser {
    profile: Arc<User>,
    /// The viewer's follow of this user, if it was read.
    edge: Option<Follow>,
    is_followed: bool,
    is_blocked: bool,
}

/// A group in relation to the viewer.
#[derive(Debug)]
struct ViewedGroup {
    group: Arc<Group>,
    /// The viewer's membership, if it was read.
    member: Option<GroupMember>,
    is_active: bool,
}

impl Context {
    /// Reads a viewer's access to these users and groups, each once.
    pub async fn viewer_access<'a>(
        &self,
        viewer: Option<&Caller>,
        people: impl IntoIterator<Item = &'a UserId>,
        groups: impl IntoIterator<Item = &'a GroupId>,
    ) -> Result<ViewerAccess> {
        let mut people: HashSet<&UserId> = people.into_iter().collect();
        people.extend(viewer.map(|viewer| &viewer.user_id));
        let access = self.read_facts(viewer, people, groups).await?;
        Ok(match viewer {
            Some(viewer) => access.for_viewer(viewer),
            None => access,
        })
    }

    /// As [`Context::viewer_access`], for a caller whose profile has already been read.
    pub(crate) async fn viewer_access_of<'a>(
        &self,
        caller: &Caller,
        profile: &User,
        people: impl IntoIterator<Item = &'a UserId>,
        groups: impl IntoIterator<Item = &'a GroupId>,
    ) -> Result<ViewerAccess> {
        let others = people.into_iter().filter(|id| **id != profile.id).collect();
        let mut access = self.read_facts(Some(caller), others, groups).await?;
        access.people.insert(profile.id.clone(), ViewedUser::stranger(Arc::new(profile.clone())));
        Ok(access.for_viewer(caller))
    }

    /// Reads the facts, before the viewer's own state is applied.
    async fn read_facts<'a>(
        &self,
        viewer: Option<&Caller>,
        people: HashSet<&UserId>,
        groups: impl IntoIterator<Item = &'a GroupId>,
    ) -> Result<ViewerAccess> {
        let groups: HashSet<&GroupId> = groups.into_iter().collect();
        let people: Vec<UserId> = people.into_iter().cloned().collect();
        let groups: Vec<GroupId> = groups.into_iter().cloned().collect();
        let (people, groups) =
            futures::future::try_join(self.people(viewer, people), self.groups(viewer, groups))
                .await?;
        Ok(ViewerAccess { viewer: None, staff: false, people, groups })
    }

    async fn people(
        &self,
        viewer: Option<&Caller>,
        ids: Vec<UserId>,
    ) -> Result<HashMap<UserId, ViewedUser>> {
        let core = self.core();
        let profiles = core.profiles(&ids).strong().get();
        let Some(Caller { user_id: me, .. }) = viewer else {
            let each = profiles.await?.into_iter().flatten();
            return Ok(each
                .map(|profile| (profile.id.clone(), ViewedUser::stranger(Arc::new(profile))))
                .collect());
        };
        let edges = try_join_all([core.blocked(me, &ids).get(), core.blocked_by(&ids, me).get()]);
        let follows = core.follows_among(me, &ids).strong().get();
        let (profiles, follows, edges) =
            futures::future::try_join3(profiles, follows, edges).await?;
        let mut blocks = edges.into_iter();
        let (mine, theirs) = (blocks.next().unwrap_or_default(), blocks.next().unwrap_or_default());
        let each = profiles.into_iter().zip(follows).zip(mine.into_iter().zip(theirs));
        let people = each.filter_map(|((profile, edge), (mine, theirs))| {
            let is_blocked = mine.is_some() || theirs.is_some();
            let is_active = |edge: &Follow| edge.status == FollowStatus::Active;
            let is_followed = edge.as_ref().is_some_and(is_active);
            let profile = Arc::new(profile?);
            Some((profile.id.clone(), ViewedUser { profile, edge, is_followed, is_blocked }))
        });
        Ok(people.collect())
    }

    async fn groups(
        &self,
        viewer: Option<&Caller>,
        ids: Vec<GroupId>,
    ) -> Result<HashMap<GroupId, ViewedGroup>> {
        let core = self.core();
        let groups = core.groups(&ids).strong().get();
        let (groups, members) = match viewer {
            Some(viewer) => {
                let members = core.memberships(&ids, &viewer.user_id).get();
                futures::future::try_join(groups, members).await?
            }
            None => (groups.await?, ids.iter().map(|_| None).collect()),
        };
        let each = groups.into_iter().zip(members);
        let existing = each.filter_map(|(group, member)| Some((group?, member)));
        Ok(existing
            .map(|(group, member)| (group.id.clone(), ViewedGroup::of(group, member)))
            .collect())
    }
}

impl ViewedUser {
    const fn stranger(profile: Arc<User>) -> Self {
        Self { profile, edge: None, is_followed: false, is_blocked: false }
    }
}

impl ViewedGroup {
    fn of(group: Group, member: Option<GroupMember>) -> Self {
        let is_active = member.as_ref().is_some_and(|member| member.status == MemberStatus::Active);
        Self { group: Arc::new(group), member, is_active }
    }
}

impl ViewerAccess {
    /// Derives access from relations, users and groups in memory, without a read. The relations
    /// must be as current as a strong read, and `people` must include the viewer.
    pub(crate) fn from_memory(
        relations: &impl KnownRelations,
        viewer: &Caller,
        people: HashMap<UserId, Arc<User>>,
        groups: HashMap<GroupId, Arc<Group>>,
    ) -> Self {
        let viewed_user = |(id, profile): (UserId, Arc<User>)| {
            let (is_followed, is_blocked) = (relations.follows(&id), relations.is_blocked(&id));
            (id, ViewedUser { profile, edge: None, is_followed, is_blocked })
        };
        let membership = |(id, group): (GroupId, Arc<Group>)| {
            let is_active = relations.is_active_member(&id);
            (id, ViewedGroup { group, member: None, is_active })
        };
        let people = people.into_iter().map(viewed_user).collect();
        let groups = groups.into_iter().map(membership).collect();
        Self { viewer: None, staff: false, people, groups }.for_viewer(viewer)
    }

    /// Applies the viewer's own state. A suspended or deleted viewer sees what a stranger does:
    /// their follows and memberships no longer grant access.
    fn for_viewer(mut self, viewer: &Caller) -> Self {
        let Caller { user_id, .. } = viewer;
        let status = self.people.get(user_id).map(|person| person.profile.status);
        match status {
            Some(UserStatus::Active) => {
                self.viewer = Some(user_id.clone());
                self.staff = viewer.moderates();
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
        for membership in self.groups.values_mut() {
            (membership.member, membership.is_active) = (None, false);
        }
    }

    /// Returns the user's profile if the viewer may see it.
    pub fn visible_user(&self, id: &UserId) -> Option<&User> {
        let person = self.people.get(id)?;
        let shown = match person.profile.status {
            UserStatus::Deleted => false,
            UserStatus::Active if !person.is_blocked => true,
            UserStatus::Active | UserStatus::Suspended => self.is_me(id) || self.staff,
        };
        shown.then_some(&person.profile)
    }

    /// Returns whether the viewer may see the user's content. A private account shows its lists and
    /// posts to accepted followers only.
    pub fn can_see_inside_user(&self, id: &UserId) -> bool {
        self.visible_user(id).is_some_and(|profile| {
            !profile.is_private || self.is_me(id) || self.follows(id) || self.staff
        })
    }

    /// Returns whether the viewer follows this user and was accepted.
    pub fn follows(&self, id: &UserId) -> bool {
        self.people.get(id).is_some_and(|person| person.is_followed)
    }

    /// The viewer's follow of this user, or their request to follow.
    pub(crate) fn follow_of(&self, id: &UserId) -> Option<&Follow> {
        self.people.get(id)?.edge.as_ref()
    }

    /// Returns whether the viewer blocked this user, or the other way round.
    pub fn is_blocked(&self, id: &UserId) -> bool {
        self.people.get(id).is_some_and(|person| person.is_blocked)
    }

    /// Returns the group if it exists: groups are visible to all viewers.
    pub fn visible_group(&self, id: &GroupId) -> Option<&Group> {
        self.groups.get(id).map(|membership| &*membership.group)
    }

    /// The viewer's own membership, in any status.
    pub fn membership(&self, id: &GroupId) -> Option<&GroupMember> {
        self.groups.get(id)?.member.as_ref()
    }

    /// Returns whether the viewer may see a group's content. A private group shows it to active
    /// members only.
    pub fn can_see_inside_group(&self, id: &GroupId) -> bool {
        self.groups.get(id).is_some_and(|one| !one.group.is_private || one.is_active || self.staff)
    }

    pub fn can_see_post(&self, post: &Post) -> bool {
        if post.is_deleted || self.visible_user(&post.author_id).is_none() {
            return false;
        }
        let mine = self.is_me(&post.author_id);
        if mine || self.staff {
            return true;
        }
        if post.moderation_status != ModerationStatus::Approved {
            return false;
        }
        match (&post.group_id, post.visibility) {
            (_, Visibility::Private) => false,
            (Some(group), _) => self.can_see_inside_group(group),
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
                || self.staff)
    }

    fn is_me(&self, id: &UserId) -> bool {
        self.viewer.as_ref() == Some(id)
    }
}
