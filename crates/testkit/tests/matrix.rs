//! The authorization matrix: every operation of the services, on every kind of object, by every
//! kind of viewer. An operation without a row fails here, so no cell is untested.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

#[path = "matrix/feeds.rs"]
mod feeds;
#[path = "matrix/goals.rs"]
mod goals;
#[path = "matrix/live.rs"]
mod live;
#[path = "matrix/media.rs"]
mod media;
#[path = "matrix/notifications.rs"]
mod notifications;
#[path = "matrix/operations.rs"]
mod operations;
#[path = "matrix/quests.rs"]
mod quests;
#[path = "matrix/rooms.rs"]
mod rooms;
#[path = "matrix/stage.rs"]
mod stage;
#[path = "matrix/table.rs"]
mod table;
#[path = "matrix/trade.rs"]
mod trade;
#[path = "matrix/user_actions.rs"]
mod user_actions;
#[path = "matrix/webhooks.rs"]
mod webhooks;

use std::collections::BTreeSet;

use operations::answer;
use roundtable_domain::Caller;
use roundtable_model::Role;
use roundtable_testkit::service_operations;
use stage::{Stage, Viewer};
use table::rows;
use user_actions::VARIANTS;

/// Methods without rows: processors and operators call them, or they concern objects that the
/// viewer has already read.
const INTERNAL: &[&str] = &[
    "accounts.by_identity",
    "accounts.grant",
    "accounts.identities",
    "accounts.link_identity_as_operator",
    "accounts.unlink_identity_as_operator",
    "accounts.sign_in_locks",
    "accounts.clear_sign_in_locks",
    "follows.grow_shards",
    "groups.disband",
    "groups.leave_all",
    "milestones.achieve_reached",
    "moderation.decide_automatically",
    "notifications.may_notify",
    "notifications.latest_actor",
    "posts.counters",
    "posts.set_author_private",
    "promotions.rule_writes",
    "promotions.set_as_operator",
    "webhooks.disable",
    "webhooks.disable_if_unchanged",
    "quests.clear",
    "quests.expire",
    "quests.recount",
    "quests.recount_all",
];

/// Operations that trust the caller's roles instead of reading the profile. The server has just
/// read it (`identity.rs`), so no token outlives a role. A fix must remove its entry.
const STILL_OPEN: &str = "
    accounts.by_email accounts.by_handle accounts.by_nickname accounts.by_username accounts.counts
    accounts.people accounts.user activities.at activities.of comments.add comments.by
    comments.by_ids comments.comment comments.comments comments.delete comments.like comments.on
    comments.replies comments.unlike comments.update companies.companies companies.company
    follows.activity_of follows.among follows.followers follows.following follows.is_following
    groups.delete groups.members groups.memberships groups.of groups.remove groups.update
    likes.among likes.by likes.has_liked likes.like likes.of likes.toggle likes.unlike live.subscribe
    live.next media.url media.urls moderation.audit moderation.case moderation.cases
    moderation.moderate_comment moderation.moderate_post moderation.queue
    moderation.report_comment moderation.report_post moderation.reports offers.close offers.create
    offers.of offers.offer offers.offers offers.tagged posts.by posts.delete posts.global
    posts.on_day posts.popular posts.post posts.posts posts.stats posts.tagged posts.update
    shares.share shares.unshare tags.search
";

/// Deny by default, one policy, no untested cell.
#[tokio::test]
async fn every_viewer_gets_the_answer_of_the_table() {
    let stage = Stage::set().await;
    let (mut wrong, mut acted) = (Vec::new(), BTreeSet::new());
    let rows = rows();
    let mut cells = 0;
    for row in &rows {
        for (viewer, cell) in Viewer::ALL.into_iter().zip(&row.cells) {
            let caller = viewer.caller(row.object);
            let (found, act) = answer(&stage, row.operation, row.object, caller).await;
            acted.extend(act);
            cells += 1;
            if found != cell.found {
                let table::Row { object, operation, .. } = row;
                let right = cell.right;
                let fixed = if found == right { " (fixed: remove the mark)" } else { "" };
                let what = format!("{operation} of {object} by {viewer:?}");
                wrong.push(format!("{what}: {right}, not {found}{fixed}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {cells} cells:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(cells, rows.len() * Viewer::ALL.len());
    assert_eq!(acted, VARIANTS.iter().copied().collect(), "everything that people do");
}

/// A user who lost a role gets the answers of a stranger, even if the token still carries the role.
#[tokio::test]
async fn a_revoked_role_grants_nothing() {
    let stage = Stage::set().await;
    let mut wrong = BTreeSet::new();
    for row in rows() {
        let stranger = Viewer::ALL.iter().position(|viewer| *viewer == Viewer::Stranger).unwrap();
        for role in [Role::Moderator, Role::Admin] {
            let sam = Caller::with_roles("sam".parse().unwrap(), &[Role::User, role]);
            let (found, _) = answer(&stage, row.operation, row.object, Some(sam)).await;
            if found != row.cells[stranger].found {
                wrong.insert(row.operation);
            }
        }
    }
    assert_eq!(wrong, STILL_OPEN.split_whitespace().collect());
}

/// No row is repeated, none names a missing operation, and every operation of every service has
/// one.
#[test]
fn every_operation_has_a_row() {
    let mut seen = BTreeSet::new();
    for row in rows() {
        let is_new = seen.insert((row.operation, row.object));
        assert!(is_new, "{} of {} twice", row.operation, row.object);
    }
    let asked: BTreeSet<String> = seen.iter().map(|(operation, _)| (*operation).into()).collect();
    let mut there = service_operations();
    for name in INTERNAL {
        assert!(there.remove(*name), "{name} does not exist any more");
    }
    assert_eq!(asked, there);
}
