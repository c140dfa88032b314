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

#[path = "storm/agree.rs"]
mod agree;
#[path = "storm/cast.rs"]
mod cast;
#[path = "storm/deck.rs"]
mod deck;
#[path = "storm/heard.rs"]
mod heard;
#[path = "storm/life.rs"]
mod life;
#[path = "storm/model.rs"]
mod model;
#[path = "storm/person.rs"]
mod person;
#[path = "storm/processes.rs"]
mod processes;
#[path = "storm/pursuing.rs"]
mod pursuing;
#[path = "storm/reached.rs"]
mod reached;
#[path = "storm/recall.rs"]
mod recall;
#[path = "storm/remember.rs"]
mod remember;
#[path = "storm/told.rs"]
mod told;
#[path = "storm/traded.rs"]
mod traded;

use std::io::Write as _;
use std::sync::Arc;

use processes::Place;
use roundtable_domain::TableNames;
use roundtable_dynamo::Config;
use roundtable_model::table::{Clock, ManualClock, SystemClock};

const VARIABLE: &str = "ROUNDTABLE_DYNAMODB_ENDPOINT";
/// What each of the people does.
const STEPS: usize = 12;

/// I1 to I3, I6, I8, R32, R33
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_over_processes_that_share_a_stream() {
    let Ok(address) = std::env::var(VARIABLE) else {
        let _ = writeln!(std::io::stderr(), "{VARIABLE} names no server: nothing to test");
        return;
    };
    // The server sweeps by its own clock: what people wrote down for a day must not be a year old.
    let now_ms = SystemClock.now_ms();
    let clock = Arc::new(ManualClock::at_ms(now_ms));
    // A server may outlive many tests, and no two of them should meet.
    let named = |table: &str| format!("storm_{now_ms}_{}_{table}", std::process::id());
    let tables = TableNames { core: named("core"), logins: named("logins"), ops: named("ops") };
    let (config, shelf) = (Config::local(address), Arc::default());
    processes::storm(Place { config, clock, tables, shelf }, cast::steps(STEPS)).await;
}
