//! Signing up, in and off, and changes of one's own profile.

use super::Mutation;
use super::counters::followers;
use super::step::{change, delete, put};
use crate::entities::{Follow, NickLock, User};
use crate::samples;

/// The count that says which share of people has a handle.
const HANDLES: &str = "handles";

pub(super) fn mutations() -> Vec<Mutation> {
    vec![register(), login(), update_profile(), rename(), delete_account()]
}

fn register() -> Mutation {
    Mutation::new(
        "register",
        [
            put(&samples::user()),
            put(&samples::email_lock()),
            put(&samples::nick_lock()),
            put(&samples::handle_lock()).times(HANDLES, 1.0),
            put(&samples::credential()),
        ],
    )
}

fn login() -> Mutation {
    Mutation::single("login", put(&samples::session()))
}

fn update_profile() -> Mutation {
    let before = samples::user();
    let after = User { is_private: !before.is_private, ..before.clone() };
    Mutation::new("updateProfile", [change(&before, &after)])
}

fn rename() -> Mutation {
    let before = samples::user();
    // Any other name will do: of two who follow one another, one is somebody else.
    let Follow { follower_nickname, followee_nickname, .. } = samples::follow();
    let taken = follower_nickname == before.nickname;
    let nickname = if taken { followee_nickname } else { follower_nickname };
    let after = User { nickname: nickname.clone(), version: before.version + 1, ..before.clone() };
    let old_lock = samples::nick_lock();
    let new_lock = NickLock { nickname, ..old_lock.clone() };
    Mutation::new("rename", [change(&before, &after), put(&new_lock), delete(&old_lock)])
}

fn delete_account() -> Mutation {
    /// Follows in both directions, as many as the person of the documents has.
    const FOLLOWS: (&str, f64) = ("follows", 350.0);
    /// Their posts.
    const POSTS: (&str, f64) = ("posts", 45.0);
    Mutation::new(
        "deleteAccount",
        [
            delete(&samples::user()),
            delete(&samples::email_lock()),
            delete(&samples::nick_lock()),
            delete(&samples::handle_lock()).times(HANDLES, 1.0),
            delete(&samples::credential()),
        ],
    )
    .then([
        delete(&samples::session()).times("sessions", 2.0),
        // Each follow goes together with its place in the other's count.
        delete(&samples::follow()).together().times(FOLLOWS.0, FOLLOWS.1),
        followers().together().times(FOLLOWS.0, FOLLOWS.1),
        delete(&samples::post()).times(POSTS.0, POSTS.1),
        delete(&samples::post_counter()).times(POSTS.0, POSTS.1),
    ])
}
