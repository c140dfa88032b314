//! Posts: written, approved, taken back.

use super::Mutation;
use super::counters::{activity, feed_items, notice, notices, posts};
use super::step::{Step, change, check, delete, put};
use crate::entities::{ModerationCase, Post};
use crate::{ModerationStatus, samples};

pub(super) fn mutations() -> Vec<Mutation> {
    vec![create(), create_moderated(), moderate(), remove(), report(), post_activity()]
}

/// A post that nobody has done anything with yet.
fn fresh() -> Post {
    Post { score: None, ..samples::post() }
}

/// A post that waits for approval.
fn waiting() -> Post {
    Post { moderation_status: ModerationStatus::Pending, published_at: None, ..fresh() }
}

fn waiting_case() -> ModerationCase {
    let status = ModerationStatus::Pending;
    ModerationCase { status, decided_by: None, decided_at: None, ..samples::moderation_case() }
}

fn tags(step: Step) -> Step {
    step.times("tags", 2.0)
}

fn create() -> Mutation {
    let own = [put(&fresh()), posts(), tags(put(&samples::tag_ref()))];
    Mutation::new("createPost", own.into_iter().chain(activity()))
        .then([feed_items()].into_iter().chain(notices("mentions", 1.0)))
}

fn create_moderated() -> Mutation {
    let own = [put(&waiting()), posts(), tags(put(&samples::tag_ref())), put(&waiting_case())];
    Mutation::new("createPostModerated", own)
}

/// An approval: the post enters feeds now.
fn moderate() -> Mutation {
    let case = waiting_case();
    let approved = ModerationStatus::Approved;
    let decided = ModerationCase {
        status: approved,
        decided_by: Some(samples::user().id),
        decided_at: Some(case.created_at),
        version: case.version + 1,
        ..case.clone()
    };
    let post = waiting();
    let published = Post {
        moderation_status: approved,
        published_at: Some(post.created_at),
        version: post.version + 1,
        ..post.clone()
    };
    let own = [change(&case, &decided), change(&post, &published), put(&samples::audit())];
    Mutation::new("moderate", own.into_iter().chain(activity()))
        .then([feed_items()].into_iter().chain(notice()))
}

/// A tombstone; the purge follows in the background.
fn remove() -> Mutation {
    let post = samples::post();
    let tombstone = Post {
        is_deleted: true,
        content: String::new(),
        media: Vec::new(),
        hashtags: Vec::new(),
        mentions: Vec::new(),
        version: post.version + 1,
        ..post.clone()
    };
    let own = [change(&post, &tombstone), posts(), tags(delete(&samples::tag_ref()))];
    Mutation::new("deletePost", own).then([
        delete(&tombstone),
        delete(&samples::post_counter()),
        delete(&samples::like()).times("likes", 25.0),
        delete(&samples::comment()).times("comments", 5.0),
        delete(&samples::comment_counter()).times("comments", 5.0),
        delete(&samples::share()).times("shares", 2.0),
    ])
}

fn report() -> Mutation {
    let own = [put(&samples::report()), put(&waiting_case()), check(&samples::post())];
    Mutation::new("reportPost", own)
}

fn post_activity() -> Mutation {
    let own = activity().into_iter().chain([check(&samples::goal())]);
    Mutation::new("postActivity", own).then([feed_items()])
}
