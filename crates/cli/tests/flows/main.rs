//! Runs the flows of the documentation as they are written: the document is the test.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its server has failed")]

mod answers;
mod document;
mod player;
mod server;
mod shell;
mod sockets;

use std::path::{Path, PathBuf};

use crate::document::Document;
use crate::player::Player;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Plays a document, which must have at least this many sections with something to run.
async fn play(name: &str, flows_min: usize) -> Player {
    let document = Document::read(name, &text(name));
    // A document that is not parsed has no flows, and would not fail otherwise.
    let flows = document.sections().len();
    assert!(flows >= flows_min, "{name}: {flows} sections have something to run");
    let mut player = Player::new(root());
    for step in &document.steps {
        player.play(step).await;
    }
    player.settle("the end");
    player
}

fn text(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// Every flow of the API document does what it says, in order, on one server.
#[tokio::test(flavor = "multi_thread")]
async fn the_flows_of_the_api_are_as_documented() {
    play("docs/API.md", 20).await;
}

/// The first commands of the README work as they are written.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_steps_are_as_documented() {
    play("README.md", 2).await;
}

/// The operations guide runs on one process, and lists every metric and no other.
#[tokio::test(flavor = "multi_thread")]
async fn running_a_server_is_as_documented() {
    let name = "docs/OPERATIONS.md";
    let player = play(name, 5).await;
    let mut reported = player.metrics().await;
    // Reported only by servers with an archive.
    reported.push(String::from("roundtable_engine_archive_age_seconds"));
    // Reported only by processes that connect to workers, on DynamoDB.
    reported.push(String::from("roundtable_live_all_workers_connected"));
    reported.push(String::from("roundtable_live_connected_workers"));
    let text = text(name);
    let is_metric = |row: &&str| {
        let is_process = cfg!(target_os = "linux") && row.starts_with("process_");
        is_process || row.starts_with("roundtable_")
    };
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let mut listed: Vec<_> = rows.filter(is_metric).collect();
    reported.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, reported);
}
