//! Uploads of files.

use roundtable_testkit::Town;
use serde_json::{Value, json};

use crate::api_town::ApiTown;

/// R43: completing an upload checks the file.
#[tokio::test]
async fn a_file_is_announced_uploaded_and_completed() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let picture = Town::picture();
    let announce = |purpose: &str| {
        format!(
            "mutation {{ createUpload(input: {{ contentType: \"image/png\", bytes: {}, purpose: \"{purpose}\" }})
                {{ s3Key uploadUrl method headers expiresAt }} }}",
            picture.len()
        )
    };
    let ticket = api.run("ana", &announce("profile")).await["createUpload"].take();
    let headers = serde_json::from_str::<Value>(ticket["headers"].as_str().unwrap()).unwrap();
    assert!(headers.is_object() && ticket["uploadUrl"].is_string());
    let complete = format!(
        "mutation {{ completeUpload(s3Key: {}) {{ s3Key contentType url }} }}",
        ticket["s3Key"]
    );
    assert_eq!(api.error_code("ana", &complete).await, "CONFLICT", "nothing has arrived");
    let key = ticket["s3Key"].as_str().unwrap().parse().unwrap();
    api.town.media_store().put_incoming(&key, &picture);
    assert_eq!(api.error_code("bo", &complete).await, "NOT_FOUND");
    let media = api.run("ana", &complete).await["completeUpload"].take();
    assert_eq!(media["contentType"], json!("image/png"));
    assert!(media["url"].is_string());
    assert_eq!(api.error_code("ana", &announce("decoration")).await, "BAD_REQUEST");
}
