//! Media files in the server's own directory (R43).

use std::sync::Arc;

use reqwest::StatusCode;
use roundtable_domain::NewUpload;
use roundtable_table::{ManualClock, SystemClock};
use serde_json::{Value, json};

use crate::http2::{DEADLINE, Http2Client, UNREAD};
use crate::test_server::{TestServer, code, configuration, read};

/// The smallest valid picture.
const PICTURE: &[u8] = &[
    0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 0xff, 0xff, 0xff, 0, 0, 0, 0x21,
    0xf9, 4, 1, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3b,
];

#[tokio::test]
async fn a_file_is_uploaded_and_downloaded_by_signed_urls() {
    let server = TestServer::fresh().await;
    let ana = server.registered("ana").await;
    let media = &server.handle.services().media;
    let bytes = PICTURE.len() as u64;
    let new = NewUpload { content_type: "image/gif".into(), bytes, purpose: None };
    let ticket = media.create_upload(&ana.caller, &new, None).await.unwrap();
    assert!(ticket.upload_url.starts_with(&format!("{}/media/", server.url)));
    let send = async |url: &str, kind: &str, bytes: &[u8]| {
        let put = server.client.put(url).header("content-type", kind).body(bytes.to_vec());
        put.send().await.unwrap()
    };
    for (kind, bytes) in [("text/html", PICTURE), ("image/gif", &PICTURE[..10]), ("image/gif", b"")]
    {
        let response = read(send(&ticket.upload_url, kind, bytes).await).await;
        assert_eq!((response.0, code(&response.1)), (StatusCode::BAD_REQUEST, "BAD_REQUEST"));
    }
    let forged = ticket.upload_url.replace("gif", "png");
    assert_eq!(send(&forged, "image/png", PICTURE).await.status(), StatusCode::FORBIDDEN);
    let sent = send(&ticket.upload_url, "image/gif", PICTURE).await;
    assert_eq!(sent.status(), StatusCode::NO_CONTENT);

    let stranger = server.client.get(ticket.upload_url.split('?').next().unwrap());
    let (status, response): (_, Value) = read(stranger.send().await.unwrap()).await;
    assert_eq!((status, code(&response)), (StatusCode::FORBIDDEN, "FORBIDDEN"));
    server.stop().await;
}

const UPLOAD: &str = "mutation ($bytes: Int!) { createUpload(input: { contentType: \"image/gif\",
    bytes: $bytes }) { s3Key uploadUrl method headers } }";
const COMPLETE: &str =
    "mutation ($key: String!) { completeUpload(s3Key: $key) { s3Key width url } }";
const POST: &str = "mutation ($key: String!, $visibility: Visibility!) { createPost(input: {
    content: \"look\", contentType: image, visibility: $visibility,
    media: [{ s3Key: $key, contentType: \"image/gif\" }] }) { id } }";
const SEE: &str = "query ($id: ID!) { getPost(id: $id) { media { url } } }";

/// Announces, uploads and completes a picture, as clients do; returns its key.
async fn picture(server: &TestServer, token: &str) -> String {
    let bytes = json!({ "bytes": PICTURE.len() });
    let (_, ticket) = server.ask_with(Some(token), UPLOAD, bytes).await;
    let ticket = &ticket["data"]["createUpload"];
    assert_eq!(ticket["method"], "PUT", "{ticket}");
    let mut put = server.client.put(ticket["uploadUrl"].as_str().unwrap()).body(PICTURE.to_vec());
    let headers: Value = match &ticket["headers"] {
        Value::String(text) => serde_json::from_str(text).unwrap(),
        other => other.clone(),
    };
    for (name, value) in headers.as_object().unwrap() {
        put = put.header(name, value.as_str().unwrap());
    }
    let key = ticket["s3Key"].as_str().unwrap().to_owned();
    let (_, early) = server.ask_with(Some(token), COMPLETE, json!({ "key": key })).await;
    assert!(!code(&early).is_empty(), "nothing was sent yet: {early}");
    assert_eq!(put.send().await.unwrap().status(), StatusCode::NO_CONTENT);
    let (_, done) = server.ask_with(Some(token), COMPLETE, json!({ "key": key })).await;
    assert_eq!(done["data"]["completeUpload"]["width"], 1, "{done}");
    key
}

/// R43: users get URLs for the files of what they may see, valid for minutes; others get neither.
#[tokio::test]
async fn pictures_are_visible_with_their_post() {
    let data = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at_ms(1_800_000_000_000));
    let server = TestServer::start(configuration(data.path()), clock.clone()).await;
    let (ana, bo) = (server.sign_up("ana").await, server.sign_up("bo").await);
    let post = async |visibility: &str| {
        let key = picture(&server, &ana).await;
        let variables = json!({ "key": key, "visibility": visibility });
        let (_, made) = server.ask_with(Some(&ana), POST, variables).await;
        made["data"]["createPost"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
    };
    let shown_url = async |token: Option<&str>, id: &str| {
        let (_, post) = server.ask_with(token, SEE, json!({ "id": id })).await;
        post["data"]["getPost"]["media"][0]["url"].as_str().map(str::to_owned)
    };
    let (public, private) = (post("public").await, post("private").await);
    let url = shown_url(Some(&bo), &public).await.unwrap();
    let response = server.client.get(&url).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let headers = response.headers();
    assert_eq!(headers["content-type"], "image/gif");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert!(headers["content-security-policy"].to_str().unwrap().contains("sandbox"));
    assert_eq!(response.bytes().await.unwrap(), PICTURE);
    let part = server.client.get(&url).header("range", "bytes=0-2").send().await.unwrap();
    assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT);
    assert_eq!(part.bytes().await.unwrap(), PICTURE[..3]);

    let hidden = shown_url(Some(&ana), &private).await.unwrap();
    assert_eq!(server.client.get(&hidden).send().await.unwrap().status(), StatusCode::OK);
    assert_eq!(shown_url(Some(&bo), &private).await, None);
    assert_eq!(shown_url(None, &private).await, None);
    // A signature belongs to one file, and expires.
    let (_, proof) = url.split_once('?').unwrap();
    let borrowed = format!("{}?{proof}", hidden.split_once('?').unwrap().0);
    for address in [&borrowed, hidden.split_once('?').unwrap().0] {
        let (status, response) = read(server.client.get(address).send().await.unwrap()).await;
        assert_eq!((status, code(&response)), (StatusCode::FORBIDDEN, "FORBIDDEN"), "{address}");
    }
    clock.advance_ms(10 * 60 * 1000);
    assert_eq!(server.client.get(&hidden).send().await.unwrap().status(), StatusCode::FORBIDDEN);
    server.stop().await;
}

/// One URL and a window of zero would use up the descriptors of the server.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_download_that_is_not_taken_keeps_no_file_open() {
    let data = tempfile::tempdir().unwrap();
    let mut configuration = configuration(data.path());
    configuration.process.live.slow_seconds = 60;
    let server = TestServer::start(configuration, Arc::new(SystemClock)).await;
    let ana = server.sign_up("ana").await;
    let key = picture(&server, &ana).await;
    let variables = json!({ "key": key, "visibility": "public" });
    let (_, made) = server.ask_with(Some(&ana), POST, variables).await;
    let id = json!({ "id": made["data"]["createPost"]["id"] });
    let (_, seen) = server.ask_with(Some(&ana), SEE, id).await;
    let url = seen["data"]["getPost"]["media"][0]["url"].as_str().unwrap();
    let client = Http2Client::connect(&server, None, 0).await;
    let mut unread = Vec::new();
    for _ in 0..32 {
        let mut requests = client.requests.clone().ready().await.unwrap();
        let request = axum::http::Request::get(url).body(()).unwrap();
        let response = requests.send_request(request, true).unwrap().0.await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        unread.push(response);
    }
    let open_files = || {
        let entries = std::fs::read_dir("/proc/self/fd").unwrap();
        let files = entries.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
        files
            .filter(|file| file.starts_with(data.path()) && file.to_string_lossy().contains(&key))
            .count()
    };
    let closed = async {
        while open_files() > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(DEADLINE, closed).await.is_ok(), "{} are open", open_files());
    assert!(!client.connection.is_finished());
    // A small file, so that each response has one chunk.
    server.until(UNREAD, 32 * (16 << 10)).await;
    client.connection.abort();
    drop((client, unread));
    server.until(UNREAD, 0).await;
    server.stop().await;
}
