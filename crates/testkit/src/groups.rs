//! Groups, blocks and mutes of a town.

use roundtable_domain::{Blocks, Groups, Mutes, NewGroup};
use roundtable_model::entities::{Block, Follow, Group, GroupMember, Mute, User, UserCounter};
use roundtable_model::{GroupId, GroupRole, Shard, Shards, UserCount, UserStatus, rekey};

use crate::Town;

impl Town {
    pub fn blocks(&self) -> Blocks {
        Blocks::new(self.context().clone())
    }

    pub async fn block(&self, blocker: &str, blocked: &str) -> Block {
        let (blocker, blocked) = (self.caller(blocker), self.id(blocked));
        self.blocks().block(&blocker, &blocked, None).await.unwrap()
    }

    pub fn mutes(&self) -> Mutes {
        Mutes::new(self.context().clone())
    }

    /// Mutes a user without an end.
    pub async fn mute(&self, muter: &str, muted: &str) -> Mute {
        let (muter, muted) = (self.caller(muter), self.id(muted));
        self.mutes().mute(&muter, &muted, None, None).await.unwrap()
    }

    /// Spreads the followers of a user over more partitions, as a processor does for large accounts.
    pub async fn grow_follower_shards(&self, name: &str, shards: Shards) {
        let patch = User::at(&self.id(name)).patch().set(User::FOLLOWER_SHARDS, &shards);
        self.context().core().table().update(patch.into()).await.unwrap();
    }

    /// Mutes a followee as earlier versions did.
    pub async fn mute_in_follow(&self, muter: &str, muted: &str) {
        let patch = Follow::at(&self.id(muter), &self.id(muted)).patch().set(Follow::MUTED, &true);
        let core = self.context().core();
        core.table().update(patch.into()).await.unwrap();
        let raised = UserCounter::at(&self.id(muter), &UserCount::Following, &Shard::ZERO).patch();
        core.table().update(raised.add(UserCounter::VERSION, 1).into()).await.unwrap();
    }

    pub fn groups(&self) -> Groups {
        Groups::new(self.context().clone())
    }

    /// Creates a public group.
    pub async fn create_group(&self, owner: &str, name: &str) -> GroupId {
        let group = NewGroup::named(name);
        self.groups().create(&self.caller(owner), group, None).await.unwrap().id
    }

    pub async fn create_private_group(&self, owner: &str, name: &str) -> GroupId {
        let group = NewGroup { is_private: true, ..NewGroup::named(name) };
        self.groups().create(&self.caller(owner), group, None).await.unwrap().id
    }

    /// Archives a group directly, as if it had been idle.
    pub async fn archive_group(&self, group: &GroupId) {
        let patch = Group::at(group).patch().set(Group::ARCHIVED_AT, &Some(self.now()));
        self.context().core().table().update(patch.into()).await.unwrap();
    }

    /// Joins a group, or requests to join a private one.
    pub async fn join(&self, name: &str, group: &GroupId) -> GroupMember {
        self.groups().join(&self.caller(name), group, None).await.unwrap()
    }

    pub async fn set_group_role(&self, owner: &str, group: &GroupId, name: &str, role: GroupRole) {
        let (owner, name) = (self.caller(owner), self.id(name));
        self.groups().set_role(&owner, group, &name, role, None).await.unwrap();
    }

    /// Writes the status of an account directly; names and content stay as they are.
    pub async fn set_status(&self, name: &str, status: UserStatus) {
        let core = self.context().core();
        let before = core.profile(&self.id(name)).strong().get().await.unwrap().unwrap();
        let after = User { status, ..before.clone() };
        core.table().update(rekey(&before, &after).unwrap()).await.unwrap();
    }

    /// Returns the number of changes of a user's circle.
    pub async fn circle_version(&self, name: &str) -> u64 {
        let (user, following) = (self.id(name), [UserCount::Following]);
        let counts = self.context().core().counts(&user, &following, Shards::ONE);
        let counter = counts.strong().get().await.unwrap().into_iter().flatten().next();
        counter.and_then(|counter| counter.version).unwrap_or(0)
    }
}
