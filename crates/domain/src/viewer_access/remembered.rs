//! Access from memory: by relations that are known, and users and groups that are cached.

use std::sync::Arc;

use futures::future::try_join;
use hashbrown::{HashMap, HashSet};
use roundtable_model::entities::{Group, User};
use roundtable_model::{GroupId, Result, UserId};

use super::{ViewedGroup, ViewedUser, ViewerAccess};
use crate::memory::EntityMemory;
use crate::{Caller, Context, Roles};

/// A viewer's relations to users and groups, held in memory.
pub(crate) trait KnownRelations {
    /// Returns whether the viewer follows this user and was accepted.
    fn follows(&self, user: &UserId) -> bool;

    /// Returns whether the viewer blocked this user, or the other way round.
    fn is_blocked(&self, user: &UserId) -> bool;

    fn is_active_member(&self, group: &GroupId) -> bool;
}

impl Context {
    /// Returns a viewer's access from memory; `None` if that is not exact, or if the viewer's circle is
    /// not there. Admins see more of a profile than memory holds.
    pub(super) async fn remembered_access(
        &self,
        viewer: Option<&Caller>,
        people: &HashSet<&UserId>,
        groups: &HashSet<&GroupId>,
    ) -> Result<Option<ViewerAccess>> {
        if viewer.is_some_and(|viewer| viewer.roles.admin) {
            return Ok(None);
        }
        let Some(memory) = self.exact_memory().await else { return Ok(None) };
        let (people, groups) = (people.iter().copied().cloned(), groups.iter().copied().cloned());
        let Some(viewer) = viewer else {
            let (people, groups): (Vec<_>, Vec<_>) = (people.collect(), groups.collect());
            let (people, groups) =
                try_join(memory.people(self, &people), memory.groups(self, &groups)).await?;
            return Ok(Some(ViewerAccess::of_stranger(people, groups)));
        };
        let Some(circle) = memory.circles().cached(self, &viewer.user_id).await? else {
            return Ok(None);
        };
        let own = self.core().profile(&viewer.user_id).strong().get().await?.map(Arc::new);
        let access = self.access_by_relations(memory, &*circle, (viewer, own), people, groups);
        Ok(Some(access.await?))
    }

    /// Returns the access of a viewer, whose own profile has just been read, by relations that are held
    /// in memory and as current as a strong read. Users and groups come from `memory`, too.
    pub(crate) async fn access_by_relations(
        &self,
        memory: &EntityMemory,
        relations: &impl KnownRelations,
        (viewer, own): (&Caller, Option<Arc<User>>),
        people: impl IntoIterator<Item = UserId>,
        groups: impl IntoIterator<Item = GroupId>,
    ) -> Result<ViewerAccess> {
        let others: Vec<UserId> = people.into_iter().filter(|id| *id != viewer.user_id).collect();
        let groups: Vec<GroupId> = groups.into_iter().collect();
        let (mut people, groups) =
            try_join(memory.people(self, &others), memory.groups(self, &groups)).await?;
        people.extend(own.map(|own| (viewer.user_id.clone(), own)));
        Ok(ViewerAccess::by_relations(relations, viewer, people, groups))
    }
}

impl ViewerAccess {
    /// Derives access from relations, users and groups. `people` must include the viewer.
    fn by_relations(
        relations: &impl KnownRelations,
        viewer: &Caller,
        people: HashMap<UserId, Arc<User>>,
        groups: HashMap<GroupId, Arc<Group>>,
    ) -> Self {
        let viewed_user = |(id, profile): (UserId, Arc<User>)| {
            // A circle also has its reader, who does not follow themselves.
            let is_followed = id != viewer.user_id && relations.follows(&id);
            let is_blocked = relations.is_blocked(&id);
            (id, ViewedUser { profile, is_followed, is_blocked })
        };
        let membership = |(id, group): (GroupId, Arc<Group>)| {
            let is_active = relations.is_active_member(&id);
            (id, ViewedGroup { group, is_active })
        };
        let people = people.into_iter().map(viewed_user).collect();
        let groups = groups.into_iter().map(membership).collect();
        Self { viewer: None, roles: Roles::default(), people, groups }.for_viewer(viewer)
    }

    /// Derives the access of an anonymous viewer from users and groups in memory.
    fn of_stranger(
        people: HashMap<UserId, Arc<User>>,
        groups: HashMap<GroupId, Arc<Group>>,
    ) -> Self {
        let viewed_user = |(id, profile)| (id, ViewedUser::stranger(profile));
        let viewed_group = |(id, group)| (id, ViewedGroup { group, is_active: false });
        Self {
            viewer: None,
            roles: Roles::default(),
            people: people.into_iter().map(viewed_user).collect(),
            groups: groups.into_iter().map(viewed_group).collect(),
        }
    }
}
