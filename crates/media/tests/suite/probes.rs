//! Probes: a store says which operation does not work, and what to do about it.

use roundtable_domain::{MediaStore, S3Settings};
use roundtable_media::Bucket;

use crate::directory::{files_in, fixture};
use crate::server::{BUCKET, Server};

#[tokio::test]
async fn a_bucket_that_works_passes_and_keeps_nothing() {
    let server = Server::start().await;
    Bucket::open(&server.settings).unwrap().probe("one").await.unwrap();
    let left = files_in(&server.at.path().join(BUCKET));
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_missing_permission_on_a_bucket_is_named() {
    let server = Server::start().await;
    let files = Bucket::open(&server.settings).unwrap();
    for (operation, permission) in [
        ("PutObject", "s3:PutObject"),
        ("CopyObject", "s3:GetObject and s3:PutObject"),
        ("GetObject", "s3:GetObject"),
        ("ListObjectsV2", "s3:ListBucket"),
        ("DeleteObjects", "s3:DeleteObject"),
    ] {
        *server.denied.lock().unwrap() = Some(operation);
        let problem = files.probe("one").await.unwrap_err().problem;
        let expected = format!("files: the bucket {BUCKET} does not work: {permission} is denied");
        assert!(problem.starts_with(&expected), "{operation}: {problem}");
        *server.denied.lock().unwrap() = None;
        files.probe("one").await.unwrap();
    }
}

#[tokio::test]
async fn a_missing_bucket_is_named() {
    let server = Server::start().await;
    let settings = S3Settings { bucket: "none".into(), ..server.settings.clone() };
    let problem = Bucket::open(&settings).unwrap().probe("one").await.unwrap_err().problem;
    let expected = "files: the bucket none does not work: there is no such bucket in the region";
    assert!(problem.starts_with(expected), "{problem}");
}

#[tokio::test]
async fn a_directory_that_is_gone_is_named() {
    let fixture = fixture();
    fixture.files.probe("one").await.unwrap();
    assert!(files_in(fixture.at.path()).is_empty(), "it keeps nothing");
    std::fs::remove_dir_all(fixture.at.path()).unwrap();
    std::fs::write(fixture.at.path(), "a file in its place").unwrap();
    let problem = fixture.files.probe("two").await.unwrap_err().problem;
    let expected = format!("files: the directory {}", fixture.at.path().display());
    assert!(problem.starts_with(&expected), "{problem}");
    std::fs::remove_file(fixture.at.path()).unwrap();
}
