//! Groups. Their members are in `members`.

use roundtable_model::entities::{Group, GroupCounter};
use roundtable_model::samples;

use super::counters::following;
use super::step::{MutationStep, change, check, delete, put};
use super::{MutationWrites, in_transaction};

pub(super) fn mutations() -> Vec<MutationWrites> {
    vec![create(), update(), delete_group()]
}

/// A group has one room, or none.
pub(super) const ROOMS: (&str, f64) = ("rooms", 1.0);

fn create() -> MutationWrites {
    MutationWrites::idempotent(
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

/// Checks that the caller still manages the group. A changed name or tag is also written to the tag
/// references.
fn update() -> MutationWrites {
    let before = samples::group();
    let description = before.description.as_ref().map(|text| format!("{text} Bring a lamp."));
    let after = Group { description, ..before.clone() };
    let tags = put(&samples::tag_ref()).times("tags", 0.0);
    MutationWrites::idempotent("updateGroup", [change(&before, &after), check_manager(), tags])
}

/// Deletes the group itself; members, posts, activities and the room follow in the background.
fn delete_group() -> MutationWrites {
    const MEMBERS: (&str, f64) = ("members", 38.0);
    let own = [
        delete(&samples::group()),
        check_manager(),
        delete(&samples::tag_ref()).times("tags", 2.0),
    ];
    let members = in_transaction([
        delete(&samples::group_member()).times(MEMBERS.0, MEMBERS.1),
        count_member(),
    ]);
    MutationWrites::idempotent("deleteGroup", own).then_derived(members).then_derived([
        delete(&samples::group_counter()).in_transaction(),
        delete(&samples::activity()).times("activities", 50.0),
        delete(&samples::actor_head()),
        delete(&samples::room()).times(ROOMS.0, ROOMS.1),
        delete(&samples::room_head()).times(ROOMS.0, ROOMS.1),
        delete(&samples::room_member()).times(MEMBERS.0, MEMBERS.1),
        delete(&samples::message()).times("messages", 400.0),
    ])
}

/// One active member more or less.
pub(super) fn count_member() -> MutationStep {
    let before = samples::group_counter();
    change(&before, &GroupCounter { count: before.count + 1, ..before.clone() })
}

/// Checks that the caller still manages the group.
pub(super) fn check_manager() -> MutationStep {
    check(&samples::group_member())
}
