//! The storm over processes, against the server that `ROUNDTABLE_DYNAMODB_ENDPOINT` names:
//!
//! ```text
//! scripts/dynamodb-local.sh cargo test -p roundtable-testkit --test endpoint
//! ```

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

#[path = "storm/cast.rs"]
mod cast;
#[path = "storm/check_notifications.rs"]
mod check_notifications;
#[path = "storm/check_progress.rs"]
mod check_progress;
#[path = "storm/check_rooms.rs"]
mod check_rooms;
#[path = "storm/check_trade.rs"]
mod check_trade;
#[path = "storm/comparison.rs"]
mod comparison;
#[path = "storm/deck.rs"]
mod deck;
#[path = "storm/feature_choice.rs"]
mod feature_choice;
#[path = "storm/features.rs"]
mod features;
#[path = "storm/processes.rs"]
mod processes;
#[path = "storm/record_action.rs"]
mod record_action;
#[path = "storm/record_feature.rs"]
mod record_feature;
#[path = "storm/storm_user.rs"]
mod storm_user;
#[path = "storm/town_model.rs"]
mod town_model;

use std::io::Write as _;
use std::sync::Arc;

use processes::StormStore;
use roundtable_domain::TableNames;
use roundtable_dynamo::Config;
use roundtable_model::table::{Clock, ManualClock, SystemClock};

const VARIABLE: &str = "ROUNDTABLE_DYNAMODB_ENDPOINT";
/// Actions of each user.
const STEPS: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_over_processes_that_share_a_stream() {
    let Ok(address) = std::env::var(VARIABLE) else {
        let _ = writeln!(std::io::stderr(), "{VARIABLE} names no server: nothing to test");
        return;
    };
    // The server deletes expired items by its own clock, so the town's clock must be current.
    let now_ms = SystemClock.now_ms();
    let clock = Arc::new(ManualClock::at_ms(now_ms));
    // A server may outlive many tests, so each uses tables of its own.
    let named = |table: &str| format!("storm_{now_ms}_{}_{table}", std::process::id());
    let tables = TableNames { core: named("core"), logins: named("logins"), ops: named("ops") };
    let (config, media_store) = (Config::local(address), Arc::default());
    processes::storm(StormStore { config, clock, tables, media_store }, cast::steps(STEPS)).await;
}
