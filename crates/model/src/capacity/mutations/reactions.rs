//! What people do with posts and comments. Counts follow from the stream.

use super::Mutation;
use super::counters::{activity, engagement, feed_items, notice};
use super::step::{Step, change, check, delete, put};
use crate::entities::CommentCounter;
use crate::samples;

pub(super) fn mutations() -> Vec<Mutation> {
    vec![like(), unlike(), comment(), share(), like_comment()]
}

fn like() -> Mutation {
    Mutation::new("like", [put(&samples::like()), check(&samples::post())])
        .then(engagement())
        .then(notice())
}

fn unlike() -> Mutation {
    Mutation::new("unlike", [delete(&samples::like()), check(&samples::post())]).then(engagement())
}

/// On the post, or in answer to another comment, which must be there and counts it.
fn comment() -> Mutation {
    /// Which share of the comments answers another.
    const REPLIES: (&str, f64) = ("replies", 0.5);
    let parent = check(&samples::comment()).times(REPLIES.0, REPLIES.1);
    let own = [put(&samples::comment()), check(&samples::post()), parent];
    Mutation::new("comment", own)
        .then(engagement())
        .then([comment_counted().times(REPLIES.0, REPLIES.1)])
        .then(notice())
}

fn share() -> Mutation {
    let own = [put(&samples::share()), check(&samples::post())];
    Mutation::new("share", own.into_iter().chain(activity()))
        .then(engagement())
        .then([feed_items()])
        .then(notice())
}

fn like_comment() -> Mutation {
    let own = [put(&samples::comment_like()), check(&samples::comment())];
    Mutation::new("likeComment", own).then([comment_counted()]).then(notice())
}

fn comment_counted() -> Step {
    let before = samples::comment_counter();
    change(&before, &CommentCounter { likes: before.likes + 1, ..before.clone() })
}
