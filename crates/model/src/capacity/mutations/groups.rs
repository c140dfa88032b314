//! Groups and who is in them.

use super::Mutation;
use super::counters::following;
use super::step::{Step, change, check, delete, put};
use crate::entities::GroupCounter;
use crate::samples;

pub(super) fn mutations() -> Vec<Mutation> {
    vec![create(), join(), leave()]
}

/// The count of rooms a group has: one, or none.
const ROOMS: (&str, f64) = ("rooms", 1.0);

fn create() -> Mutation {
    Mutation::new(
        "createGroup",
        [
            put(&samples::group()),
            put(&samples::group_member()),
            put(&samples::group_counter()),
            following(),
            put(&samples::room()),
            put(&samples::room_head()),
            put(&samples::room_member()),
            put(&samples::tag_ref()).times("tags", 2.0),
        ],
    )
}

fn join() -> Mutation {
    Mutation::new(
        "joinGroup",
        [
            check(&samples::group()),
            put(&samples::group_member()),
            counted(),
            following(),
            put(&samples::room_member()).times(ROOMS.0, ROOMS.1),
        ],
    )
}

fn leave() -> Mutation {
    Mutation::new(
        "leaveGroup",
        [
            check(&samples::group()),
            delete(&samples::group_member()),
            counted(),
            following(),
            delete(&samples::room_member()).times(ROOMS.0, ROOMS.1),
        ],
    )
}

fn counted() -> Step {
    let before = samples::group_counter();
    change(&before, &GroupCounter { count: before.count + 1, ..before.clone() })
}
