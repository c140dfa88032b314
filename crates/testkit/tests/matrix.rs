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
#[path = "matrix/search.rs"]
mod search;
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
use roundtable_domain::{Caller, CallerCredential, STAFF_SCOPE};
use roundtable_model::Role;
use roundtable_testkit::service_operations;
use stage::{Stage, Viewer};
use table::rows;
use user_actions::VARIANTS;

/// Methods without rows: processors, operators and transports call them, or they concern objects that
/// the viewer has already read.
const INTERNAL: &[&str] = &[
    "accounts.by_identity",
    "accounts.check_credential",
    "accounts.credential_revoked",
    "accounts.grant",
    "accounts.identities",
    "accounts.link_identity_as_operator",
    "accounts.unlink_identity_as_operator",
    "accounts.sign_in_locks",
    "accounts.clear_sign_in_locks",
    "groups.disband",
    "groups.leave_all",
    "milestones.achieve_reached",
    "moderation.decide_automatically",
    "notifications.may_notify",
    "notifications.latest_actor",
    "comments.counters",
    "posts.counters",
    "posts.set_author_private",
    "promotions.rule_writes",
    "promotions.thresholds",
    "promotions.set_as_operator",
    "webhooks.disable",
    "webhooks.disable_if_unchanged",
    "quests.clear",
    "quests.expire",
    "quests.recount",
    "quests.recount_all",
];

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
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Operations that create or widen access, and with which the holder of a key could outlive it.
const IN_PERSON: &[&str] = &[
    "accounts.change_email",
    "accounts.change_email_to_proved",
    "accounts.change_password",
    "accounts.confirm_password",
    "accounts.create_key",
    "accounts.delete_account",
    "accounts.invite",
    "accounts.keys",
    "accounts.logout_everywhere",
    "accounts.logout_session",
    "accounts.revoke_key",
    "accounts.set_roles",
    "groups.set_role",
    "webhooks.create",
    "webhooks.delete",
    "webhooks.deliveries",
    "webhooks.enable",
    "webhooks.list",
    "webhooks.replay",
];

/// An API key may do what its owner may, except what creates or widens access, whoever owns it.
#[tokio::test]
async fn no_api_key_creates_or_widens_access() {
    let stage = Stage::set().await;
    let (mut wrong, mut refused) = (Vec::new(), BTreeSet::new());
    for row in rows() {
        let table::Row { object, operation, .. } = row;
        for viewer in [Viewer::Owner, Viewer::GroupAdmin, Viewer::Moderator, Viewer::Admin] {
            let column = Viewer::ALL.iter().position(|each| *each == viewer).unwrap();
            let scopes = ["read", "write", STAFF_SCOPE].map(String::from).to_vec();
            let credential = CallerCredential::ApiKey { id: "key".parse().unwrap(), scopes };
            let key = Caller { credential, ..viewer.caller(object).unwrap() };
            let (found, _) = answer(&stage, operation, object, Some(key)).await;
            let is_in_person = IN_PERSON.contains(&operation);
            let of_owner = row.cells[column].found;
            let expected = if is_in_person && of_owner != "401" { "403" } else { of_owner };
            refused.extend(is_in_person.then_some(operation));
            // An account that is gone is refused before its credential is looked at.
            if found != expected && !(is_in_person && found == "403") {
                wrong.push(format!("{operation} of {object} by {viewer:?}: {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(refused, IN_PERSON.iter().copied().collect());
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
