//! Posts: written, changed, taken back. Whether they may stay is `moderation`.

use super::counters::{activity, feed_items, notices, posts};
use super::moderation::{waiting, waiting_case};
use super::step::{Step, change, check, delete, put};
use super::{Mutation, together};
use crate::entities::{Post, TagRef};
use crate::samples;

pub(super) fn mutations() -> Vec<Mutation> {
    vec![create(), create_moderated(), update(), remove()]
}

/// A post that nobody has done anything with yet.
pub(super) fn fresh() -> Post {
    Post { score: None, ..samples::post() }
}

fn tags(step: Step) -> Step {
    step.times("tags", 2.0)
}

/// The author's account is as the post says.
fn author() -> Step {
    check(&samples::user())
}

fn create() -> Mutation {
    let own = [put(&fresh()), author(), posts(), tags(put(&samples::tag_ref()))];
    Mutation::repeatable("createPost", own.into_iter().chain(activity()))
        .then([feed_items()].into_iter().chain(notices("mentions", 1.0)))
}

/// A post that waits for approval.
fn create_moderated() -> Mutation {
    let own = [put(&waiting()), author(), posts(), tags(put(&samples::tag_ref()))];
    let own = own.into_iter().chain([put(&waiting_case())]);
    Mutation::repeatable("createPostModerated", own)
}

/// Another text: where the post is found by its tags, its first words are, too.
fn update() -> Mutation {
    let post = samples::post();
    let content = format!("Again! {}", post.content);
    let changed = Post { content, version: post.version + 1, ..post.clone() };
    let found = samples::tag_ref();
    let title = format!("Again! {}", found.title);
    let moved = TagRef { title, ..found.clone() };
    Mutation::repeatable("updatePost", [change(&post, &changed), tags(change(&found, &moved))])
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

/// A tombstone takes the place of a post, which counts no longer and is not found by its tags.
pub(super) fn burial() -> Vec<Step> {
    let steps = [change(&samples::post(), &tombstone()), posts()];
    together(steps).collect()
}

/// What goes last of a post.
pub(super) fn last_of_a_post() -> impl Iterator<Item = Step> {
    together([delete(&samples::post_counter()), delete(&tombstone())])
        .chain([delete(&samples::activity())])
}

/// A tombstone; the purge follows in the background.
fn remove() -> Mutation {
    const COMMENTS: (&str, f64) = ("comments", 5.0);
    const SHARES: (&str, f64) = ("shares", 2.0);
    let own = burial().into_iter().chain([author(), tags(delete(&samples::tag_ref()))]);
    let comments = together([delete(&samples::comment()), delete(&samples::comment_counter())]);
    // A share goes with the activity that tells of it.
    let shares = [delete(&samples::share()), delete(&samples::activity())];
    Mutation::repeatable("deletePost", own)
        .then([delete(&samples::like()).times("likes", 25.0)])
        .then(comments.map(|step| step.times(COMMENTS.0, COMMENTS.1)))
        .then(shares.map(|step| step.times(SHARES.0, SHARES.1)))
        .then(last_of_a_post())
}
