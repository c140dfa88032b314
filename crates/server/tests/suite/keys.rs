//! Signing keys: they survive a restart, are shared by several processes, and are rotated without
//! signing users out.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use reqwest::StatusCode;
use roundtable_model::Secret;
use roundtable_server::Server;
use roundtable_table::{ManualClock, SystemClock};
use serde_json::Value;

use crate::store_outage::Store;
use crate::test_server::{PASSWORD, TestServer, configuration, read};

async fn published(server: &TestServer) -> Vec<String> {
    let (status, response) = read(server.get("/.well-known/jwks.json").await).await;
    assert_eq!(status, StatusCode::OK);
    let keys = response["keys"].as_array().unwrap();
    for key in keys {
        assert_eq!(
            (&key["kty"], &key["alg"], &key["use"]),
            (&"RSA".into(), &"RS256".into(), &"sig".into())
        );
        assert!(key["n"].is_string() && key["e"].is_string() && key["d"].is_null(), "{key}");
    }
    keys.iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn keys_survive_a_restart_and_their_secret_is_private() {
    let data = tempfile::tempdir().unwrap();
    let server = TestServer::start(configuration(data.path()), Arc::new(SystemClock)).await;
    let (token, keys) = (server.sign_up("ana").await, published(&server).await);
    server.stop().await;
    let secret = std::fs::metadata(data.path().join("secret.key")).unwrap();
    assert_eq!(secret.permissions().mode() & 0o777, 0o600);
    let server = TestServer::start(configuration(data.path()), Arc::new(SystemClock)).await;
    assert_eq!(published(&server).await, keys);
    assert_eq!(server.me(&token).await.1["data"]["me"]["nickname"], "ana");
    server.stop().await;
}

#[tokio::test]
async fn a_wrong_secret_is_reported() {
    let data = tempfile::tempdir().unwrap();
    TestServer::start(configuration(data.path()), Arc::new(SystemClock)).await.stop().await;
    let mut other = configuration(data.path());
    other.process.sign_in.secret = Some(Secret::new("x".repeat(32)));
    let error = Server::open(other).await.unwrap_err().to_string();
    assert!(error.contains("sign-in.secret") && error.contains("another secret"), "{error}");
}

#[tokio::test]
async fn two_processes_share_their_keys_from_the_start() {
    let (store, data) = (Store::start().await, tempfile::tempdir().unwrap());
    let (one, two) = store.two_processes(data.path()).await;
    assert_eq!(published(&one).await, published(&two).await);
    let token = one.sign_up("ana").await;
    assert_eq!(two.me(&token).await.1["data"]["me"]["nickname"], "ana");
    // A key that the other process has just created is found when a token names it.
    one.handle.rotate_keys().await.unwrap();
    let (email, password) = ("ana@example.org".parse().unwrap(), Secret::new(PASSWORD));
    let ana = one.accounts().login(&email, &password, None).await.unwrap();
    let later = one.token(&ana).await;
    assert_eq!(two.me(&later).await.1["data"]["me"]["nickname"], "ana");
    one.stop().await;
    two.stop().await;
}

#[tokio::test]
async fn keys_rotate_with_an_overlap() {
    const DAY_MS: u64 = 24 * 60 * 60 * 1000;
    let data = tempfile::tempdir().unwrap();
    // At the beginning of a period of 90 days.
    let start = 1_800_000_000_000_u64.next_multiple_of(90 * DAY_MS);
    let clock = Arc::new(ManualClock::at_ms(start));
    let server = TestServer::start(configuration(data.path()), clock.clone()).await;
    server.registered("ana").await;
    let first = published(&server).await;
    assert_eq!(first.len(), 1);

    // The next key is published a day early, and signs nothing yet.
    clock.set_ms(start + 90 * DAY_MS - DAY_MS);
    server.handle.maintain_keys().await.unwrap();
    let both = published(&server).await;
    assert_eq!(both.len(), 2);
    clock.set_ms(start + 90 * DAY_MS - 1);
    let (email, password) = ("ana@example.org".parse().unwrap(), Secret::new(PASSWORD));
    let ana = server.accounts().login(&email, &password, None).await.unwrap();
    let old = server.token(&ana).await;
    assert_eq!(signer(&old), first[0]);

    // It signs from its time on, and the tokens of the previous one stay valid until they expire.
    clock.set_ms(start + 90 * DAY_MS);
    server.handle.maintain_keys().await.unwrap();
    let new = server.token(&ana).await;
    assert!(signer(&new) != first[0] && both.contains(&signer(&new)));
    for token in [&old, &new] {
        assert_eq!(server.me(token).await.1["data"]["me"]["nickname"], "ana");
    }
    clock.set_ms(start + 91 * DAY_MS);
    server.handle.maintain_keys().await.unwrap();
    assert_eq!(published(&server).await, [signer(&new)]);
    server.stop().await;
}

fn signer(token: &str) -> String {
    let header = token.split('.').next().unwrap();
    let header = data_encoding::BASE64URL_NOPAD.decode(header.as_bytes()).unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    assert_eq!(header["alg"], "RS256");
    header["kid"].as_str().unwrap().to_owned()
}
