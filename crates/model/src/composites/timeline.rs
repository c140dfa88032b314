//! A user's entities of all kinds in one order.

use roundtable_table::Item;

use super::merged::{MergedListing, MergedPage};
use crate::entities::{
    Comment, Follow, Goal, GroupMember, Like, Message, Milestone, Post, Quest, Task, User,
};
use crate::entity::{TYPE, key_of};
use crate::error::display_key;
use crate::shape::PatternShape;
use crate::{Core, Entity, EntityKind, Error, FromItem, Result, UserId};

macro_rules! entries {
    ($($kind:ident of $entity:ident;)*) => {
        /// An entity in a user's timeline.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(clippy::large_enum_variant, reason = "a page has a hundred at the most")]
        pub enum TimelineEntry {
            $($kind($entity),)*
        }

        impl TimelineEntry {
            pub const fn kind(&self) -> EntityKind {
                match self {
                    $(Self::$kind(_) => EntityKind::$kind,)*
                }
            }

            fn from_item(item: &Item) -> Result<Self> {
                match item.text(TYPE) {
                    $(Some(name) if name == $entity::SHAPE.name => {
                        Ok(Self::$kind($entity::from_item(item)?))
                    })*
                    other => Err(Error::UnexpectedType {
                        entity: "an entity of a timeline",
                        key: display_key(&key_of(item)),
                        found: other.unwrap_or("an item without a type").to_owned(),
                    }),
                }
            }
        }

        /// Returns the kind of entity that a pattern of the timeline returns.
        fn kind_of(pattern: &PatternShape) -> Option<EntityKind> {
            $(if pattern.entity == $entity::SHAPE.name {
                return Some(EntityKind::$kind);
            })*
            None
        }
    };
}

entries! {
    User of User;
    Follow of Follow;
    Group of GroupMember;
    Goal of Goal;
    Task of Task;
    Milestone of Milestone;
    Quest of Quest;
    Post of Post;
    Comment of Comment;
    Like of Like;
    Message of Message;
}

/// A query for a user's entities of several kinds.
pub type EntityTimeline<'a> = MergedListing<'a, TimelineEntry>;

pub type TimelinePage = MergedPage<TimelineEntry>;

pub(super) fn of<'a>(core: &'a Core, user: &UserId, kinds: &[EntityKind]) -> EntityTimeline<'a> {
    let wanted =
        |pattern: &PatternShape| kind_of(pattern).is_some_and(|kind| kinds.contains(&kind));
    MergedListing::new(core, "entity_timeline", user, wanted, TimelineEntry::from_item)
}
