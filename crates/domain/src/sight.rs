//! What a viewer may see, worked out from facts read in a few batches, whatever the length of a page.
//!
//! Nothing here is cached: a block, an unfollow, a suspension or a decision takes effect at the next
//! read.

use std::sync::Arc;

use futures::future::try_join_all;
use hashbrown::{HashMap, HashSet};
use roundtable_model::entities::{Comment, Follow, Group, GroupMember, Post, User};
use roundtable_model::{
    FollowStatus, GroupId, MemberStatus, ModerationStatus, Result, UserId, UserStatus, Visibility,
};

use crate::feeds::Circle;
use crate::{Caller, Ground};

/// What one viewer may see of some people and groups.
#[derive(Debug, Default)]
pub struct Sight {
    viewer: Option<UserId>,
    staff: bool,
    people: HashMap<UserId, Person>,
    groups: HashMap<GroupId, Membership>,
}

/// A person, as the viewer stands to them.
#[derive(Debug)]
struct Person {
    profile: Arc<User>,
    /// The viewer's follow, where it was read.
    edge: Option<Follow>,
    is_followed: bool,
    is_blocked: bool,
}

/// A group, as the viewer stands to it.
#[derive(Debug)]
struct Membership {
    group: Arc<Group>,
    /// The viewer's membership, where it was read.
    member: Option<GroupMember>,
    is_active: bool,
}

impl Ground {
    /// Works out what `viewer` may see of these people and groups, each read once.
    pub async fn sight<'a>(
        &self,
        viewer: Option<&Caller>,
        people: impl IntoIterator<Item = &'a UserId>,
        groups: impl IntoIterator<Item = &'a GroupId>,
    ) -> Result<Sight> {
        let mut people: HashSet<&UserId> = people.into_iter().collect();
        people.extend(viewer.map(|viewer| &viewer.user_id));
        let sight = self.looked_at(viewer, people, groups).await?;
        Ok(match viewer {
            Some(viewer) => sight.through(viewer),
            None => sight,
        })
    }

    /// As [`Ground::sight`], for a caller whose profile has been read for this request.
    pub(crate) async fn sight_of<'a>(
        &self,
        caller: &Caller,
        profile: &User,
        people: impl IntoIterator<Item = &'a UserId>,
        groups: impl IntoIterator<Item = &'a GroupId>,
    ) -> Result<Sight> {
        let others = people.into_iter().filter(|id| **id != profile.id).collect();
        let mut sight = self.looked_at(Some(caller), others, groups).await?;
        sight.people.insert(profile.id.clone(), Person::stranger(Arc::new(profile.clone())));
        Ok(sight.through(caller))
    }

    /// The facts, before anybody looks at them.
    async fn looked_at<'a>(
        &self,
        viewer: Option<&Caller>,
        people: HashSet<&UserId>,
        groups: impl IntoIterator<Item = &'a GroupId>,
    ) -> Result<Sight> {
        let groups: HashSet<&GroupId> = groups.into_iter().collect();
        let people: Vec<UserId> = people.into_iter().cloned().collect();
        let groups: Vec<GroupId> = groups.into_iter().cloned().collect();
        let (people, groups) =
            futures::future::try_join(self.people(viewer, people), self.groups(viewer, groups))
                .await?;
        Ok(Sight { viewer: None, staff: false, people, groups })
    }

    async fn people(
        &self,
        viewer: Option<&Caller>,
        ids: Vec<UserId>,
    ) -> Result<HashMap<UserId, Person>> {
        let core = self.core();
        let profiles = core.profiles(&ids).strong().get();
        let Some(Caller { user_id: me, .. }) = viewer else {
            let each = profiles.await?.into_iter().flatten();
            return Ok(each
                .map(|profile| (profile.id.clone(), Person::stranger(Arc::new(profile))))
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
            Some((profile.id.clone(), Person { profile, edge, is_followed, is_blocked }))
        });
        Ok(people.collect())
    }

    async fn groups(
        &self,
        viewer: Option<&Caller>,
        ids: Vec<GroupId>,
    ) -> Result<HashMap<GroupId, Membership>> {
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
        let known = each.filter_map(|(group, member)| Some((group?, member)));
        Ok(known.map(|(group, member)| (group.id.clone(), Membership::of(group, member))).collect())
    }
}

impl Person {
    const fn stranger(profile: Arc<User>) -> Self {
        Self { profile, edge: None, is_followed: false, is_blocked: false }
    }
}

impl Membership {
    fn of(group: Group, member: Option<GroupMember>) -> Self {
        let is_active = member.as_ref().is_some_and(|member| member.status == MemberStatus::Active);
        Self { group: Arc::new(group), member, is_active }
    }
}

impl Sight {
    /// What a reader may see of people and groups that are known, by their circle.
    pub(crate) fn within(
        circle: &Circle,
        viewer: &Caller,
        people: HashMap<UserId, Arc<User>>,
        groups: HashMap<GroupId, Arc<Group>>,
    ) -> Self {
        let person = |(id, profile): (UserId, Arc<User>)| {
            let (is_followed, is_blocked) = (circle.follows(&id), circle.blocked.contains(&id));
            (id, Person { profile, edge: None, is_followed, is_blocked })
        };
        let membership = |(id, group): (GroupId, Arc<Group>)| {
            let is_active = circle.groups.contains(&id);
            (id, Membership { group, member: None, is_active })
        };
        let people = people.into_iter().map(person).collect();
        let groups = groups.into_iter().map(membership).collect();
        Self { viewer: None, staff: false, people, groups }.through(viewer)
    }

    /// As this viewer sees it. Whoever is suspended or gone sees what a stranger does: what follows and
    /// memberships opened to them is closed.
    fn through(mut self, viewer: &Caller) -> Self {
        let Caller { user_id, .. } = viewer;
        let status = self.people.get(user_id).map(|person| person.profile.status);
        match status {
            Some(UserStatus::Active) => {
                self.viewer = Some(user_id.clone());
                self.staff = viewer.moderates();
            }
            // Their own profile still tells them that they are suspended.
            Some(UserStatus::Suspended) => {
                self.viewer = Some(user_id.clone());
                self.forget_ties();
            }
            Some(UserStatus::Deleted) | None => self.forget_ties(),
        }
        self
    }

    fn forget_ties(&mut self) {
        self.people.values_mut().for_each(|person| person.is_followed = false);
        for membership in self.groups.values_mut() {
            (membership.member, membership.is_active) = (None, false);
        }
    }

    /// The profile of a person the viewer may see.
    pub fn person(&self, id: &UserId) -> Option<&User> {
        let person = self.people.get(id)?;
        let shown = match person.profile.status {
            UserStatus::Deleted => false,
            UserStatus::Active if !person.is_blocked => true,
            UserStatus::Active | UserStatus::Suspended => self.is_me(id) || self.staff,
        };
        shown.then_some(&person.profile)
    }

    /// Whether the viewer may see what this person shows to whoever may see the profile in full: a
    /// private account's lists and posts are for its accepted followers.
    pub fn sees_inside(&self, id: &UserId) -> bool {
        self.person(id).is_some_and(|profile| {
            !profile.is_private || self.is_me(id) || self.follows(id) || self.staff
        })
    }

    /// Whether the viewer follows this person, and was accepted.
    pub fn follows(&self, id: &UserId) -> bool {
        self.people.get(id).is_some_and(|person| person.is_followed)
    }

    /// The viewer's follow of this person, or the request for one.
    pub(crate) fn edge(&self, id: &UserId) -> Option<&Follow> {
        self.people.get(id)?.edge.as_ref()
    }

    /// Whether one of the two has blocked the other.
    pub fn is_blocked(&self, id: &UserId) -> bool {
        self.people.get(id).is_some_and(|person| person.is_blocked)
    }

    /// A group the viewer may see: every group shows that it is there.
    pub fn group(&self, id: &GroupId) -> Option<&Group> {
        self.groups.get(id).map(|membership| &*membership.group)
    }

    /// The viewer's own membership, whatever its status.
    pub fn membership(&self, id: &GroupId) -> Option<&GroupMember> {
        self.groups.get(id)?.member.as_ref()
    }

    /// Whether the viewer may see what is inside a group: a private one is for its active members.
    pub fn sees_inside_group(&self, id: &GroupId) -> bool {
        self.groups.get(id).is_some_and(|one| !one.group.is_private || one.is_active || self.staff)
    }

    /// Whether the viewer may see a post.
    pub fn post(&self, post: &Post) -> bool {
        if post.is_deleted || self.person(&post.author_id).is_none() {
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
            (Some(group), _) => self.sees_inside_group(group),
            (None, Visibility::Public) => self.sees_inside(&post.author_id),
            (None, Visibility::Followers) => self.follows(&post.author_id),
        }
    }

    /// Whether the viewer may see a comment on a post that they may see.
    pub fn comment(&self, comment: &Comment) -> bool {
        !comment.is_deleted
            && self.person(&comment.user_id).is_some()
            && (comment.moderation_status == ModerationStatus::Approved
                || self.is_me(&comment.user_id)
                || self.staff)
    }

    fn is_me(&self, id: &UserId) -> bool {
        self.viewer.as_ref() == Some(id)
    }
}
