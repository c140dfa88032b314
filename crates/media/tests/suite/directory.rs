//! Media files in a directory.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, TryStreamExt, stream};
use roundtable_domain::{DeclaredFile, MediaStore, SignedUpload};
use roundtable_media::{
    DirectoryLimits, DownloadError, InvalidMediaUrl, MediaConfigError, MediaDirectory, UploadError,
    UploadGrant,
};
use roundtable_model::MediaKey;
use roundtable_model::table::{Clock, ManualClock};
use tempfile::TempDir;

use crate::promises::{BYTES, LENGTH, checks_media_store, key};

const BASE: &str = "http://town.example/media";
const MINUTE: Duration = Duration::from_mins(1);
pub(crate) const LIMITS: DirectoryLimits =
    DirectoryLimits { free_bytes_min: 0, transfer_time_max: MINUTE };

pub(crate) struct DirectoryFixture {
    pub(crate) at: TempDir,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) files: MediaDirectory,
}

pub(crate) fn fixture() -> DirectoryFixture {
    fixture_with(LIMITS)
}

pub(crate) fn fixture_with(limits: DirectoryLimits) -> DirectoryFixture {
    let (at, clock) = (tempfile::tempdir().unwrap(), Arc::new(ManualClock::at_ms(1_000_000)));
    let files = open_with(at.path(), &clock, 1, limits);
    DirectoryFixture { at, clock, files }
}

fn open(at: &Path, clock: &Arc<ManualClock>, secret: u8) -> MediaDirectory {
    open_with(at, clock, secret, LIMITS)
}

fn open_with(
    at: &Path,
    clock: &Arc<ManualClock>,
    secret: u8,
    limits: DirectoryLimits,
) -> MediaDirectory {
    MediaDirectory::open(at, BASE, &[secret; 32], clock.clone(), limits).unwrap()
}

/// The key and the query of a URL, as a server finds them.
pub(crate) fn parts(url: &str) -> (&str, &str) {
    url.strip_prefix(BASE).unwrap().strip_prefix('/').unwrap().split_once('?').unwrap()
}

pub(crate) async fn announced(files: &MediaDirectory, key: &MediaKey) -> SignedUpload {
    let declared = DeclaredFile { content_type: "image/png", bytes: LENGTH };
    files.upload_url(key, declared, MINUTE).await.unwrap()
}

fn body(parts: &[&[u8]]) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + use<> {
    let parts: Vec<_> = parts.iter().map(|part| Ok(Bytes::copy_from_slice(part))).collect();
    stream::iter(parts)
}

pub(crate) async fn send(
    files: &MediaDirectory,
    url: &str,
    bytes: &[u8],
) -> Result<(), UploadError> {
    let (key, query) = parts(url);
    let leave = files.upload_grant(key, query).unwrap();
    let (front, back) = bytes.split_at(bytes.len() / 2);
    receive(files, &leave, Some("image/png"), body(&[front, back])).await
}

/// Receives an upload, as the server does.
pub(crate) async fn receive<E>(
    files: &MediaDirectory,
    grant: &UploadGrant,
    content_type: Option<&str>,
    body: impl Stream<Item = Result<Bytes, E>> + Send,
) -> Result<(), UploadError> {
    files.receive(files.begin(grant, content_type).await?, body).await
}

async fn fetched(files: &MediaDirectory, url: &str) -> Vec<u8> {
    let (key, query) = parts(url);
    let file = files.fetch(&files.download_grant(key, query).unwrap(), None).await.unwrap();
    assert_eq!((file.content_type.as_str(), file.length), ("image/png", LENGTH));
    file.body.try_collect::<Vec<_>>().await.unwrap().concat()
}

/// All files below a directory.
pub(crate) fn files_in(at: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path());
    let each = entries.flat_map(|path| {
        if path.is_dir() { files_in(&path) } else { vec![path.display().to_string()] }
    });
    each.collect()
}

/// R43: a file uploaded by one URL is downloaded by another, and a copy never changes.
#[tokio::test]
async fn a_file_is_uploaded_copied_and_downloaded() {
    let fixture = fixture();
    let (files, photo) = (&fixture.files, key("u/ana/photo"));
    let signed = announced(files, &photo).await;
    assert_eq!((signed.method, signed.headers["content-type"].as_str()), ("PUT", "image/png"));
    send(files, &signed.url, BYTES).await.unwrap();
    files.copy_upload(&photo, "shown", LENGTH).await.unwrap();
    let url = files.download_url(&photo, "shown", "image/png", MINUTE).await.unwrap();
    assert_eq!(fetched(files, &url).await, BYTES);
    files.remove_copy(&photo, "shown").await.unwrap();
    // A URL takes one upload, so the former one is removed behind the store's back.
    let sent = fixture.at.path().join("incoming/u/ana/photo");
    checks_media_store(files, &photo, async |other| {
        let _ = std::fs::remove_file(&sent);
        send(files, &signed.url, other).await.unwrap();
    })
    .await;
    assert!(files_in(fixture.at.path()).is_empty(), "{:?}", files_in(fixture.at.path()));
}

/// R43: a range of a video, as players ask for it.
#[tokio::test]
async fn a_range_of_a_file_is_downloaded() {
    let fixture = fixture();
    let (files, photo) = (&fixture.files, key("u/ana/photo"));
    send(files, &announced(files, &photo).await.url, BYTES).await.unwrap();
    files.copy_upload(&photo, "shown", LENGTH).await.unwrap();
    let url = files.download_url(&photo, "shown", "image/png", MINUTE).await.unwrap();
    let leave = files.download_grant(parts(&url).0, parts(&url).1).unwrap();
    let part = files.fetch(&leave, Some(1..4)).await.unwrap();
    assert_eq!((part.range.clone(), part.length), (1..4, LENGTH));
    assert_eq!(part.body.try_collect::<Vec<_>>().await.unwrap().concat(), b"PNG");
    let beyond = files.fetch(&leave, Some(1_000..1_001)).await;
    assert!(matches!(beyond.err().unwrap(), DownloadError::OutOfRange));
    files.remove(&photo).await.unwrap();
    assert!(matches!(files.fetch(&leave, None).await.err().unwrap(), DownloadError::NotFound));
}

/// R43: an upload that is not as announced leaves nothing behind, not even a part.
#[tokio::test]
async fn an_upload_that_is_not_as_announced_is_refused() {
    let fixture = fixture();
    let (files, photo) = (&fixture.files, key("u/ana/photo"));
    let signed = announced(files, &photo).await;
    let long = [BYTES, b"!"].concat();
    for wrong in [&long, &BYTES[1..]] {
        let refused = send(files, &signed.url, wrong).await;
        assert!(matches!(refused, Err(UploadError::WrongLength)), "{refused:?}");
    }
    let (path, query) = parts(&signed.url);
    let leave = files.upload_grant(path, query).unwrap();
    for content_type in [None, Some("text/html"), Some("image/png; charset=x")] {
        let refused = receive(files, &leave, content_type, body(&[BYTES])).await;
        assert!(matches!(refused, Err(UploadError::WrongType)), "{refused:?}");
    }
    let broken = stream::iter([Ok(Bytes::from_static(b"\x89P")), Err("gone")]);
    let refused = receive(files, &leave, Some("image/png"), broken).await;
    assert!(matches!(refused, Err(UploadError::Incomplete)), "{refused:?}");
    assert_eq!(files.copy_upload(&photo, "a", LENGTH).await.unwrap(), None);
    assert!(files_in(fixture.at.path()).is_empty(), "{:?}", files_in(fixture.at.path()));
}

/// R43: partial files of a killed process are removed with their file, and with no other.
#[tokio::test]
async fn partial_files_are_removed_with_their_file() {
    let fixture = fixture();
    let (files, photo, photos) = (&fixture.files, key("u/ana/photo"), key("u/ana/photos"));
    for key in [&photo, &photos] {
        send(files, &announced(files, key).await.url, BYTES).await.unwrap();
        files.copy_upload(key, "shown", LENGTH).await.unwrap();
    }
    let at = fixture.at.path();
    for left in ["incoming/u/ana/photo#1", "incoming/u/ana/photo#2", "kept/u/ana/photo/copy#0"] {
        std::fs::write(at.join(left), "half").unwrap();
    }
    std::fs::write(at.join("incoming/u/ana/photos#1"), "another's").unwrap();
    files.remove_others(&photo, "shown").await.unwrap();
    let mut there = files_in(at);
    there.sort();
    assert_eq!(there.len(), 4, "{there:?}");
    assert!(there[0].ends_with("incoming/u/ana/photos") && there[1].ends_with("photos#1"));
    assert!(there[2].ends_with("kept/u/ana/photo/shown"), "{there:?}");
    files.remove(&photos).await.unwrap();
    files.remove(&photo).await.unwrap();
    std::fs::create_dir_all(at.join("incoming/u/ana")).unwrap();
    std::fs::write(at.join("incoming/u/ana/photo#1"), "half").unwrap();
    files.remove(&photo).await.unwrap();
    assert!(files_in(at).is_empty(), "{:?}", files_in(at));
}

/// R43: a URL permits one operation, for a limited time, and only if it is ours.
#[tokio::test]
async fn a_url_permits_one_operation() {
    let fixture = fixture();
    let (files, photo) = (&fixture.files, key("u/ana/photo"));
    let signed = announced(files, &photo).await;
    let (path, query) = parts(&signed.url);
    files.upload_grant(path, query).unwrap();
    assert_eq!(files.download_grant(path, query).unwrap_err(), InvalidMediaUrl);
    let wrong = [
        query.replace("image/png", "text/html"),
        query.replace(&format!("bytes={}", BYTES.len()), "bytes=99999999"),
        query.replace("expires=10", "expires=90"),
        query.replace("copy=", "copy=x"),
        format!("{query}&type=text/html"),
        query.split_once("&signature").unwrap().0.to_owned(),
        format!("{}&signature=", query.split_once("&signature").unwrap().0),
        String::new(),
    ];
    for wrong in wrong {
        assert_ne!(wrong, query);
        assert_eq!(files.upload_grant(path, &wrong).unwrap_err(), InvalidMediaUrl, "{wrong}");
    }
    for other in
        ["u/ana/photo2", "u/bo/photo", "u/ana/../ana/photo", "u/ana/photo/", "", "%75/ana/photo"]
    {
        assert_eq!(files.upload_grant(other, query).unwrap_err(), InvalidMediaUrl, "{other}");
    }
    let stranger = open(fixture.at.path(), &fixture.clock, 2);
    assert_eq!(stranger.upload_grant(path, query).unwrap_err(), InvalidMediaUrl, "another secret");
    fixture.clock.advance_ms(59_000);
    files.upload_grant(path, query).unwrap();
    fixture.clock.advance_ms(1_000);
    assert_eq!(files.upload_grant(path, query).unwrap_err(), InvalidMediaUrl, "too late");

    let url = files.download_url(&photo, "shown", "image/png", MINUTE).await.unwrap();
    let (path, query) = parts(&url);
    files.download_grant(path, query).unwrap();
    assert_eq!(files.upload_grant(path, query).unwrap_err(), InvalidMediaUrl);
    let other = query.replace("copy=shown", "copy=../../../incoming/u/ana/photo");
    assert_eq!(files.download_grant(path, &other).unwrap_err(), InvalidMediaUrl);
    fixture.clock.advance_ms(60_000);
    assert_eq!(files.download_grant(path, query).unwrap_err(), InvalidMediaUrl, "too late");
    assert!(fixture.clock.now_seconds() > 0);
}

/// The debug output shows no secret.
#[tokio::test]
async fn addresses_and_secrets_are_not_shown() {
    let fixture = fixture();
    let signed = announced(&fixture.files, &key("u/ana/photo")).await;
    let shown = format!("{signed:?} {:?}", fixture.files);
    assert!(!shown.contains("signature=") && !shown.contains("[1, 1"), "{shown}");
}

#[test]
fn an_invalid_base_url_is_refused() {
    let (at, clock) = (tempfile::tempdir().unwrap(), Arc::new(ManualClock::at_ms(0)));
    for base in ["", "/media", "ftp://town.example", "http://town.example/?a=b", "http://x/#y"] {
        let refused = MediaDirectory::open(at.path(), base, &[1; 32], clock.clone(), LIMITS);
        assert_eq!(refused.unwrap_err(), MediaConfigError::Address, "{base}");
    }
    let file = at.path().join("file");
    std::fs::write(&file, "").unwrap();
    let refused = MediaDirectory::open(&file, BASE, &[1; 32], clock, LIMITS);
    assert!(matches!(refused, Err(MediaConfigError::Directory(_))));
}
