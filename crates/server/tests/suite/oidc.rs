//! An issuer outside, whose tokens are believed as long as they are what it is configured to be.

use std::sync::Arc;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use axum::routing::get;
use axum::{Json, Router};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use parking_lot::Mutex;
use reqwest::StatusCode;
use roundtable_server::OidcSettings;
use roundtable_table::ManualClock;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::served::{Served, code, configuration};

const NOW_SECONDS: u64 = 1_800_000_000;
const AUDIENCE: &str = "the-round-table";

/// A key of the issuer's.
struct Key {
    id: &'static str,
    signs: EncodingKey,
}

impl Key {
    fn new(id: &'static str) -> Self {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        Self { id, signs: EncodingKey::from_ec_der(made.unwrap().as_ref()) }
    }

    fn public(&self) -> Jwk {
        let mut public = Jwk::from_encoding_key(&self.signs, Algorithm::ES256).unwrap();
        public.common.key_id = Some(self.id.to_owned());
        public
    }

    fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some(self.id.to_owned()), ..Header::new(Algorithm::ES256) };
        jsonwebtoken::encode(&header, claims, &self.signs).unwrap()
    }
}

/// An issuer that tells where its keys are, and shows them.
struct Issuer {
    url: String,
    keys: Arc<Mutex<Vec<Jwk>>>,
    serving: JoinHandle<()>,
}

impl Issuer {
    async fn start(first: &Key) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let keys = Arc::new(Mutex::new(vec![first.public()]));
        let (shown, found) =
            (Arc::clone(&keys), json!({ "issuer": url, "jwks_uri": format!("{url}/keys") }));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(async move || Json(found)))
            .route("/keys", get(async move || Json(json!({ "keys": *shown.lock() }))));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, keys, serving }
    }

    /// What its tokens say of somebody.
    fn claims(&self, email: &str) -> Value {
        json!({
            "iss": self.url, "aud": AUDIENCE, "sub": "somebody", "exp": NOW_SECONDS + 300,
            "email": email, "email_verified": true,
        })
    }
}

/// A server that believes an issuer, with Ana, who has signed up.
struct Stage {
    key: Key,
    issuer: Issuer,
    clock: Arc<ManualClock>,
    served: Served,
    /// Ana's token of our own.
    own: String,
    _data: TempDir,
}

impl Stage {
    async fn set() -> Self {
        let (data, key) = (tempfile::tempdir().unwrap(), Key::new("one"));
        let issuer = Issuer::start(&key).await;
        let clock = Arc::new(ManualClock::at_ms(NOW_SECONDS * 1000));
        let mut all = configuration(data.path());
        let (url, audience) = (issuer.url.clone(), AUDIENCE.to_owned());
        all.process.sign_in.oidc = Some(OidcSettings { issuer: url, audience, jwks_url: None });
        let served = Served::start(all, clock.clone()).await;
        let own = served.newcomer("ana").await;
        Self { key, issuer, clock, served, own, _data: data }
    }

    /// What the issuer says of Ana.
    fn claims(&self) -> Value {
        self.issuer.claims("ana@example.org")
    }

    async fn knows_ana_by(&self, token: &str) -> bool {
        self.served.me(token).await.1["data"]["me"]["nickname"] == "ana"
    }

    async fn issuer_goes(&mut self) {
        self.issuer.serving.abort();
        assert!((&mut self.issuer.serving).await.unwrap_err().is_cancelled());
    }
}

fn with(claims: &Value, key: &str, value: Value) -> Value {
    let mut claims = claims.clone();
    claims[key] = value;
    claims
}

#[tokio::test]
async fn people_are_known_by_tokens_of_the_issuer_and_by_nothing_like_them() {
    let stage = Stage::set().await;
    let (key, good) = (&stage.key, stage.claims());
    assert!(stage.knows_ana_by(&key.sign(&good)).await);
    assert!(stage.knows_ana_by(&stage.own).await, "our own go on");

    let forger = Key { id: "one", ..Key::new("forger") };
    for (what, bad) in [
        ("forged", forger.sign(&good)),
        ("of an unknown key", Key::new("two").sign(&good)),
        ("expired", key.sign(&with(&good, "exp", json!(NOW_SECONDS - 61)))),
        ("not begun", key.sign(&with(&good, "nbf", json!(NOW_SECONDS + 61)))),
        ("for others", key.sign(&with(&good, "aud", json!("another-table")))),
        ("of another issuer", key.sign(&with(&good, "iss", json!("https://evil.example")))),
        ("about nobody", key.sign(&stage.issuer.claims("nobody@example.org"))),
    ] {
        let (status, answer) = stage.served.me(&bad).await;
        let refused = (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
        assert_eq!((status, code(&answer)), refused, "{what}: {answer}");
    }
    stage.served.stop().await;
}

/// An address that nobody has checked may be anybody's: no account is found by it.
#[tokio::test]
async fn only_an_address_that_the_issuer_has_checked_counts() {
    let stage = Stage::set().await;
    let good = stage.claims();
    let mut silent = good.clone();
    silent.as_object_mut().unwrap().remove("email_verified");
    let says = |value| with(&good, "email_verified", value);
    for claims in [
        silent,
        says(json!(false)),
        says(json!(null)),
        says(json!(1)),
        says(json!("false")),
        with(&good, "email", json!(null)),
    ] {
        let (status, answer) = stage.served.me(&stage.key.sign(&claims)).await;
        let refused = (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
        assert_eq!((status, code(&answer)), refused, "{claims}: {answer}");
        assert!(answer.to_string().contains("has not confirmed your e-mail address"), "{answer}");
    }
    assert!(stage.knows_ana_by(&stage.key.sign(&good)).await);
    stage.served.stop().await;
}

#[tokio::test]
async fn a_new_key_of_the_issuer_is_found_and_an_old_one_forgotten() {
    let stage = Stage::set().await;
    let (one, two, claims) = (&stage.key, Key::new("two"), stage.claims());
    let (old, new) = (one.sign(&claims), two.sign(&claims));
    assert!(stage.knows_ana_by(&old).await);

    *stage.issuer.keys.lock() = vec![one.public(), two.public()];
    // Not at every unknown name: whoever makes them up would have us ask all day.
    assert_eq!(code(&stage.served.me(&new).await.1), "UNAUTHENTICATED");
    stage.clock.advance_ms(31_000);
    for token in [&old, &new] {
        assert!(stage.knows_ana_by(token).await);
    }
    *stage.issuer.keys.lock() = vec![two.public()];
    stage.clock.advance_ms(60 * 60 * 1000);
    let later = |key: &Key| key.sign(&with(&claims, "exp", json!(NOW_SECONDS + 7_200)));
    assert!(stage.knows_ana_by(&later(&two)).await);
    assert_eq!(code(&stage.served.me(&later(one)).await.1), "UNAUTHENTICATED");
    stage.served.stop().await;
}

/// R32: whoever is known already stays known, and for others it is nobody's fault but ours.
#[tokio::test]
async fn an_issuer_that_is_away_is_no_reason_to_turn_anybody_away_for_good() {
    let mut stage = Stage::set().await;
    let claims = stage.claims();
    let token = stage.key.sign(&claims);
    assert!(stage.knows_ana_by(&token).await);

    stage.issuer_goes().await;
    stage.clock.advance_ms(31_000);
    let (status, answer) = stage.served.me(&Key::new("two").sign(&claims)).await;
    let tells = answer.to_string().contains(&stage.issuer.url);
    assert!(status != StatusCode::OK && !tells, "{answer}");
    assert!(stage.knows_ana_by(&token).await);
    stage.served.stop().await;
}

/// Its keys are believed for an hour since they came. Asking for them in vain makes them no younger: one
/// that was withdrawn meanwhile would be believed for as long as the issuer is away.
#[tokio::test]
async fn keys_that_could_not_be_fetched_again_are_not_fresh() {
    let mut stage = Stage::set().await;
    let claims = stage.claims();
    let token = stage.key.sign(&with(&claims, "exp", json!(NOW_SECONDS + 100_000)));
    assert!(stage.knows_ana_by(&token).await);

    stage.issuer_goes().await;
    for _ in 0..3 {
        stage.clock.advance_ms(19 * 60 * 1000);
        let unknown = Key::new("two").sign(&claims);
        assert_eq!(code(&stage.served.me(&unknown).await.1), "INTERNAL");
        assert!(stage.knows_ana_by(&token).await);
    }
    stage.clock.advance_ms(4 * 60 * 1000);
    // Once when it is looked for, and once when that has just been in vain.
    for _ in 0..2 {
        let (_, answer) = stage.served.me(&token).await;
        assert_eq!(code(&answer), "INTERNAL", "{answer}");
    }
    stage.served.stop().await;
}
