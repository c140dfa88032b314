//! What is reported, and what moderators decide.

use super::Mutation;
use super::counters::{activity, feed_items, notice};
use super::posts::fresh;
use super::step::{Step, change, check, put};
use crate::entities::{Comment, ModerationCase, Post};
use crate::{ModerationStatus, samples};

pub(super) fn mutations() -> Vec<Mutation> {
    vec![report_post(), report_comment(), moderate_post(), moderate_comment()]
}

/// A post that waits for approval.
pub(super) fn waiting() -> Post {
    Post { moderation_status: ModerationStatus::Pending, published_at: None, ..fresh() }
}

/// A case that waits for a decision.
pub(super) fn waiting_case() -> ModerationCase {
    let status = ModerationStatus::Pending;
    ModerationCase { status, decided_by: None, decided_at: None, ..samples::moderation_case() }
}

/// A case is decided, and the audit says by whom.
fn decided(status: ModerationStatus) -> [Step; 2] {
    let case = waiting_case();
    let decided = ModerationCase {
        status,
        decided_by: Some(samples::user().id),
        decided_at: Some(case.created_at),
        version: case.version + 1,
        ..case.clone()
    };
    [change(&case, &decided), put(&samples::audit())]
}

/// The first report opens a case; later ones join it, which costs about the same.
fn report_post() -> Mutation {
    let own = [put(&samples::report()), put(&waiting_case()), check(&samples::post())];
    Mutation::repeatable("reportPost", own)
}

fn report_comment() -> Mutation {
    let content = [check(&samples::post()), check(&samples::comment())];
    let own = [put(&samples::report()), put(&waiting_case())].into_iter().chain(content);
    Mutation::repeatable("reportComment", own)
}

/// An approval: the post enters feeds now, as its author's account says.
fn moderate_post() -> Mutation {
    let approved = ModerationStatus::Approved;
    let post = waiting();
    let published = Post {
        moderation_status: approved,
        published_at: Some(post.created_at),
        version: post.version + 1,
        ..post.clone()
    };
    let own = [change(&post, &published), check(&samples::user())];
    let own = decided(approved).into_iter().chain(own).chain(activity());
    Mutation::repeatable("moderatePost", own).then([feed_items()].into_iter().chain(notice()))
}

fn moderate_comment() -> Mutation {
    let rejected = ModerationStatus::Rejected;
    let comment = samples::comment();
    let hidden = Comment { moderation_status: rejected, ..comment.clone() };
    let own = [change(&comment, &hidden), check(&samples::post())];
    Mutation::repeatable("moderateComment", decided(rejected).into_iter().chain(own)).then(notice())
}
