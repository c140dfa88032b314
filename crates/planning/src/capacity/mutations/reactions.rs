//! Likes, shares and comments. Stream processors count them.

use roundtable_model::entities::{Comment, CommentCounter};
use roundtable_model::samples;

use super::MutationWrites;
use super::counters::{activity, engagement, feed_items, no_blocks, notification};
use super::step::{MutationStep, change, check, delete, put};

pub(super) fn mutations() -> Vec<MutationWrites> {
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

/// The share of comments that reply to another comment.
const REPLIES: (&str, f64) = ("replies", 0.5);

/// Checks that the post exists with unchanged visibility.
fn check_post() -> MutationStep {
    check(&samples::post())
}

/// Adds checks that the caller and the author have not blocked each other.
fn with_no_blocks(own: impl IntoIterator<Item = MutationStep>) -> Vec<MutationStep> {
    own.into_iter().chain(no_blocks()).collect()
}

fn like() -> MutationWrites {
    MutationWrites::idempotent("likePost", with_no_blocks([put(&samples::like()), check_post()]))
        .then_derived(engagement())
        .then_derived(notification())
}

fn unlike() -> MutationWrites {
    MutationWrites::idempotent("unlikePost", [delete(&samples::like()), check_post()])
        .then_derived(engagement())
}

/// Liking and unliking cost the same; only a like notifies the author.
fn toggle() -> MutationWrites {
    MutationWrites::idempotent("toggleLike", with_no_blocks([put(&samples::like()), check_post()]))
        .then_derived(engagement())
        .then_derived(notification().map(|step| step.times("likes", 0.5)))
}

fn share() -> MutationWrites {
    let own = with_no_blocks([put(&samples::share()), check_post(), check(&samples::user())]);
    MutationWrites::idempotent("sharePost", own.into_iter().chain(activity()))
        .then_derived(engagement())
        .then_derived([feed_items()])
        .then_derived(notification())
}

/// The activity stays, but is no longer shown.
fn unshare() -> MutationWrites {
    MutationWrites::idempotent("unsharePost", [delete(&samples::share()), check_post()])
        .then_derived(engagement())
}

fn like_comment() -> MutationWrites {
    let own = [put(&samples::comment_like()), check(&samples::comment()), check_post()];
    MutationWrites::idempotent("likeComment", with_no_blocks(own))
        .then_derived([count_comment()])
        .then_derived(notification())
}

fn unlike_comment() -> MutationWrites {
    MutationWrites::idempotent("unlikeComment", [delete(&samples::comment_like()), check_post()])
        .then_derived([count_comment()])
}

/// A comment on the post, or a reply to another comment, which must exist and counts the reply.
fn add_comment() -> MutationWrites {
    let parent = check(&samples::comment()).times(REPLIES.0, REPLIES.1);
    MutationWrites::idempotent(
        "addComment",
        with_no_blocks([put(&samples::comment()), check_post(), parent]),
    )
    .then_derived(engagement())
    .then_derived([count_comment().times(REPLIES.0, REPLIES.1)])
    .then_derived(notification())
}

fn update_comment() -> MutationWrites {
    let comment = samples::comment();
    let content = format!("{} Or tea.", comment.content);
    let changed = Comment { content, ..comment.clone() };
    MutationWrites::idempotent("updateComment", [change(&comment, &changed), check_post()])
}

/// Writes a tombstone, so that replies keep their parent. Deleting another user's comment is
/// audited.
fn delete_comment() -> MutationWrites {
    let comment = samples::comment();
    let gone = Comment { is_deleted: true, content: String::new(), ..comment.clone() };
    let own = [
        change(&comment, &gone),
        put(&samples::audit()).times("audited", 0.0),
        delete(&samples::moderation_case()).times("reported", 0.0),
    ];
    MutationWrites::idempotent("deleteComment", own)
        .then_derived(engagement())
        .then_derived([count_comment().times(REPLIES.0, REPLIES.1)])
}

fn count_comment() -> MutationStep {
    let before = samples::comment_counter();
    change(&before, &CommentCounter { likes: before.likes + 1, ..before.clone() })
}
