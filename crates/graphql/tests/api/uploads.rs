//! Sending files.

use roundtable_testkit::Town;
use serde_json::{Value, json};

use crate::stage::Stage;

/// R43: a file is announced, sent, looked at, and then there.
#[tokio::test]
async fn a_file_is_announced_sent_and_taken() {
    let stage = Stage::of(["ana", "bo"]).await;
    let picture = Town::picture();
    let announce = |purpose: &str| {
        format!(
            "mutation {{ createUpload(input: {{ contentType: \"image/png\", bytes: {}, purpose: \"{purpose}\" }})
                {{ s3Key uploadUrl method headers expiresAt }} }}",
            picture.len()
        )
    };
    let ticket = stage.ask("ana", &announce("profile")).await["createUpload"].take();
    let headers = serde_json::from_str::<Value>(ticket["headers"].as_str().unwrap()).unwrap();
    assert!(headers.is_object() && ticket["uploadUrl"].is_string());
    let complete = format!(
        "mutation {{ completeUpload(s3Key: {}) {{ s3Key contentType url }} }}",
        ticket["s3Key"]
    );
    assert_eq!(stage.refused("ana", &complete).await, "CONFLICT", "nothing has arrived");
    let key = ticket["s3Key"].as_str().unwrap().parse().unwrap();
    stage.town.shelf().arrive(&key, &picture);
    assert_eq!(stage.refused("bo", &complete).await, "NOT_FOUND");
    let media = stage.ask("ana", &complete).await["completeUpload"].take();
    assert_eq!(media["contentType"], json!("image/png"));
    assert!(media["url"].is_string());
    assert_eq!(stage.refused("ana", &announce("decoration")).await, "BAD_REQUEST");
}
