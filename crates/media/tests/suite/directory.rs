//! Files in a directory.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, TryStreamExt, stream};
use roundtable_domain::{Declared, MediaStore, SignedUpload};
use roundtable_media::{Denied, Directory, Misconfigured, NotFetched, NotReceived};
use roundtable_model::MediaKey;
use roundtable_model::table::{Clock, ManualClock};
use tempfile::TempDir;

use crate::promises::{BYTES, LENGTH, keeps_what_was_taken, key};

const BASE: &str = "http://town.example/media";
const MINUTE: Duration = Duration::from_mins(1);

struct Place {
    at: TempDir,
    clock: Arc<ManualClock>,
    files: Directory,
}

fn place() -> Place {
    let (at, clock) = (tempfile::tempdir().unwrap(), Arc::new(ManualClock::at_ms(1_000_000)));
    let files = open(at.path(), &clock, 1);
    Place { at, clock, files }
}

fn open(at: &Path, clock: &Arc<ManualClock>, secret: u8) -> Directory {
    Directory::open(at, BASE, &[secret; 32], clock.clone()).unwrap()
}

/// The key and the query of an address, as a server finds them.
fn parts(url: &str) -> (&str, &str) {
    url.strip_prefix(BASE).unwrap().strip_prefix('/').unwrap().split_once('?').unwrap()
}

async fn announced(files: &Directory, key: &MediaKey) -> SignedUpload {
    let declared = Declared { content_type: "image/png", bytes: LENGTH };
    files.upload_url(key, declared, MINUTE).await.unwrap()
}

fn body(parts: &[&[u8]]) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + use<> {
    let parts: Vec<_> = parts.iter().map(|part| Ok(Bytes::copy_from_slice(part))).collect();
    stream::iter(parts)
}

async fn send(files: &Directory, url: &str, bytes: &[u8]) -> Result<(), NotReceived> {
    let (key, query) = parts(url);
    let leave = files.may_send(key, query).unwrap();
    let (front, back) = bytes.split_at(bytes.len() / 2);
    files.receive(&leave, Some("image/png"), body(&[front, back])).await
}

async fn fetched(files: &Directory, url: &str) -> Vec<u8> {
    let (key, query) = parts(url);
    let file = files.fetch(&files.may_fetch(key, query).unwrap(), None).await.unwrap();
    assert_eq!((file.content_type.as_str(), file.length), ("image/png", LENGTH));
    file.body.try_collect::<Vec<_>>().await.unwrap().concat()
}

/// The files below a directory, whatever they are.
fn files_in(at: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path());
    let each = entries.flat_map(|path| {
        if path.is_dir() { files_in(&path) } else { vec![path.display().to_string()] }
    });
    each.collect()
}

/// R43: what is sent by one address is fetched by another, and what was taken stays as it was.
#[tokio::test]
async fn a_file_is_sent_taken_and_fetched() {
    let place = place();
    let (files, photo) = (&place.files, key("u/ana/photo"));
    let signed = announced(files, &photo).await;
    assert_eq!((signed.method, signed.headers["content-type"].as_str()), ("PUT", "image/png"));
    send(files, &signed.url, BYTES).await.unwrap();
    files.take(&photo, "shown", LENGTH).await.unwrap();
    let url = files.download_url(&photo, "shown", "image/png", MINUTE).await.unwrap();
    assert_eq!(fetched(files, &url).await, BYTES);
    files.discard(&photo, "shown").await.unwrap();
    keeps_what_was_taken(files, &photo, async |other| {
        send(files, &signed.url, other).await.unwrap();
    })
    .await;
    assert!(files_in(place.at.path()).is_empty(), "{:?}", files_in(place.at.path()));
}

/// R43: a part of a video, as players ask for it.
#[tokio::test]
async fn a_part_of_a_file_is_fetched() {
    let place = place();
    let (files, photo) = (&place.files, key("u/ana/photo"));
    send(files, &announced(files, &photo).await.url, BYTES).await.unwrap();
    files.take(&photo, "shown", LENGTH).await.unwrap();
    let url = files.download_url(&photo, "shown", "image/png", MINUTE).await.unwrap();
    let leave = files.may_fetch(parts(&url).0, parts(&url).1).unwrap();
    let part = files.fetch(&leave, Some(1..4)).await.unwrap();
    assert_eq!((part.range.clone(), part.length), (1..4, LENGTH));
    assert_eq!(part.body.try_collect::<Vec<_>>().await.unwrap().concat(), b"PNG");
    let beyond = files.fetch(&leave, Some(1_000..1_001)).await;
    assert!(matches!(beyond.err().unwrap(), NotFetched::OutOfRange));
    files.remove(&photo).await.unwrap();
    assert!(matches!(files.fetch(&leave, None).await.err().unwrap(), NotFetched::Gone));
}

/// R43: what is not as announced leaves nothing behind, not even a part.
#[tokio::test]
async fn what_is_not_as_announced_is_not_received() {
    let place = place();
    let (files, photo) = (&place.files, key("u/ana/photo"));
    let signed = announced(files, &photo).await;
    let long = [BYTES, b"!"].concat();
    for wrong in [&long, &BYTES[1..]] {
        let refused = send(files, &signed.url, wrong).await;
        assert!(matches!(refused, Err(NotReceived::OtherLength)), "{refused:?}");
    }
    let (path, query) = parts(&signed.url);
    let leave = files.may_send(path, query).unwrap();
    for content_type in [None, Some("text/html"), Some("image/png; charset=x")] {
        let refused = files.receive(&leave, content_type, body(&[BYTES])).await;
        assert!(matches!(refused, Err(NotReceived::OtherType)), "{refused:?}");
    }
    let broken = stream::iter([Ok(Bytes::from_static(b"\x89P")), Err("gone")]);
    let refused = files.receive(&leave, Some("image/png"), broken).await;
    assert!(matches!(refused, Err(NotReceived::BrokeOff)), "{refused:?}");
    assert_eq!(files.take(&photo, "a", LENGTH).await.unwrap(), None);
    assert!(files_in(place.at.path()).is_empty(), "{:?}", files_in(place.at.path()));
}

/// R43: what a process that died in the middle has left goes with the file, and with no other.
#[tokio::test]
async fn what_broke_off_goes_with_its_file() {
    let place = place();
    let (files, photo, photos) = (&place.files, key("u/ana/photo"), key("u/ana/photos"));
    for key in [&photo, &photos] {
        send(files, &announced(files, key).await.url, BYTES).await.unwrap();
        files.take(key, "shown", LENGTH).await.unwrap();
    }
    let at = place.at.path();
    for left in ["incoming/u/ana/photo#1", "incoming/u/ana/photo#2", "kept/u/ana/photo/copy#0"] {
        std::fs::write(at.join(left), "half").unwrap();
    }
    std::fs::write(at.join("incoming/u/ana/photos#1"), "another's").unwrap();
    files.tidy(&photo, "shown").await.unwrap();
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

/// R43: an address is good for one thing, for a while, and only if it is ours.
#[tokio::test]
async fn an_address_is_good_for_what_it_says_and_no_more() {
    let place = place();
    let (files, photo) = (&place.files, key("u/ana/photo"));
    let signed = announced(files, &photo).await;
    let (path, query) = parts(&signed.url);
    files.may_send(path, query).unwrap();
    assert_eq!(files.may_fetch(path, query).unwrap_err(), Denied);
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
        assert_eq!(files.may_send(path, &wrong).unwrap_err(), Denied, "{wrong}");
    }
    for other in
        ["u/ana/photo2", "u/bo/photo", "u/ana/../ana/photo", "u/ana/photo/", "", "%75/ana/photo"]
    {
        assert_eq!(files.may_send(other, query).unwrap_err(), Denied, "{other}");
    }
    let stranger = open(place.at.path(), &place.clock, 2);
    assert_eq!(stranger.may_send(path, query).unwrap_err(), Denied, "another secret");
    place.clock.advance_ms(59_000);
    files.may_send(path, query).unwrap();
    place.clock.advance_ms(1_000);
    assert_eq!(files.may_send(path, query).unwrap_err(), Denied, "too late");

    let url = files.download_url(&photo, "shown", "image/png", MINUTE).await.unwrap();
    let (path, query) = parts(&url);
    files.may_fetch(path, query).unwrap();
    assert_eq!(files.may_send(path, query).unwrap_err(), Denied);
    let other = query.replace("copy=shown", "copy=../../../incoming/u/ana/photo");
    assert_eq!(files.may_fetch(path, &other).unwrap_err(), Denied);
    place.clock.advance_ms(60_000);
    assert_eq!(files.may_fetch(path, query).unwrap_err(), Denied, "too late");
    assert!(place.clock.now_seconds() > 0);
}

/// What opens doors is not in what is shown of it.
#[tokio::test]
async fn addresses_and_secrets_are_not_shown() {
    let place = place();
    let signed = announced(&place.files, &key("u/ana/photo")).await;
    let shown = format!("{signed:?} {:?}", place.files);
    assert!(!shown.contains("signature=") && !shown.contains("[1, 1"), "{shown}");
}

#[test]
fn a_base_that_is_no_address_is_refused() {
    let (at, clock) = (tempfile::tempdir().unwrap(), Arc::new(ManualClock::at_ms(0)));
    for base in ["", "/media", "ftp://town.example", "http://town.example/?a=b", "http://x/#y"] {
        let refused = Directory::open(at.path(), base, &[1; 32], clock.clone());
        assert_eq!(refused.unwrap_err(), Misconfigured::Address, "{base}");
    }
    let file = at.path().join("file");
    std::fs::write(&file, "").unwrap();
    let refused = Directory::open(&file, BASE, &[1; 32], clock);
    assert!(matches!(refused, Err(Misconfigured::Directory(_))));
}
