//! The storm over processes, against the server that `ROUNDTABLE_DYNAMODB_ENDPOINT` names:
//!
//! ```text
//! scripts/dynamodb-local.sh cargo test -p roundtable-testkit --test endpoint
//! ```

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "storm/check.rs"]
mod check;
#[path = "storm/processes.rs"]
mod processes;

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
    let store = StormStore { config, clock, tables, media_store, unreliable_seed: None };
    processes::storm(store, check::steps(STEPS)).await;
}
