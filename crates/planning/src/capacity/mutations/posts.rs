//! Creating, changing and deleting posts. Their approval is in `moderation`.

use roundtable_model::entities::{Post, TagRef};
use roundtable_model::samples;

use super::counters::{activity, feed_items, notifications, posts};
use super::moderation::{pending_case, pending_post};
use super::step::{MutationStep, change, check, delete, put};
use super::{MutationWrites, in_transaction};

pub(super) fn mutations() -> Vec<MutationWrites> {
    vec![create(), create_moderated(), update(), remove()]
}

/// A post without reactions.
pub(super) fn new_post() -> Post {
    Post { score: None, ..samples::post() }
}

fn tags(step: MutationStep) -> MutationStep {
    step.times("tags", 2.0)
}

/// Checks that the author's account is as the post states.
fn check_author() -> MutationStep {
    check(&samples::user())
}

fn create() -> MutationWrites {
    let own = [put(&new_post()), check_author(), posts(), tags(put(&samples::tag_ref()))];
    MutationWrites::idempotent("createPost", own.into_iter().chain(activity()))
        .then_derived([feed_items()].into_iter().chain(notifications("mentions", 1.0)))
}

fn create_moderated() -> MutationWrites {
    let own = [put(&pending_post()), check_author(), posts(), tags(put(&samples::tag_ref()))];
    let own = own.into_iter().chain([put(&pending_case())]);
    MutationWrites::idempotent("createPostModerated", own)
}

/// A changed text, which the tag references repeat as their title.
fn update() -> MutationWrites {
    let post = samples::post();
    let content = format!("Again! {}", post.content);
    let changed = Post { content, version: post.version + 1, ..post.clone() };
    let tag_ref = samples::tag_ref();
    let title = format!("Again! {}", tag_ref.title);
    let retitled = TagRef { title, ..tag_ref.clone() };
    let own = [change(&post, &changed), tags(change(&tag_ref, &retitled))];
    MutationWrites::idempotent("updatePost", own)
}

fn tombstone() -> Post {
    let post = samples::post();
    Post {
        is_deleted: true,
        content: String::new(),
        media: Vec::new(),
        hashtags: Vec::new(),
        mentions: Vec::new(),
        version: post.version + 1,
        ..post
    }
}

/// Replaces a post by a tombstone, which is not counted or found by its tags.
pub(super) fn bury() -> Vec<MutationStep> {
    let steps = [change(&samples::post(), &tombstone()), posts()];
    in_transaction(steps).collect()
}

/// Deletes the remains of a post after its reactions.
pub(super) fn purge_post() -> impl Iterator<Item = MutationStep> {
    in_transaction([delete(&samples::post_counter()), delete(&tombstone())])
        .chain([delete(&samples::activity())])
}

/// Writes a tombstone; the purge follows in the background.
fn remove() -> MutationWrites {
    const COMMENTS: (&str, f64) = ("comments", 5.0);
    const SHARES: (&str, f64) = ("shares", 2.0);
    let own = bury().into_iter().chain([check_author(), tags(delete(&samples::tag_ref()))]);
    let comments =
        in_transaction([delete(&samples::comment()), delete(&samples::comment_counter())]);
    // A share is deleted with its activity.
    let shares = [delete(&samples::share()), delete(&samples::activity())];
    MutationWrites::idempotent("deletePost", own)
        .then_derived([delete(&samples::like()).times("likes", 25.0)])
        .then_derived(comments.map(|step| step.times(COMMENTS.0, COMMENTS.1)))
        .then_derived(shares.map(|step| step.times(SHARES.0, SHARES.1)))
        .then_derived(purge_post())
}
