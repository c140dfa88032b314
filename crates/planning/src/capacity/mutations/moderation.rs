//! Reports, and decisions of moderators.

use roundtable_model::entities::{Comment, ModerationCase, Post};
use roundtable_model::{ModerationStatus, samples};

use super::MutationWrites;
use super::counters::{activity, feed_items, notification};
use super::posts::new_post;
use super::step::{MutationStep, change, check, put};

pub(super) fn mutations() -> Vec<MutationWrites> {
    vec![report_post(), report_comment(), moderate_post(), moderate_comment()]
}

pub(super) fn pending_post() -> Post {
    Post { moderation_status: ModerationStatus::Pending, published_at: None, ..new_post() }
}

pub(super) fn pending_case() -> ModerationCase {
    let status = ModerationStatus::Pending;
    ModerationCase { status, decided_by: None, decided_at: None, ..samples::moderation_case() }
}

/// The decision of a case, and its entry in the audit log.
fn decided(status: ModerationStatus) -> [MutationStep; 2] {
    let case = pending_case();
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
fn report_post() -> MutationWrites {
    let own = [put(&samples::report()), put(&pending_case()), check(&samples::post())];
    MutationWrites::idempotent("reportPost", own)
}

fn report_comment() -> MutationWrites {
    let content = [check(&samples::post()), check(&samples::comment())];
    let own = [put(&samples::report()), put(&pending_case())].into_iter().chain(content);
    MutationWrites::idempotent("reportComment", own)
}

/// An approval: the post enters feeds, depending on its author's account.
fn moderate_post() -> MutationWrites {
    let approved = ModerationStatus::Approved;
    let post = pending_post();
    let published = Post {
        moderation_status: approved,
        published_at: Some(post.created_at),
        version: post.version + 1,
        ..post.clone()
    };
    let own = [change(&post, &published), check(&samples::user())];
    let own = decided(approved).into_iter().chain(own).chain(activity());
    MutationWrites::idempotent("moderatePost", own)
        .then_derived([feed_items()].into_iter().chain(notification()))
}

fn moderate_comment() -> MutationWrites {
    let rejected = ModerationStatus::Rejected;
    let comment = samples::comment();
    let hidden = Comment { moderation_status: rejected, ..comment.clone() };
    let own = [change(&comment, &hidden), check(&samples::post())];
    MutationWrites::idempotent("moderateComment", decided(rejected).into_iter().chain(own))
        .then_derived(notification())
}
