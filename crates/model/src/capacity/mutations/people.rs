//! Following and blocking.

use super::Mutation;
use super::counters::{followers, following, notice, unblocked};
use super::step::{absent, change, check, delete, put};
use crate::entities::Follow;
use crate::{FollowStatus, samples};

pub(super) fn mutations() -> Vec<Mutation> {
    vec![
        follow(),
        follow_asked(),
        unfollow(),
        accept(),
        reject(),
        block(),
        unblock(),
        update_follow(),
    ]
}

/// A follow that waits to be accepted: it counts for nothing yet.
fn asked() -> Follow {
    Follow { status: FollowStatus::Pending, active_since: None, ..samples::follow() }
}

/// Neither may have blocked the other, and the account is as private as it was.
fn follow() -> Mutation {
    let own = [put(&samples::follow()), following(), followers(), check(&samples::user())];
    Mutation::repeatable("followUser", own.into_iter().chain(unblocked())).then(notice())
}

/// Of a private account.
fn follow_asked() -> Mutation {
    let own = [put(&asked()), check(&samples::user())];
    Mutation::repeatable("followUserAsked", own.into_iter().chain(unblocked())).then(notice())
}

fn unfollow() -> Mutation {
    Mutation::repeatable("unfollowUser", [delete(&samples::follow()), following(), followers()])
}

fn accept() -> Mutation {
    let own = [change(&asked(), &samples::follow()), following(), followers()];
    Mutation::repeatable("acceptFollower", own).then(notice())
}

fn reject() -> Mutation {
    Mutation::repeatable("rejectFollower", [delete(&asked())])
}

fn block() -> Mutation {
    /// How many of the two follows there were, and how many not.
    const FOLLOWS: (&str, f64) = ("follows", 1.0);
    const NO_FOLLOWS: (&str, f64) = ("no_follows", 1.0);
    Mutation::repeatable(
        "blockUser",
        [
            put(&samples::block()),
            check(&samples::user()),
            // Both circles change, whoever followed whom.
            following(),
            following(),
            delete(&samples::follow()).times(FOLLOWS.0, FOLLOWS.1),
            followers().times(FOLLOWS.0, FOLLOWS.1),
            absent::<Follow>().times(NO_FOLLOWS.0, NO_FOLLOWS.1),
        ],
    )
}

fn unblock() -> Mutation {
    Mutation::repeatable("unblockUser", [delete(&samples::block()), following(), following()])
}

/// A follow that is muted or heard again changes the circle; one that is only quieter does not.
fn update_follow() -> Mutation {
    let before = samples::follow();
    let after = Follow { muted: !before.muted, ..before.clone() };
    Mutation::repeatable("updateFollow", [change(&before, &after), following().times("mutes", 1.0)])
}
