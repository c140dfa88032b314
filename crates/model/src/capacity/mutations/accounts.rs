//! One's own profile, keys and invitations, and leaving for good.

use super::counters::{followers, following};
use super::groups::counted;
use super::posts::{burial, last_of_a_post};
use super::step::{change, check, delete, put};
use super::{Mutation, together};
use crate::entities::{Follow, NickLock, Post, User};
use crate::{UserStatus, samples};

pub(super) fn mutations() -> Vec<Mutation> {
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

/// The posts of the documents' person.
const POSTS: (&str, f64) = ("posts", 45.0);

/// A plain edit: nothing else depends on it.
fn update_profile() -> Mutation {
    let before = samples::user();
    let bio = before.bio.as_ref().map(|bio| format!("{bio} Coffee helps."));
    let after = User { bio, version: before.version + 1, ..before.clone() };
    Mutation::repeatable("updateProfile", [change(&before, &after)])
}

/// A new nickname moves its lock.
fn update_profile_renamed() -> Mutation {
    let before = samples::user();
    // Any other name will do: of two who follow one another, one is somebody else.
    let Follow { follower_nickname, followee_nickname, .. } = samples::follow();
    let taken = follower_nickname == before.nickname;
    let nickname = if taken { followee_nickname } else { follower_nickname };
    let after = User { nickname: nickname.clone(), version: before.version + 1, ..before.clone() };
    let old_lock = samples::nick_lock();
    let new_lock = NickLock { nickname, ..old_lock.clone() };
    Mutation::repeatable(
        "updateProfileRenamed",
        [change(&before, &after), put(&new_lock), delete(&old_lock)],
    )
}

/// Somebody turns private: their posts leave the lists for everybody, one by one.
fn update_profile_private() -> Mutation {
    let before = samples::user();
    let after = User { is_private: true, version: before.version + 1, ..before.clone() };
    let post = samples::post();
    let told = Post { author_is_private: true, version: post.version + 1, ..post.clone() };
    let each = together([change(&post, &told), check(&after)]);
    Mutation::repeatable("updateProfilePrivate", [change(&before, &after)])
        .then(each.map(|step| step.times(POSTS.0, POSTS.1)))
}

/// What is left of a profile until everything that hangs on it is gone.
fn remains(user: &User) -> User {
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

fn delete_account() -> Mutation {
    /// Follows in both directions, as many as the person of the documents has.
    const FOLLOWS: (&str, f64) = ("follows", 350.0);
    /// What others did with their posts, as often as with the post of the samples.
    const REACTIONS: (&str, f64) = ("reactions", 45.0 * 32.0);
    /// What they did with the posts of others.
    const LIKES: (&str, f64) = ("likes", 300.0);
    const GROUPS: (&str, f64) = ("groups", 3.0);
    let user = samples::user();
    let remains = remains(&user);
    let own = together([
        change(&user, &remains),
        delete(&samples::credential()),
        delete(&samples::email_lock()),
        delete(&samples::nick_lock()),
        delete(&samples::handle_lock()).times("handles", 1.0),
        delete(&samples::tag_ref()).times("tags", 3.0),
    ]);
    // What counts for others goes together with its place in their counts.
    let follows = together([delete(&samples::follow()), followers(), following()]);
    let groups = together([delete(&samples::group_member()), counted()]);
    let posts = burial().into_iter().chain(last_of_a_post());
    Mutation::once("deleteAccount", own)
        .then(groups.map(|step| step.times(GROUPS.0, GROUPS.1)))
        .then(follows.map(|step| step.times(FOLLOWS.0, FOLLOWS.1)))
        .then(posts.map(|step| step.times(POSTS.0, POSTS.1)))
        .then([
            delete(&samples::tag_ref()).together().times("hashtags", 90.0),
            delete(&samples::like()).times(REACTIONS.0, REACTIONS.1),
            delete(&samples::like()).times(LIKES.0, LIKES.1),
            delete(&samples::session()).times("sessions", 2.0),
            delete(&remains),
        ])
}

fn create_api_key() -> Mutation {
    Mutation::once("createApiKey", [put(&samples::api_key())])
}

fn revoke_api_key() -> Mutation {
    Mutation::repeatable("revokeApiKey", [delete(&samples::api_key())])
}

fn create_invitation() -> Mutation {
    Mutation::once("createInvitation", [put(&samples::invitation())])
}
