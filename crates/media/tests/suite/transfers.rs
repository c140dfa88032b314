//! Uploads to a directory: one of each file, within a deadline, and within the space of the volume.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures::channel::mpsc::{UnboundedSender, unbounded};
use futures::{StreamExt, stream};
use roundtable_domain::{DeclaredFile, MediaStore, MediaStoreError};
use roundtable_media::{DirectoryLimits, MediaDirectory, UploadError, UploadGrant, VolumeSpace};
use roundtable_model::Time;
use roundtable_model::table::SystemClock;
use tokio::task::JoinHandle;

use crate::directory::{
    DirectoryFixture, LIMITS, announced, files_in, fixture, fixture_with, parts, receive, send,
};
use crate::promises::{BYTES, LENGTH, key};

type Chunk = Result<Bytes, Infallible>;

/// A volume whose free space the test sets.
#[derive(Debug)]
struct TestVolume(AtomicU64);

impl VolumeSpace for TestVolume {
    fn free_bytes(&self) -> io::Result<u64> {
        Ok(self.0.load(Ordering::SeqCst))
    }
}

fn with_volume(
    free_bytes_min: u64,
    free: u64,
) -> (DirectoryFixture, MediaDirectory, Arc<TestVolume>) {
    let fixture = fixture_with(DirectoryLimits { free_bytes_min, ..LIMITS });
    let volume = Arc::new(TestVolume(AtomicU64::new(free)));
    let files = fixture.files.clone().with_volume_space(volume.clone());
    (fixture, files, volume)
}

async fn grant(files: &MediaDirectory, name: &str) -> UploadGrant {
    let url = announced(files, &key(name)).await.url;
    let (path, query) = parts(&url);
    files.upload_grant(path, query).unwrap()
}

/// An upload under way, which sends what the test sends.
fn start(
    files: &MediaDirectory,
    grant: &UploadGrant,
) -> (UnboundedSender<Chunk>, JoinHandle<Result<(), UploadError>>) {
    let (sender, body) = unbounded();
    let (files, grant) = (files.clone(), grant.clone());
    let receiving =
        tokio::spawn(async move { receive(&files, &grant, Some("image/png"), body).await });
    (sender, receiving)
}

async fn until(condition: impl Fn() -> bool) {
    let met = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), met).await.unwrap();
}

#[tokio::test]
async fn a_file_is_uploaded_once_and_one_at_a_time() {
    let fixture = fixture();
    let files = &fixture.files;
    let photo = grant(files, "u/ana/photo").await;
    let (sender, first) = start(files, &photo);
    until(|| files.transfer_count() == 1).await;
    for _ in 0..10 {
        let body = stream::iter([Chunk::Ok(Bytes::from_static(BYTES))]);
        let second = receive(files, &photo, Some("image/png"), body).await;
        assert!(matches!(second, Err(UploadError::InProgress)), "{second:?}");
    }
    assert!(files_in(fixture.at.path()).len() <= 1, "{:?}", files_in(fixture.at.path()));
    // Another file is not concerned.
    send(files, &announced(files, &key("u/ana/other")).await.url, BYTES).await.unwrap();
    sender.unbounded_send(Ok(Bytes::from_static(BYTES))).unwrap();
    drop(sender);
    first.await.unwrap().unwrap();
    assert_eq!(files.transfer_count(), 0);
    let body = stream::iter([Chunk::Ok(Bytes::from_static(BYTES))]);
    let again = receive(files, &photo, Some("image/png"), body).await;
    assert!(matches!(again, Err(UploadError::AlreadyUploaded)), "{again:?}");
    assert_eq!(files_in(fixture.at.path()).len(), 2);
}

/// A client that keeps sending does not keep the server waiting.
#[tokio::test]
async fn an_upload_that_takes_too_long_is_refused() {
    let transfer_time_max = Duration::from_millis(50);
    let fixture = fixture_with(DirectoryLimits { transfer_time_max, ..LIMITS });
    let photo = grant(&fixture.files, "u/ana/photo").await;
    let trickle = stream::iter(BYTES).then(async |byte| {
        tokio::time::sleep(Duration::from_millis(40)).await;
        Chunk::Ok(Bytes::from_static(std::slice::from_ref(byte)))
    });
    let refused = receive(&fixture.files, &photo, Some("image/png"), trickle).await;
    assert!(matches!(refused, Err(UploadError::TooSlow(_))), "{refused:?}");
    until(|| files_in(fixture.at.path()).is_empty()).await;
    let body = stream::iter([Chunk::Ok(Bytes::from_static(BYTES))]);
    receive(&fixture.files, &photo, Some("image/png"), body).await.unwrap();
}

#[tokio::test]
async fn uploads_stop_at_the_floor_and_resume_when_there_is_space() {
    let (fixture, files, volume) = with_volume(1_000, 1_000 + LENGTH);
    let photo = grant(&files, "u/ana/photo").await;
    volume.0.store(999 + LENGTH, Ordering::SeqCst);
    let declared = DeclaredFile { content_type: "image/png", bytes: LENGTH };
    let refused = files.upload_url(&key("u/ana/next"), declared, Duration::from_mins(1)).await;
    assert!(matches!(refused, Err(MediaStoreError::Full)), "{refused:?}");
    let body = || stream::iter([Chunk::Ok(Bytes::from_static(BYTES))]);
    let refused = receive(&files, &photo, Some("image/png"), body()).await;
    let is_full = matches!(refused, Err(UploadError::Failed(MediaStoreError::Full)));
    assert!(is_full, "{refused:?}");
    assert!(files_in(fixture.at.path()).is_empty());
    volume.0.store(1_000 + LENGTH, Ordering::SeqCst);
    receive(&files, &photo, Some("image/png"), body()).await.unwrap();
}

/// What is under way has its space: together, uploads do not pass the floor.
#[tokio::test]
async fn parallel_uploads_do_not_pass_the_floor_together() {
    let (_fixture, files, _volume) = with_volume(1_000, 1_000 + 2 * LENGTH - 1);
    let (one, other) = (grant(&files, "u/ana/one").await, grant(&files, "u/bo/other").await);
    let (sender, first) = start(&files, &one);
    until(|| files.transfer_count() == 1).await;
    let body = || stream::iter([Chunk::Ok(Bytes::from_static(BYTES))]);
    let refused = receive(&files, &other, Some("image/png"), body()).await;
    let is_full = matches!(refused, Err(UploadError::Failed(MediaStoreError::Full)));
    assert!(is_full, "{refused:?}");
    drop(sender);
    assert!(matches!(first.await.unwrap(), Err(UploadError::WrongLength)));
    receive(&files, &other, Some("image/png"), body()).await.unwrap();
}

/// Uploads that are never completed are swept, and what killed processes left of them; copies stay.
#[tokio::test]
async fn old_uploads_are_swept() {
    let fixture = fixture();
    let (files, photo) = (&fixture.files, key("u/ana/photo"));
    send(files, &announced(files, &photo).await.url, BYTES).await.unwrap();
    files.copy_upload(&photo, "shown", LENGTH).await.unwrap();
    let partial = fixture.at.path().join("incoming/u/ana/other#1");
    std::fs::write(&partial, "half").unwrap();
    let now = Time::now(&SystemClock);
    let earlier = Time::from_ms(now.ms() - 60_000);
    assert_eq!(files.sweep_uploads(earlier).await.unwrap(), 0);
    let hour_ago = SystemTime::now() - Duration::from_hours(1);
    let file = std::fs::File::options().write(true).open(&partial).unwrap();
    file.set_modified(hour_ago).unwrap();
    assert_eq!(files.sweep_uploads(earlier).await.unwrap(), 1);
    assert!(!partial.exists());
    assert_eq!(files.sweep_uploads(now.plus_ms(60_000)).await.unwrap(), 1);
    assert_eq!(files.copy_upload(&photo, "late", LENGTH).await.unwrap(), None);
    assert_eq!(files.read(&photo, "shown", 0..LENGTH).await.unwrap(), BYTES);
}
