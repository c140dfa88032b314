//! Owners: the users, groups, posts and other objects that items belong to and are removed with.

use crate::entities::{AssistThread, Company, Goal, Group, Post, Room, User};
use crate::shape::{EntityShape, KeyShape};
use crate::{
    ActorId, CompanyId, Entity, GoalId, GroupId, PostId, RoomId, SCHEMA, ThreadId, UserId,
};

/// A kind of object that items can belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OwnerKind {
    User,
    Group,
    /// A user or a group.
    Actor,
    Post,
    Goal,
    Room,
    Thread,
    Company,
}

impl OwnerKind {
    pub const ALL: [Self; 8] = [
        Self::User,
        Self::Group,
        Self::Actor,
        Self::Post,
        Self::Goal,
        Self::Room,
        Self::Thread,
        Self::Company,
    ];

    /// Returns its name, for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Group => "group",
            Self::Actor => "user or group",
            Self::Post => "post",
            Self::Goal => "goal",
            Self::Room => "room",
            Self::Thread => "assist thread",
            Self::Company => "company",
        }
    }

    /// Returns the entity of the owners; `None` for actors, which are of two entities.
    pub const fn entity(self) -> Option<&'static EntityShape> {
        Some(match self {
            Self::User => User::SHAPE,
            Self::Group => Group::SHAPE,
            Self::Actor => return None,
            Self::Post => Post::SHAPE,
            Self::Goal => Goal::SHAPE,
            Self::Room => Room::SHAPE,
            Self::Thread => AssistThread::SHAPE,
            Self::Company => Company::SHAPE,
        })
    }

    /// Returns every entity whose items belong to such owners, with each key that lists the items of
    /// one owner.
    pub fn belongings(self) -> impl Iterator<Item = (&'static EntityShape, &'static KeyShape)> {
        SCHEMA.iter().flat_map(|table| table.entities).flat_map(move |entity| {
            let owners = entity.owners.iter().filter(move |owner| owner.kind == self);
            owners.filter_map(|owner| Some((*entity, entity.keys.get(owner.key)?)))
        })
    }
}

/// The id of an owner.
#[diagnostic::on_unimplemented(message = "`{Self}` names no owner: see `OwnerKind`")]
pub trait OwnerId {
    const KIND: OwnerKind;
}

macro_rules! owner_ids {
    ($($id:ident => $kind:ident),*) => {
        $(impl OwnerId for $id {
            const KIND: OwnerKind = OwnerKind::$kind;
        })*
    };
}

owner_ids! {
    UserId => User, GroupId => Group, ActorId => Actor, PostId => Post, GoalId => Goal,
    RoomId => Room, ThreadId => Thread, CompanyId => Company
}

/// Returns the kind of owner that a field names.
#[doc(hidden)]
pub const fn owner_kind<E, T: OwnerId>(_: fn(&E) -> &T) -> OwnerKind {
    T::KIND
}
