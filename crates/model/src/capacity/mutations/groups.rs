//! Groups. Who is in them is `members`.

use super::counters::following;
use super::step::{Step, change, check, delete, put};
use super::{Mutation, together};
use crate::entities::{Group, GroupCounter};
use crate::samples;

pub(super) fn mutations() -> Vec<Mutation> {
    vec![create(), update(), delete_group()]
}

/// The count of rooms a group has: one, or none.
pub(super) const ROOMS: (&str, f64) = ("rooms", 1.0);

fn create() -> Mutation {
    Mutation::repeatable(
        "createGroup",
        [
            check(&samples::user()),
            put(&samples::group()),
            put(&samples::group_member()),
            put(&samples::group_counter()),
            following(),
            put(&samples::room()).times(ROOMS.0, ROOMS.1),
            put(&samples::room_head()).times(ROOMS.0, ROOMS.1),
            put(&samples::room_member()).times(ROOMS.0, ROOMS.1),
            put(&samples::tag_ref()).times("tags", 2.0),
        ],
    )
}

/// By somebody who still runs it. Another name or tag is also written where it is found by its tags.
fn update() -> Mutation {
    let before = samples::group();
    let description = before.description.as_ref().map(|text| format!("{text} Bring a lamp."));
    let after = Group { description, ..before.clone() };
    let tags = put(&samples::tag_ref()).times("tags", 0.0);
    Mutation::repeatable("updateGroup", [change(&before, &after), authority(), tags])
}

/// At once the group itself; members, posts, activities and the room follow in the background.
fn delete_group() -> Mutation {
    /// As many as the group of the samples has.
    const MEMBERS: (&str, f64) = ("members", 38.0);
    let own =
        [delete(&samples::group()), authority(), delete(&samples::tag_ref()).times("tags", 2.0)];
    let members =
        together([delete(&samples::group_member()).times(MEMBERS.0, MEMBERS.1), counted()]);
    Mutation::repeatable("deleteGroup", own).then(members).then([
        delete(&samples::group_counter()).together(),
        delete(&samples::activity()).times("activities", 50.0),
        delete(&samples::actor_head()),
        delete(&samples::room()).times(ROOMS.0, ROOMS.1),
        delete(&samples::room_head()).times(ROOMS.0, ROOMS.1),
        delete(&samples::room_member()).times(MEMBERS.0, MEMBERS.1),
        delete(&samples::message()).times("messages", 400.0),
    ])
}

/// One more active member, or one less.
pub(super) fn counted() -> Step {
    let before = samples::group_counter();
    change(&before, &GroupCounter { count: before.count + 1, ..before.clone() })
}

/// Whoever does it still runs the group.
pub(super) fn authority() -> Step {
    check(&samples::group_member())
}
