//! The keys that tokens are signed with: they outlive a restart, several processes share them, and they
//! are changed without anybody being signed out.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use reqwest::StatusCode;
use roundtable_model::Secret;
use roundtable_server::{Server, StoreKind};
use roundtable_table::{ManualClock, SystemClock};
use serde_json::Value;

use crate::away::Store;
use crate::served::{PASSWORD, Served, configuration, read};

async fn published(served: &Served) -> Vec<String> {
    let (status, answer) = read(served.get("/.well-known/jwks.json").await).await;
    assert_eq!(status, StatusCode::OK);
    let keys = answer["keys"].as_array().unwrap();
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
async fn keys_survive_a_restart_and_nobody_else_reads_their_secret() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(configuration(data.path()), Arc::new(SystemClock)).await;
    let (token, keys) = (served.newcomer("ana").await, published(&served).await);
    served.stop().await;
    let secret = std::fs::metadata(data.path().join("secret.key")).unwrap();
    assert_eq!(secret.permissions().mode() & 0o777, 0o600);
    let served = Served::start(configuration(data.path()), Arc::new(SystemClock)).await;
    assert_eq!(published(&served).await, keys);
    assert_eq!(served.me(&token).await.1["data"]["me"]["nickname"], "ana");
    served.stop().await;
}

#[tokio::test]
async fn keys_that_were_sealed_with_another_secret_are_not_guessed_at() {
    let data = tempfile::tempdir().unwrap();
    Served::start(configuration(data.path()), Arc::new(SystemClock)).await.stop().await;
    let mut other = configuration(data.path());
    other.process.sign_in.secret = Some(Secret::new("x".repeat(32)));
    let refused = Server::open(other).await.unwrap_err().to_string();
    assert!(refused.contains("sign-in.secret") && refused.contains("another secret"), "{refused}");
}

#[tokio::test]
async fn two_processes_share_their_keys_from_the_first_moment() {
    let (store, data) = (Store::start().await, tempfile::tempdir().unwrap());
    let mut shared = configuration(data.path());
    shared.process.store.kind = StoreKind::Dynamodb;
    shared.process.store.endpoint = Some(store.url.clone());
    shared.process.sign_in.secret = Some(Secret::new("s".repeat(40)));
    let clock = Arc::new(SystemClock);
    let (one, two) =
        tokio::join!(Served::start(shared.clone(), clock.clone()), Served::start(shared, clock));
    assert_eq!(published(&one).await, published(&two).await);
    let token = one.newcomer("ana").await;
    assert_eq!(two.me(&token).await.1["data"]["me"]["nickname"], "ana");
    // A key that the other has just made is found when it is first named.
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
    let served = Served::start(configuration(data.path()), clock.clone()).await;
    let ana = served.signed_up("ana").await;
    let first = published(&served).await;
    assert_eq!(first.len(), 1);

    // A day before its time the next key is there for everybody to see, and signs nothing.
    clock.set_ms(start + 90 * DAY_MS - DAY_MS);
    served.handle.keep_keys().await.unwrap();
    let both = published(&served).await;
    assert_eq!(both.len(), 2);
    clock.set_ms(start + 90 * DAY_MS - 1);
    let old = served.token(&ana).await;
    assert_eq!(signer(&old), first[0]);

    // From its time on it signs, and what the one before has signed is good until it is over.
    clock.set_ms(start + 90 * DAY_MS);
    served.handle.keep_keys().await.unwrap();
    let new = served.token(&ana).await;
    assert!(signer(&new) != first[0] && both.contains(&signer(&new)));
    for token in [&old, &new] {
        assert_eq!(served.me(token).await.1["data"]["me"]["nickname"], "ana");
    }
    clock.set_ms(start + 91 * DAY_MS);
    served.handle.keep_keys().await.unwrap();
    assert_eq!(published(&served).await, [signer(&new)]);
    served.stop().await;
}

fn signer(token: &str) -> String {
    let header = token.split('.').next().unwrap();
    let header = data_encoding::BASE64URL_NOPAD.decode(header.as_bytes()).unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    assert_eq!(header["alg"], "RS256");
    header["kid"].as_str().unwrap().to_owned()
}
