//! Groups and blocks of a town.

use roundtable_domain::{Blocks, Groups, NewGroup};
use roundtable_model::entities::{Block, GroupMember, User};
use roundtable_model::{GroupId, GroupRole, Shards, UserCount, UserStatus, rekey};

use crate::Town;

impl Town {
    /// The blocks of this town.
    pub fn blocks(&self) -> Blocks {
        Blocks::new(self.ground().clone())
    }

    /// One blocks the other.
    pub async fn block(&self, blocker: &str, blocked: &str) -> Block {
        let (blocker, blocked) = (self.caller(blocker), self.id(blocked));
        self.blocks().block(&blocker, &blocked, None).await.unwrap()
    }

    /// The groups of this town.
    pub fn groups(&self) -> Groups {
        Groups::new(self.ground().clone())
    }

    /// Somebody founds a group for everybody.
    pub async fn found(&self, owner: &str, name: &str) -> GroupId {
        let group = NewGroup::named(name);
        self.groups().create(&self.caller(owner), group, None).await.unwrap().id
    }

    /// Somebody founds a group that others must ask to join.
    pub async fn found_private(&self, owner: &str, name: &str) -> GroupId {
        let group = NewGroup { is_private: true, ..NewGroup::named(name) };
        self.groups().create(&self.caller(owner), group, None).await.unwrap().id
    }

    /// Somebody joins a group, or asks to.
    pub async fn join(&self, name: &str, group: &GroupId) -> GroupMember {
        self.groups().join(&self.caller(name), group, None).await.unwrap()
    }

    /// Somebody who owns a group gives another one a role in it.
    pub async fn appoint(&self, owner: &str, group: &GroupId, name: &str, role: GroupRole) {
        let (owner, name) = (self.caller(owner), self.id(name));
        self.groups().set_role(&owner, group, &name, role, None).await.unwrap();
    }

    /// What becomes of somebody's account; their names and what they did stay as they are.
    pub async fn set_status(&self, name: &str, status: UserStatus) {
        let core = self.ground().core();
        let before = core.profile(&self.id(name)).strong().get().await.unwrap().unwrap();
        let after = User { status, ..before.clone() };
        core.table().update(rekey(&before, &after).unwrap()).await.unwrap();
    }

    /// How often somebody's circle has changed.
    pub async fn circle_version(&self, name: &str) -> u64 {
        let (user, following) = (self.id(name), [UserCount::Following]);
        let counts = self.ground().core().counts(&user, &following, Shards::ONE);
        let counter = counts.strong().get().await.unwrap().into_iter().flatten().next();
        counter.and_then(|counter| counter.version).unwrap_or(0)
    }
}
