//! Following and blocking.

use roundtable_model::entities::Follow;
use roundtable_model::{FollowStatus, samples};

use super::MutationWrites;
use super::counters::{followers, following, no_blocks, notification};
use super::step::{absent, change, check, delete, put};

pub(super) fn mutations() -> Vec<MutationWrites> {
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

/// A follow request, which no counter counts yet.
fn pending_follow() -> Follow {
    Follow { status: FollowStatus::Pending, active_since: None, ..samples::follow() }
}

/// Checks that neither user has blocked the other, and that the account is still public.
fn follow() -> MutationWrites {
    let own = [put(&samples::follow()), following(), followers(), check(&samples::user())];
    MutationWrites::idempotent("followUser", own.into_iter().chain(no_blocks()))
        .then_derived(notification())
}

/// A follow request to a private account.
fn follow_asked() -> MutationWrites {
    let own = [put(&pending_follow()), check(&samples::user())];
    MutationWrites::idempotent("followUserAsked", own.into_iter().chain(no_blocks()))
        .then_derived(notification())
}

fn unfollow() -> MutationWrites {
    MutationWrites::idempotent(
        "unfollowUser",
        [delete(&samples::follow()), following(), followers()],
    )
}

fn accept() -> MutationWrites {
    let own = [change(&pending_follow(), &samples::follow()), following(), followers()];
    MutationWrites::idempotent("acceptFollower", own).then_derived(notification())
}

fn reject() -> MutationWrites {
    MutationWrites::idempotent("rejectFollower", [delete(&pending_follow())])
}

fn block() -> MutationWrites {
    /// The existing follows of the two, and the missing ones.
    const FOLLOWS: (&str, f64) = ("follows", 1.0);
    const NO_FOLLOWS: (&str, f64) = ("no_follows", 1.0);
    MutationWrites::idempotent(
        "blockUser",
        [
            put(&samples::block()),
            check(&samples::user()),
            // Both circles change, even without a follow.
            following(),
            following(),
            delete(&samples::follow()).times(FOLLOWS.0, FOLLOWS.1),
            followers().times(FOLLOWS.0, FOLLOWS.1),
            absent::<Follow>().times(NO_FOLLOWS.0, NO_FOLLOWS.1),
        ],
    )
}

fn unblock() -> MutationWrites {
    MutationWrites::idempotent("unblockUser", [delete(&samples::block()), following(), following()])
}

/// Muting or unmuting changes the circle; changing the notification setting does not.
fn update_follow() -> MutationWrites {
    let before = samples::follow();
    let after = Follow { muted: !before.muted, ..before.clone() };
    MutationWrites::idempotent(
        "updateFollow",
        [change(&before, &after), following().times("mutes", 1.0)],
    )
}
