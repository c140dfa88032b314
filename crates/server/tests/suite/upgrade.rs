//! Data directories written by earlier versions, served by this one.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use roundtable_table::ManualClock;
use serde_json::{Value, json};

use crate::test_server::{TestServer, configuration};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/fixtures");

const LOGINS: [(&str, &str); 4] = [
    ("wren", "wren at the table"),
    ("rowan", "rowan keeps the peace"),
    ("alder", "alder holds the keys"),
    ("finch", "finch sings at dawn"),
];

fn unpack(archive: &str, into: &Path) -> Value {
    let archive = Path::new(FIXTURES).join(archive);
    let status = Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(into).status();
    assert!(status.unwrap().success(), "{} was not unpacked", archive.display());
    serde_json::from_slice(&std::fs::read(into.join("story.json")).unwrap()).unwrap()
}

async fn sign_in(server: &TestServer, name: &str) -> String {
    let password = LOGINS.into_iter().find(|(login, _)| *login == name).unwrap().1;
    let login = format!(
        "mutation {{ login(email: \"{name}@example.com\", password: \"{password}\") {{ accessToken }} }}"
    );
    let (_, answer) = server.ask(None, &login).await;
    answer["data"]["login"]["accessToken"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// An answer without the texts of errors, which may become clearer.
fn outcome(answer: &Value) -> Value {
    json!({ "data": answer["data"], "error": answer["errors"][0]["errorType"] })
}

/// I8, I11: sessions, passwords, feeds and the outcomes of requests survive the upgrade. The server was
/// killed with jobs queued; they are done now.
#[tokio::test(flavor = "multi_thread")]
async fn stores_of_earlier_versions_are_served_and_remember_requests() {
    for archive in ["store-0.1.tar.gz", "store-0.1-b.tar.gz"] {
        is_served(archive).await;
    }
}

async fn is_served(archive: &str) {
    let directory = tempfile::tempdir().unwrap();
    let story = unpack(archive, directory.path());
    // Outcomes are kept for a day: the server starts a minute after the old one was killed.
    let started_ms = story["writtenAtMs"].as_u64().unwrap() + 60_000;
    let clock = Arc::new(ManualClock::at_ms(started_ms));
    let server = TestServer::start(configuration(&directory.path().join("data")), clock).await;

    for request in story["requests"].as_array().unwrap() {
        let (who, document) = (&request["who"], request["document"].as_str().unwrap());
        let token = sign_in(&server, who.as_str().unwrap()).await;
        let (_, answer) = server.ask(Some(&token), document).await;
        assert_eq!(outcome(&answer), outcome(&request["answer"]), "{who}: {document}");
    }

    let finch = sign_in(&server, "finch").await;
    let feed = "{ getFeed(limit: 10) { items { previewText } } }";
    let (_, answer) = server.ask(Some(&finch), feed).await;
    assert_eq!(
        answer["data"]["getFeed"]["items"][0]["previewText"], "Work left in the queues 4 @finch",
        "{answer}"
    );
    let room = format!("{{ listMessages(roomId: {}) {{ items {{ text }} }} }}", story["room"]);
    let (_, answer) = server.ask(Some(&finch), &room).await;
    let texts = answer["data"]["listMessages"]["items"].as_array().map(Vec::len);
    assert_eq!(texts, Some(2), "{answer}");
    server.stop().await;
}
