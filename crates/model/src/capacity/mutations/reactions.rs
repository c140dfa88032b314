//! What people do with posts and comments. Counts follow from the stream.

use super::Mutation;
use super::counters::{activity, engagement, feed_items, notice, unblocked};
use super::step::{Step, change, check, delete, put};
use crate::entities::{Comment, CommentCounter};
use crate::samples;

pub(super) fn mutations() -> Vec<Mutation> {
    vec![
        like(),
        unlike(),
        toggle(),
        share(),
        unshare(),
        like_comment(),
        unlike_comment(),
        add_comment(),
        update_comment(),
        delete_comment(),
    ]
}

/// Which share of the comments answers another.
const REPLIES: (&str, f64) = ("replies", 0.5);

/// The post is there, and for those it was for.
fn post() -> Step {
    check(&samples::post())
}

/// Whoever joins in, and whoever wrote it, have not blocked each other.
fn joining(own: impl IntoIterator<Item = Step>) -> Vec<Step> {
    own.into_iter().chain(unblocked()).collect()
}

fn like() -> Mutation {
    Mutation::repeatable("likePost", joining([put(&samples::like()), post()]))
        .then(engagement())
        .then(notice())
}

fn unlike() -> Mutation {
    Mutation::repeatable("unlikePost", [delete(&samples::like()), post()]).then(engagement())
}

/// On or off costs the same; only who is liked is told.
fn toggle() -> Mutation {
    Mutation::repeatable("toggleLike", joining([put(&samples::like()), post()]))
        .then(engagement())
        .then(notice().map(|step| step.times("likes", 0.5)))
}

fn share() -> Mutation {
    let own = joining([put(&samples::share()), post(), check(&samples::user())]);
    Mutation::repeatable("sharePost", own.into_iter().chain(activity()))
        .then(engagement())
        .then([feed_items()])
        .then(notice())
}

/// The activity stays, and shows no longer.
fn unshare() -> Mutation {
    Mutation::repeatable("unsharePost", [delete(&samples::share()), post()]).then(engagement())
}

fn like_comment() -> Mutation {
    let own = [put(&samples::comment_like()), check(&samples::comment()), post()];
    Mutation::repeatable("likeComment", joining(own)).then([comment_counted()]).then(notice())
}

fn unlike_comment() -> Mutation {
    Mutation::repeatable("unlikeComment", [delete(&samples::comment_like()), post()])
        .then([comment_counted()])
}

/// On the post, or in answer to another comment, which must be there and counts it.
fn add_comment() -> Mutation {
    let parent = check(&samples::comment()).times(REPLIES.0, REPLIES.1);
    Mutation::repeatable("addComment", joining([put(&samples::comment()), post(), parent]))
        .then(engagement())
        .then([comment_counted().times(REPLIES.0, REPLIES.1)])
        .then(notice())
}

fn update_comment() -> Mutation {
    let comment = samples::comment();
    let content = format!("{} Or tea.", comment.content);
    let changed = Comment { content, ..comment.clone() };
    Mutation::repeatable("updateComment", [change(&comment, &changed), post()])
}

/// A tombstone, for what answers it. Somebody else's leaves an entry in the audit.
fn delete_comment() -> Mutation {
    let comment = samples::comment();
    let gone = Comment { is_deleted: true, content: String::new(), ..comment.clone() };
    let own = [
        change(&comment, &gone),
        put(&samples::audit()).times("audited", 0.0),
        delete(&samples::moderation_case()).times("reported", 0.0),
    ];
    Mutation::repeatable("deleteComment", own)
        .then(engagement())
        .then([comment_counted().times(REPLIES.0, REPLIES.1)])
}

fn comment_counted() -> Step {
    let before = samples::comment_counter();
    change(&before, &CommentCounter { likes: before.likes + 1, ..before.clone() })
}
