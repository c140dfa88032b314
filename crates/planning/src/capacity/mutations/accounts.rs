//! Profile, API keys and invitations, and deletion of the account.

use roundtable_model::entities::{Follow, NickLock, Post, User};
use roundtable_model::{UserStatus, samples};

use super::counters::{followers, following};
use super::groups::count_member;
use super::posts::{bury, purge_post};
use super::step::{change, check, delete, put};
use super::{MutationWrites, in_transaction};

pub(super) fn mutations() -> Vec<MutationWrites> {
    vec![
        update_profile(),
        update_profile_renamed(),
        update_profile_private(),
        delete_account(),
        create_api_key(),
        revoke_api_key(),
        create_invitation(),
    ]
}

/// The posts of the design documents' example user.
const POSTS: (&str, f64) = ("posts", 45.0);

/// An edit of a field that nothing else depends on.
fn update_profile() -> MutationWrites {
    let before = samples::user();
    let bio = before.bio.as_ref().map(|bio| format!("{bio} Coffee helps."));
    let after = User { bio, version: before.version + 1, ..before.clone() };
    MutationWrites::idempotent("updateProfile", [change(&before, &after)])
}

fn update_profile_renamed() -> MutationWrites {
    let before = samples::user();
    // Any other name will do: of the follow's two nicknames, one differs.
    let Follow { follower_nickname, followee_nickname, .. } = samples::follow();
    let taken = follower_nickname == before.nickname;
    let nickname = if taken { followee_nickname } else { follower_nickname };
    let after = User { nickname: nickname.clone(), version: before.version + 1, ..before.clone() };
    let old_lock = samples::nick_lock();
    let new_lock = NickLock { nickname, ..old_lock.clone() };
    MutationWrites::idempotent(
        "updateProfileRenamed",
        [change(&before, &after), put(&new_lock), delete(&old_lock)],
    )
}

/// The account becomes private: its posts leave the public lists one by one.
fn update_profile_private() -> MutationWrites {
    let before = samples::user();
    let after = User { is_private: true, version: before.version + 1, ..before.clone() };
    let post = samples::post();
    let unlisted = Post { author_is_private: true, version: post.version + 1, ..post.clone() };
    let each = in_transaction([change(&post, &unlisted), check(&after)]);
    MutationWrites::idempotent("updateProfilePrivate", [change(&before, &after)])
        .then_derived(each.map(|step| step.times(POSTS.0, POSTS.1)))
}

/// Returns the remaining profile until everything that refers to it is deleted.
fn deleted_user(user: &User) -> User {
    User {
        email: None,
        full_name: None,
        display_name: None,
        birth_date: None,
        status: UserStatus::Deleted,
        country: None,
        language: None,
        gender: None,
        pronouns: None,
        bio: None,
        tags: Vec::new(),
        roles: Vec::new(),
        profile_image: None,
        profile_image_url: None,
        handle: None,
        public_key: None,
        inbox_url: None,
        outbox_url: None,
        followers_url: None,
        following_url: None,
        version: user.version + 1,
        ..user.clone()
    }
}

fn delete_account() -> MutationWrites {
    /// Follows in both directions, as many as the example user of the design documents has.
    const FOLLOWS: (&str, f64) = ("follows", 350.0);
    /// Reactions to the user's posts, as many on each as on the sample post.
    const REACTIONS: (&str, f64) = ("reactions", 45.0 * 32.0);
    /// Likes of other users' posts.
    const LIKES: (&str, f64) = ("likes", 300.0);
    const GROUPS: (&str, f64) = ("groups", 3.0);
    let user = samples::user();
    let remains = deleted_user(&user);
    let own = in_transaction([
        change(&user, &remains),
        delete(&samples::credential()),
        delete(&samples::email_lock()),
        delete(&samples::nick_lock()),
        delete(&samples::handle_lock()).times("handles", 1.0),
        delete(&samples::tag_ref()).times("tags", 3.0),
    ]);
    // Items that others' counters count are deleted together with the counter's change.
    let follows = in_transaction([delete(&samples::follow()), followers(), following()]);
    let groups = in_transaction([delete(&samples::group_member()), count_member()]);
    let posts = bury().into_iter().chain(purge_post());
    MutationWrites::plain("deleteAccount", own)
        .then_derived(groups.map(|step| step.times(GROUPS.0, GROUPS.1)))
        .then_derived(follows.map(|step| step.times(FOLLOWS.0, FOLLOWS.1)))
        .then_derived(posts.map(|step| step.times(POSTS.0, POSTS.1)))
        .then_derived([
            delete(&samples::tag_ref()).in_transaction().times("hashtags", 90.0),
            delete(&samples::like()).times(REACTIONS.0, REACTIONS.1),
            delete(&samples::like()).times(LIKES.0, LIKES.1),
            delete(&samples::session()).times("sessions", 2.0),
            delete(&remains),
        ])
}

fn create_api_key() -> MutationWrites {
    MutationWrites::plain("createApiKey", [put(&samples::api_key())])
}

fn revoke_api_key() -> MutationWrites {
    MutationWrites::idempotent("revokeApiKey", [delete(&samples::api_key())])
}

fn create_invitation() -> MutationWrites {
    MutationWrites::plain("createInvitation", [put(&samples::invitation())])
}
