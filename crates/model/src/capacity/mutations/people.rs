//! Following and blocking.

use super::Mutation;
use super::counters::{followers, following, notice};
use super::step::{change, delete, put};
use crate::entities::Follow;
use crate::{FollowStatus, samples};

pub(super) fn mutations() -> Vec<Mutation> {
    vec![follow(), unfollow(), accept(), block()]
}

fn follow() -> Mutation {
    Mutation::new("followUser", [put(&samples::follow()), following(), followers()]).then(notice())
}

fn unfollow() -> Mutation {
    Mutation::new("unfollowUser", [delete(&samples::follow()), following(), followers()])
}

fn accept() -> Mutation {
    let active = samples::follow();
    let pending = Follow { status: FollowStatus::Pending, active_since: None, ..active.clone() };
    Mutation::new("acceptFollower", [change(&pending, &active), following(), followers()])
        .then(notice())
}

fn block() -> Mutation {
    /// How many of the two follows there were.
    const FOLLOWS: (&str, f64) = ("follows", 1.0);
    Mutation::new(
        "blockUser",
        [
            put(&samples::block()),
            delete(&samples::follow()).times(FOLLOWS.0, FOLLOWS.1),
            followers().times(FOLLOWS.0, FOLLOWS.1),
            // Both circles change, whoever followed whom.
            following(),
            following(),
        ],
    )
}
