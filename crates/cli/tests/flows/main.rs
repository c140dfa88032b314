//! The flows of the documentation, run as they stand there: the document is the test.

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

/// Where the documents are.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Plays a document with at least so many sections that have something to run.
async fn play(name: &str, flows_min: usize) -> Player {
    let document = Document::read(name, &text(name));
    // A document that is not understood has no flows, and nothing in it would fail.
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

/// Every flow of the API does what the document says, in its order, on one server.
#[tokio::test(flavor = "multi_thread")]
async fn the_flows_of_the_api_are_as_documented() {
    play("docs/API.md", 20).await;
}

/// What a newcomer is told to type first works as it stands.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_steps_are_as_documented() {
    play("README.md", 2).await;
}

/// What one process can do is run; every figure that it tells is in the list, and no other.
#[tokio::test(flavor = "multi_thread")]
async fn running_a_server_is_as_documented() {
    let name = "docs/OPERATIONS.md";
    let player = play(name, 5).await;
    let mut told = player.metrics().await;
    // Only those tell it that hear others, on DynamoDB.
    told.push(String::from("roundtable_live_complete"));
    let text = text(name);
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let mut listed: Vec<_> = rows.filter(|row| row.starts_with("roundtable_")).collect();
    told.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, told);
}
