//! Uploads cannot fill the disk: quotas of people, one transfer of each file, deadlines, a floor of free
//! space, and a directory on another volume.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::future::join_all;
use reqwest::StatusCode;
use roundtable_server::Configuration;
use roundtable_table::SystemClock;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::test_server::{TestServer, code, configuration, read};

const ANNOUNCE: &str = "mutation ($type: String!, $bytes: Int!) {
    createUpload(input: { contentType: $type, bytes: $bytes }) { s3Key uploadUrl } }";
const COMPLETE: &str = "mutation ($key: String!) { completeUpload(s3Key: $key) { s3Key } }";
const POST: &str = "mutation ($key: String!) { createPost(input: { content: \"look\",
    contentType: image, media: [{ s3Key: $key, contentType: \"image/gif\" }] }) { id } }";
const DELETE: &str = "mutation ($id: ID!) { deletePost(postId: $id) { id } }";
const GIF: &str = "image/gif";
const PENDING: &str = "roundtable_media_transfers";

/// The smallest valid picture, and any number of bytes after it.
fn picture(bytes: usize) -> Vec<u8> {
    let mut picture = b"GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0!\xf9\x04\x01\0\0\0\0,\0\0\0\0\
        \x01\0\x01\0\0\x02\x02D\x01\0;"
        .to_vec();
    picture.resize(bytes, 0);
    picture
}

struct UploadFixture {
    server: TestServer,
    data: TempDir,
    ana: String,
}

struct Ticket {
    key: String,
    url: String,
}

impl UploadFixture {
    async fn with(change: impl FnOnce(&mut Configuration)) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut configuration = configuration(data.path());
        change(&mut configuration);
        let server = TestServer::start(configuration, Arc::new(SystemClock)).await;
        let ana = server.sign_up("ana").await;
        Self { server, data, ana }
    }

    async fn announce(
        &self,
        token: &str,
        content_type: &str,
        bytes: usize,
    ) -> Result<Ticket, Value> {
        let variables = json!({ "type": content_type, "bytes": bytes });
        let (_, answer) = self.server.ask_with(Some(token), ANNOUNCE, variables).await;
        let ticket = &answer["data"]["createUpload"];
        match (ticket["s3Key"].as_str(), ticket["uploadUrl"].as_str()) {
            (Some(key), Some(url)) => Ok(Ticket { key: key.into(), url: url.into() }),
            _ => Err(answer),
        }
    }

    async fn ticket(&self, bytes: usize) -> Ticket {
        self.announce(&self.ana, GIF, bytes).await.unwrap()
    }

    async fn put(&self, ticket: &Ticket, bytes: Vec<u8>) -> (StatusCode, Value) {
        let put = self.server.client.put(&ticket.url).header("content-type", GIF).body(bytes);
        read(put.send().await.unwrap()).await
    }

    async fn ask(&self, query: &str, variables: Value) -> Value {
        self.server.ask_with(Some(&self.ana), query, variables).await.1
    }

    /// Opens a connection that has sent the head of an upload, and some of its bytes.
    async fn slow_put(&self, ticket: &Ticket, bytes: usize, sent: usize) -> TcpStream {
        let address = self.server.url.strip_prefix("http://").unwrap();
        let mut slow = TcpStream::connect(address).await.unwrap();
        let target = ticket.url.strip_prefix(&self.server.url).unwrap();
        let head = format!(
            "PUT {target} HTTP/1.1\r\nhost: x\r\ncontent-type: {GIF}\r\nconnection: close\r\n\
             content-length: {bytes}\r\n\r\n"
        );
        slow.write_all(head.as_bytes()).await.unwrap();
        slow.write_all(&picture(bytes)[..sent]).await.unwrap();
        slow
    }

    fn media(&self) -> PathBuf {
        self.data.path().join("media")
    }
}

/// Reads a response to its end. A server that does not read the rest of a body may reset the
/// connection after it.
async fn response(mut connection: TcpStream) -> String {
    let mut response = Vec::new();
    while connection.read_buf(&mut response).await.is_ok_and(|length| length > 0) {}
    String::from_utf8(response).unwrap()
}

/// The bytes of all files below a directory.
fn bytes_in(at: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(at) else { return 0 };
    let sizes = entries.map(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bytes_in(&path)
        } else {
            std::fs::metadata(&path).map_or(0, |it| it.len())
        }
    });
    sizes.sum()
}

async fn until(condition: impl AsyncFn() -> bool) {
    let met = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), met).await.unwrap();
}

#[tokio::test]
async fn a_new_user_gets_tickets_for_no_more_than_the_quota() {
    let all = UploadFixture::with(|_| {}).await;
    let video = 500 << 20;
    let asked = (0..64).map(|_| all.announce(&all.ana, "video/mp4", video));
    let answers = join_all(asked).await;
    let (granted, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!(granted.len(), 4, "two GiB of the 31 that were asked for");
    for answer in refused {
        let answer = answer.err().unwrap();
        assert_eq!(code(&answer), "QUOTA_EXCEEDED", "{answer}");
    }
    let bo = all.server.sign_up("bo").await;
    all.announce(&bo, "video/mp4", video).await.ok().unwrap();
    all.server.stop().await;
}

/// What is deleted makes room again, and what is pending is limited.
#[tokio::test]
async fn deleted_files_make_room() {
    let bytes = 10_000;
    let all = UploadFixture::with(|all| {
        let media = &mut all.settings.media;
        (media.image_bytes_max, media.video_bytes_max) = (bytes as u64, bytes as u64);
        media.account_bytes_max = 2 * bytes as u64;
        media.account_uploads_max = 2;
    });
    let all = all.await;
    let ticket = all.ticket(bytes).await;
    all.ticket(1).await;
    let third = all.announce(&all.ana, GIF, 1).await.err().unwrap();
    assert_eq!(code(&third), "QUOTA_EXCEEDED");
    assert!(third.to_string().contains("pending"), "{third}");

    assert_eq!(all.put(&ticket, picture(bytes)).await.0, StatusCode::NO_CONTENT);
    let done = all.ask(COMPLETE, json!({ "key": ticket.key })).await;
    assert_eq!(done["data"]["completeUpload"]["s3Key"], ticket.key, "{done}");
    let post = all.ask(POST, json!({ "key": ticket.key })).await;
    let full = all.announce(&all.ana, GIF, bytes).await.err().unwrap();
    assert_eq!(code(&full), "QUOTA_EXCEEDED");
    let id = &post["data"]["createPost"]["id"];
    let deleted = all.ask(DELETE, json!({ "id": id })).await;
    assert_eq!(deleted["data"]["deletePost"]["id"], *id, "{deleted}");
    until(async || all.announce(&all.ana, GIF, bytes).await.is_ok()).await;
    all.server.stop().await;
}

/// One address that sends the same upload many times at once stages one file.
#[tokio::test]
async fn an_upload_is_received_once_and_one_at_a_time() {
    let bytes = 200_000;
    let all = UploadFixture::with(|_| {}).await;
    let ticket = all.ticket(bytes).await;
    let mut first = all.slow_put(&ticket, bytes, 100_000).await;
    all.server.until(PENDING, 1).await;
    let parallel = join_all((0..8).map(|_| all.slow_put(&ticket, bytes, 0))).await;
    for refused in join_all(parallel.into_iter().map(response)).await {
        assert!(refused.starts_with("HTTP/1.1 409"), "{refused}");
        assert!(refused.contains("CONFLICT"), "{refused}");
    }
    assert!(bytes_in(&all.media()) <= bytes as u64);
    first.write_all(&picture(bytes)[100_000..]).await.unwrap();
    let first = response(first).await;
    assert!(first.starts_with("HTTP/1.1 204"), "{first}");

    let (status, again) = all.put(&ticket, picture(bytes)).await;
    assert_eq!((status, code(&again)), (StatusCode::CONFLICT, "CONFLICT"), "it is there");
    let done = all.ask(COMPLETE, json!({ "key": ticket.key })).await;
    assert_eq!(done["data"]["completeUpload"]["s3Key"], ticket.key, "{done}");
    let (status, again) = all.put(&ticket, picture(bytes)).await;
    assert_eq!((status, code(&again)), (StatusCode::CONFLICT, "CONFLICT"), "it is complete");
    until(async || bytes_in(&all.media()) == bytes as u64).await;

    // A refused file is removed, and cannot be sent again either.
    let junk = all.ticket(bytes).await;
    assert_eq!(all.put(&junk, vec![b'<'; bytes]).await.0, StatusCode::NO_CONTENT);
    assert_eq!(code(&all.ask(COMPLETE, json!({ "key": junk.key })).await), "BAD_REQUEST");
    let (status, again) = all.put(&junk, vec![b'<'; bytes]).await;
    assert_eq!((status, code(&again)), (StatusCode::CONFLICT, "CONFLICT"), "it was refused");
    until(async || bytes_in(&all.media()) == bytes as u64).await;
    all.server.stop().await;
}

#[tokio::test]
async fn an_upload_has_a_deadline_for_all_of_it() {
    let bytes = 100_000;
    let all = UploadFixture::with(|all| all.settings.media.transfer_seconds = 1).await;
    let ticket = all.ticket(bytes).await;
    let mut slow = all.slow_put(&ticket, bytes, 1_000).await;
    // It never pauses for long, and is refused nevertheless.
    let trickle = async {
        while slow.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let mut byte = [0];
            let answered = slow.peek(&mut byte);
            if tokio::time::timeout(Duration::from_millis(1), answered).await.is_ok() {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), trickle).await.unwrap();
    let refused = response(slow).await;
    assert!(refused.starts_with("HTTP/1.1 408"), "{refused}");
    assert!(refused.contains("it may take 1 seconds"), "{refused}");
    until(async || bytes_in(&all.media()) == 0).await;
    assert_eq!(
        all.put(&ticket, picture(bytes)).await.0,
        StatusCode::NO_CONTENT,
        "it may be tried again"
    );
    all.server.stop().await;
}

/// One account cannot take all transfers.
#[tokio::test]
async fn transfers_are_limited_and_shared() {
    let bytes = 10_000;
    let all = UploadFixture::with(|all| all.settings.media.transfers_max = 4).await;
    let (one, other) = (all.ticket(bytes).await, all.ticket(bytes).await);
    let mut slow = all.slow_put(&one, bytes, 1_000).await;
    all.server.until(PENDING, 1).await;
    let (status, refused) = all.put(&other, picture(bytes)).await;
    let busy = (StatusCode::SERVICE_UNAVAILABLE, "RATE_LIMITED");
    assert_eq!((status, code(&refused)), busy, "a quarter is one");
    let bo = all.server.sign_up("bo").await;
    let theirs = all.announce(&bo, GIF, bytes).await.unwrap();
    assert_eq!(all.put(&theirs, picture(bytes)).await.0, StatusCode::NO_CONTENT);
    slow.write_all(&picture(bytes)[1_000..]).await.unwrap();
    assert!(response(slow).await.starts_with("HTTP/1.1 204"));
    assert_eq!(all.put(&other, picture(bytes)).await.0, StatusCode::NO_CONTENT);
    all.server.stop().await;
}

#[tokio::test]
async fn uploads_are_refused_below_the_floor_of_free_space() {
    let data = tempfile::tempdir().unwrap();
    let server = TestServer::start(configuration(data.path()), Arc::new(SystemClock)).await;
    let ana = server.sign_up("ana").await;
    let all = UploadFixture { server, data, ana };
    let ticket = all.ticket(1_000).await;
    let UploadFixture { server, data, ana } = all;
    let url = server.url.clone();
    server.stop().await;

    let mut full = configuration(data.path());
    full.settings.media.free_bytes_min = u64::MAX / 2;
    let server = TestServer::start(full, Arc::new(SystemClock)).await;
    let all = UploadFixture { server, data, ana };
    let refused = all.announce(&all.ana, GIF, 1_000).await.err().unwrap();
    assert_eq!(code(&refused), "STORAGE_FULL", "{refused}");
    let ticket = Ticket { url: ticket.url.replace(&url, &all.server.url), ..ticket };
    let (status, refused) = all.put(&ticket, picture(1_000)).await;
    assert_eq!((status, code(&refused)), (StatusCode::INSUFFICIENT_STORAGE, "STORAGE_FULL"));
    assert_eq!(bytes_in(&all.media()), 0);
    // Everything else works.
    assert_eq!(all.server.me(&all.ana).await.1["data"]["me"]["nickname"], "ana");
    assert_eq!(all.server.get("/readyz").await.status(), StatusCode::OK);
    let UploadFixture { server, data, .. } = all;
    server.stop().await;

    let server = TestServer::start(configuration(data.path()), Arc::new(SystemClock)).await;
    let url = ticket.url.split_once("/media/").unwrap().1;
    let put = server.client.put(format!("{}/media/{url}", server.url)).header("content-type", GIF);
    let sent = put.body(picture(1_000)).send().await.unwrap();
    assert_eq!(sent.status(), StatusCode::NO_CONTENT, "there is space again");
    server.stop().await;
}

/// Files may be on another volume than the store: nothing is moved from one to the other.
#[tokio::test]
async fn files_can_be_on_another_volume() {
    let memory = Path::new("/dev/shm");
    let elsewhere = tempfile::tempdir_in(if memory.is_dir() { memory } else { Path::new(".") });
    let elsewhere = elsewhere.unwrap();
    let at = elsewhere.path().join("files");
    let all = UploadFixture::with(|all| all.settings.media.directory = Some(at.clone())).await;
    if memory.is_dir() {
        let device = |path: &Path| std::fs::metadata(path).unwrap().dev();
        assert_ne!(device(&at), device(all.data.path()), "otherwise this test shows nothing");
    }
    let ticket = all.ticket(5_000).await;
    assert_eq!(all.put(&ticket, picture(5_000)).await.0, StatusCode::NO_CONTENT);
    let done = all.ask(COMPLETE, json!({ "key": ticket.key })).await;
    assert_eq!(done["data"]["completeUpload"]["s3Key"], ticket.key, "{done}");
    assert!(at.join("kept").join(&ticket.key).is_dir());
    assert!(!all.media().exists(), "nothing is in the data directory");
    all.server.stop().await;
}

/// What the stream has missed is found when the server starts, and every hour.
#[tokio::test]
async fn leftovers_are_swept() {
    let data = tempfile::tempdir().unwrap();
    let left = data.path().join("media/incoming/u/ana");
    std::fs::create_dir_all(&left).unwrap();
    for (name, hours) in [("old", 3), ("old#1", 3), ("new", 1), ("new#1", 1)] {
        std::fs::write(left.join(name), "bytes").unwrap();
        let file = std::fs::File::options().write(true).open(left.join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_hours(hours)).unwrap();
    }
    let server = TestServer::start(configuration(data.path()), Arc::new(SystemClock)).await;
    until(async || !left.join("old").exists() && !left.join("old#1").exists()).await;
    assert!(left.join("new").exists() && left.join("new#1").exists());
    server.stop().await;
}
