//! Owners: the users, groups, posts and other objects that items belong to and are removed with.

use crate::entities::{AssistThread, Company, Goal, Group, Post, Room, User};
use crate::shape::{EntityShape, KeyShape};
use crate::{ActorId, CompanyId, Core, Entity, GoalId, GroupId, PostId, RoomId, ThreadId, UserId};

/// The id of an owner.
#[diagnostic::on_unimplemented(message = "`{Self}` names no owner: see `OwnerKind`")]
pub trait OwnerId {
    const KIND: OwnerKind;
}

/// Defines the kinds of owners: each with its id, its name in messages, and its entity.
macro_rules! owners {
    ($($(#[$doc:meta])* $kind:ident($id:ident), $name:literal, $entity:expr;)*) => {
        /// A kind of object that items can belong to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum OwnerKind {
            $($(#[$doc])* $kind,)*
        }

        impl OwnerKind {
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Returns its name, for messages.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Returns the type of its ids.
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($id),)*
                }
            }

            /// Returns the entity of the owners; `None` for actors, which are of two entities.
            pub const fn entity(self) -> Option<&'static EntityShape> {
                match self {
                    $(Self::$kind => $entity,)*
                }
            }
        }

        $(impl OwnerId for $id {
            const KIND: OwnerKind = OwnerKind::$kind;
        })*
    };
}

owners! {
    User(UserId), "user", Some(User::SHAPE);
    Group(GroupId), "group", Some(Group::SHAPE);
    /// A user or a group.
    Actor(ActorId), "user or group", None;
    Post(PostId), "post", Some(Post::SHAPE);
    Goal(GoalId), "goal", Some(Goal::SHAPE);
    Room(RoomId), "room", Some(Room::SHAPE);
    Thread(ThreadId), "assist thread", Some(AssistThread::SHAPE);
    Company(CompanyId), "company", Some(Company::SHAPE);
}

impl OwnerKind {
    /// Returns every entity whose items belong to such owners, with each key that lists the items of
    /// one owner.
    pub fn belongings(self) -> impl Iterator<Item = (&'static EntityShape, &'static KeyShape)> {
        Core::SHAPE.entities.iter().flat_map(move |entity| {
            let owners = entity.owners.iter().filter(move |owner| owner.kind == self);
            owners
                .flat_map(|owner| owner.keys)
                .filter_map(|key| Some((*entity, entity.keys.get(*key)?)))
        })
    }
}

/// Returns the kind of owner that a field names.
#[doc(hidden)]
pub const fn owner_kind<E, T: OwnerId>(_: fn(&E) -> &T) -> OwnerKind {
    T::KIND
}
