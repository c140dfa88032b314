//! Files.

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::scene::{Scene, text};

/// The smallest valid picture.
const PICTURE: &[u8] = &[
    0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 0xff, 0xff, 0xff, 0, 0, 0, 0x21,
    0xf9, 4, 1, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3b,
];
const ANNOUNCE: &str = "mutation ($bytes: Int!, $once: ID) {
    createUpload(input: { contentType: \"image/gif\", bytes: $bytes, purpose: \"post\" },
        requestId: $once) { s3Key uploadUrl method headers } }";
const COMPLETE: &str = "mutation ($key: String!, $once: ID) {
    completeUpload(s3Key: $key, requestId: $once) { s3Key contentType width height } }";
const POST: &str = "mutation ($key: String!, $once: ID) { createPost(requestId: $once, input: {
    content: \"look\", contentType: image, visibility: followers,
    media: [{ s3Key: $key, contentType: \"image/gif\" }] }) { id } }";
const LOOK: &str = "query ($id: ID!) { getPost(id: $id) { media { url contentType width } } }";

pub(super) async fn a_picture_is_sent_and_looked_at(scene: &Scene) {
    let [ana, bo, cleo] =
        [scene.sign_up("ana").await, scene.sign_up("bo").await, scene.sign_up("cleo").await];
    bo.follows(&ana).await;
    let ticket = ana.ask(ANNOUNCE, json!({ "bytes": PICTURE.len() })).await["createUpload"].take();
    let key = json!({ "key": ticket["s3Key"] });
    assert_eq!(ana.refused(COMPLETE, key.clone()).await, "CONFLICT", "nothing has arrived");
    assert_eq!(ticket["method"], "PUT");
    let headers: Value = serde_json::from_str(ticket["headers"].as_str().unwrap()).unwrap();
    let mut send = scene.http.put(text(&ticket["uploadUrl"])).body(PICTURE);
    for (name, value) in headers.as_object().unwrap() {
        send = send.header(name, value.as_str().unwrap());
    }
    assert!(send.send().await.unwrap().status().is_success());
    assert_eq!(bo.refused(COMPLETE, key.clone()).await, "NOT_FOUND", "it is somebody else's");
    let media = ana.ask(COMPLETE, key.clone()).await["completeUpload"].take();
    assert_eq!((&media["width"], &media["height"]), (&json!(1), &json!(1)));

    let post = ana.ask(POST, key).await["createPost"]["id"].take();
    let response = bo.ask(LOOK, json!({ "id": post })).await["getPost"]["media"][0].take();
    assert_eq!((&response["contentType"], &response["width"]), (&json!("image/gif"), &json!(1)));
    let url = text(&response["url"]);
    let shown = scene.http.get(&url).send().await.unwrap();
    assert_eq!(shown.headers()["content-type"], "image/gif");
    assert_eq!(shown.bytes().await.unwrap(), PICTURE);
    let part = scene.http.get(&url).header("range", "bytes=0-5").send().await.unwrap();
    assert_eq!(
        (part.status(), &*part.bytes().await.unwrap()),
        (StatusCode::PARTIAL_CONTENT, &b"GIF89a"[..])
    );
    let unsigned = url.split('?').next().unwrap();
    let kept = scene.http.get(unsigned).send().await.unwrap();
    assert_eq!(kept.status(), StatusCode::FORBIDDEN);
    assert!(cleo.ask(LOOK, json!({ "id": post })).await["getPost"].is_null());
}
