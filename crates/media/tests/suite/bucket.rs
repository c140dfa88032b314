//! Media files in a bucket of a real server, over HTTP.

use std::collections::BTreeMap;
use std::time::Duration;

use hyper::StatusCode;
use roundtable_domain::{DeclaredFile, MediaStore, S3Settings, SignedUpload};
use roundtable_media::{Bucket, MediaConfigError};
use roundtable_model::Time;
use roundtable_model::table::SystemClock;

use crate::promises::{BYTES, LENGTH, checks_media_store, key};
use crate::server::{Server, request};

const MINUTE: Duration = Duration::from_mins(1);

async fn announced(files: &Bucket, name: &str) -> SignedUpload {
    let declared = DeclaredFile { content_type: "image/png", bytes: LENGTH };
    files.upload_url(&key(name), declared, MINUTE).await.unwrap()
}

async fn send(signed: &SignedUpload, bytes: &[u8]) -> StatusCode {
    request(signed.method, &signed.url, &signed.headers, bytes).await.0
}

/// R43: a file uploaded by one URL is downloaded by another, with no other credential.
#[tokio::test]
async fn a_file_is_uploaded_copied_and_downloaded() {
    let server = Server::start().await;
    let (files, photo) = (Bucket::open(&server.settings).unwrap(), key("u/ana/photo"));
    let signed = announced(&files, "u/ana/photo").await;
    assert_eq!(send(&signed, BYTES).await, StatusCode::OK);
    assert_eq!(files.copy_upload(&photo, "shown", LENGTH).await.unwrap(), Some(LENGTH));
    let url = files.download_url(&photo, "shown", "image/png", MINUTE).await.unwrap();
    let (status, headers, body) = request("GET", &url, &BTreeMap::new(), b"").await;
    assert_eq!((status, body.as_slice()), (StatusCode::OK, BYTES));
    assert_eq!(headers["content-type"], "image/png");
    files.remove_copy(&photo, "shown").await.unwrap();
    checks_media_store(&files, &photo, async |other| {
        assert_eq!(send(&signed, other).await, StatusCode::OK);
    })
    .await;
}

/// R43: a URL permits one operation, and nothing is accessible without one.
#[tokio::test]
async fn a_url_permits_one_operation() {
    let server = Server::start().await;
    let (files, photo) = (Bucket::open(&server.settings).unwrap(), key("u/ana/photo"));
    let signed = announced(&files, "u/ana/photo").await;
    let refused = [StatusCode::FORBIDDEN, StatusCode::BAD_REQUEST];
    let as_html = BTreeMap::from([("content-type".to_owned(), "text/html".to_owned())]);
    let (status, ..) = request("PUT", &signed.url, &as_html, BYTES).await;
    assert!(refused.contains(&status), "another type: {status}");
    let elsewhere = signed.url.replace("u/ana/photo", "u/bo/photo");
    let (status, ..) = request("PUT", &elsewhere, &signed.headers, BYTES).await;
    assert!(refused.contains(&status), "another file: {status}");
    let (bare, _) = signed.url.split_once('?').unwrap();
    let (status, ..) = request("PUT", bare, &signed.headers, BYTES).await;
    assert!(refused.contains(&status), "without a signature: {status}");
    assert_eq!(files.copy_upload(&photo, "a", LENGTH).await.unwrap(), None);

    assert_eq!(send(&signed, BYTES).await, StatusCode::OK);
    let (status, ..) = request("GET", &signed.url, &signed.headers, b"").await;
    assert!(refused.contains(&status), "sending is not fetching: {status}");
    files.copy_upload(&photo, "shown", LENGTH).await.unwrap();
    let url = files.download_url(&photo, "shown", "image/png", MINUTE).await.unwrap();
    let (status, ..) = request("PUT", &url, &signed.headers, b"other").await;
    assert!(refused.contains(&status), "fetching is not sending: {status}");
    let as_html = url.replace("image%2Fpng", "text%2Fhtml");
    assert_ne!(as_html, url);
    let (status, ..) = request("GET", &as_html, &BTreeMap::new(), b"").await;
    assert!(refused.contains(&status), "as something else: {status}");
}

/// The length is signed: a bucket takes no other one.
#[tokio::test]
async fn a_file_of_another_length_is_not_accepted() {
    let server = Server::start().await;
    let (files, photo) = (Bucket::open(&server.settings).unwrap(), key("u/ana/photo"));
    let signed = announced(&files, "u/ana/photo").await;
    let refused = [StatusCode::FORBIDDEN, StatusCode::BAD_REQUEST];
    let long = [BYTES, b"and more"].concat();
    for wrong in [&long, &BYTES[1..], b""] {
        let status = send(&signed, wrong).await;
        assert!(refused.contains(&status), "{} bytes: {status}", wrong.len());
        assert_eq!(files.copy_upload(&photo, "a", LENGTH).await.unwrap(), None);
    }
    assert_eq!(send(&signed, BYTES).await, StatusCode::OK);
}

/// Uploads that are never completed are swept; copies, and later uploads, stay.
#[tokio::test]
async fn old_uploads_are_swept() {
    let server = Server::start().await;
    let (files, photo) = (Bucket::open(&server.settings).unwrap(), key("u/ana/photo"));
    let signed = announced(&files, "u/ana/photo").await;
    assert_eq!(send(&signed, BYTES).await, StatusCode::OK);
    files.copy_upload(&photo, "shown", LENGTH).await.unwrap();
    let now = Time::now(&SystemClock);
    let earlier = Time::from_ms(now.ms() - 60_000);
    assert_eq!(files.sweep_uploads(earlier).await.unwrap(), 0);
    assert_eq!(files.copy_upload(&photo, "again", LENGTH).await.unwrap(), Some(LENGTH));
    assert_eq!(files.sweep_uploads(now.plus_ms(60_000)).await.unwrap(), 1);
    assert_eq!(files.copy_upload(&photo, "late", LENGTH).await.unwrap(), None);
    assert_eq!(files.read(&photo, "shown", 0..LENGTH).await.unwrap(), BYTES);
}

/// An unreachable store is an error, not a missing file.
#[tokio::test]
async fn an_unreachable_store_is_an_error() {
    let server = Server::start().await;
    let wrong = Some(roundtable_model::Secret::new("not the secret"));
    let settings = S3Settings { secret_access_key: wrong, ..server.settings };
    let files = Bucket::open(&settings).unwrap();
    let failed = files.copy_upload(&key("u/ana/photo"), "a", LENGTH).await.unwrap_err();
    assert!(!failed.to_string().contains("not the secret"), "{failed}");
    assert!(server.at.path().exists());
}

#[test]
fn an_invalid_bucket_configuration_is_refused() {
    let half = S3Settings {
        bucket: "files".into(),
        region: "eu-central-1".into(),
        access_key_id: Some("roundtable".into()),
        ..S3Settings::default()
    };
    let nameless = S3Settings { access_key_id: None, bucket: String::new(), ..half.clone() };
    for wrong in [half, nameless] {
        assert!(matches!(Bucket::open(&wrong), Err(MediaConfigError::Bucket(_))));
    }
}
