//! An external issuer, whose tokens are accepted if they match the configuration.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use axum::routing::get;
use axum::{Json, Router};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use parking_lot::Mutex;
use reqwest::StatusCode;
use roundtable_server::{Configuration, OidcSettings};
use roundtable_table::ManualClock;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::test_server::{PASSWORD, TestServer, code, configuration};
use crate::websocket_client::WebSocketClient;

const NOW_SECONDS: u64 = 1_800_000_000;
const AUDIENCE: &str = "the-round-table";

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

/// An issuer that publishes its configuration and keys.
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

    /// The claims of its tokens.
    fn claims(&self, email: &str) -> Value {
        json!({
            "iss": self.url, "aud": AUDIENCE, "sub": email, "exp": NOW_SECONDS + 300,
            "email": email, "email_verified": true,
        })
    }
}

/// A server that accepts an issuer, with Ana, who has signed up and linked her identity.
struct OidcFixture {
    key: Key,
    issuer: Issuer,
    clock: Arc<ManualClock>,
    server: TestServer,
    /// Ana's token from the server itself.
    own: String,
    _data: TempDir,
}

impl OidcFixture {
    async fn set() -> Self {
        let fixture = Self::without_identity().await;
        assert_eq!(fixture.link(&fixture.claims(), PASSWORD).await["data"]["linkIdentity"], true);
        fixture
    }

    /// The same before Ana has linked her identity.
    async fn without_identity() -> Self {
        Self::configured(|_| {}).await
    }

    async fn configured(change: impl FnOnce(&mut Configuration)) -> Self {
        let (data, key) = (tempfile::tempdir().unwrap(), Key::new("one"));
        let issuer = Issuer::start(&key).await;
        let clock = Arc::new(ManualClock::at_ms(NOW_SECONDS * 1000));
        let mut all = configuration(data.path());
        let (url, audience) = (issuer.url.clone(), AUDIENCE.to_owned());
        all.process.sign_in.oidc = Some(OidcSettings { issuer: url, audience, jwks_url: None });
        change(&mut all);
        let server = TestServer::start(all, clock.clone()).await;
        let own = server.sign_up("ana").await;
        Self { key, issuer, clock, server, own, _data: data }
    }

    fn claims(&self) -> Value {
        self.issuer.claims("ana@example.org")
    }

    async fn link(&self, claims: &Value, password: &str) -> Value {
        let query = "mutation ($token: String!, $password: String!) {
            linkIdentity(identityToken: $token, password: $password) }";
        let variables = json!({ "token": self.key.sign(claims), "password": password });
        self.server.ask_with(None, query, variables).await.1
    }

    async fn register(&self, nickname: &str, email: &str, claims: Option<&Value>) -> Value {
        let query = "mutation ($input: RegisterInput!) { register(input: $input) {
            accessToken user { nickname } } }";
        let token = claims.map(|claims| self.key.sign(claims));
        let input = json!({ "email": email, "password": PASSWORD, "nickname": nickname,
            "identityToken": token });
        self.server.ask_with(None, query, json!({ "input": input })).await.1
    }

    /// The nickname of the account that a token with these claims opens.
    async fn opened(&self, claims: &Value) -> Value {
        self.server.me(&self.key.sign(claims)).await.1["data"]["me"]["nickname"].clone()
    }

    async fn accepts_as_ana(&self, token: &str) -> bool {
        self.server.me(token).await.1["data"]["me"]["nickname"] == "ana"
    }

    async fn stop_issuer(&mut self) {
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
async fn only_valid_tokens_of_the_issuer_are_accepted() {
    let fixture = OidcFixture::set().await;
    let (key, good) = (&fixture.key, fixture.claims());
    assert!(fixture.accepts_as_ana(&key.sign(&good)).await);
    assert!(fixture.accepts_as_ana(&fixture.own).await, "our own go on");

    let forger = Key { id: "one", ..Key::new("forger") };
    for (what, bad) in [
        ("forged", forger.sign(&good)),
        ("of an unknown key", Key::new("two").sign(&good)),
        ("expired", key.sign(&with(&good, "exp", json!(NOW_SECONDS - 61)))),
        ("not begun", key.sign(&with(&good, "nbf", json!(NOW_SECONDS + 61)))),
        ("for others", key.sign(&with(&good, "aud", json!("another-table")))),
        ("of another issuer", key.sign(&with(&good, "iss", json!("https://evil.example")))),
        ("about nobody", key.sign(&fixture.issuer.claims("nobody@example.org"))),
    ] {
        let (status, response) = fixture.server.me(&bad).await;
        let error = (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
        assert_eq!((status, code(&response)), error, "{what}: {response}");
    }
    fixture.server.stop().await;
}

/// People are their issuer's subjects: an address opens no account, and another one changes nothing.
#[tokio::test]
async fn an_identity_is_its_issuer_and_subject() {
    let fixture = OidcFixture::set().await;
    let good = fixture.claims();
    let mut silent = good.clone();
    for claim in ["email", "email_verified"] {
        silent.as_object_mut().unwrap().remove(claim);
    }
    for claims in [&good, &silent, &with(&good, "email", json!("other@example.org"))] {
        assert_eq!(fixture.opened(claims).await, "ana", "{claims}");
    }
    let mut nobody = good.clone();
    nobody.as_object_mut().unwrap().remove("sub");
    let spaced = with(&good, "sub", json!(" ana@example.org"));
    for claims in
        [nobody, spaced, with(&good, "sub", json!("another")), with(&good, "sub", json!(""))]
    {
        let (status, response) = fixture.server.me(&fixture.key.sign(&claims)).await;
        let error = (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
        assert_eq!((status, code(&response)), error, "{claims}: {response}");
    }
    fixture.server.stop().await;
}

/// A sign-in that has just happened, which the issuer states in `auth_time`, is as good as the password.
/// The time of issue is not: tokens are renewed without the user.
#[tokio::test]
async fn a_key_needs_a_recent_sign_in_at_the_issuer() {
    let fixture = OidcFixture::set().await;
    let create = "mutation { createApiKey(name: \"bot\", scopes: [\"read\"]) { name } }";
    let asked = async |claims: &Value| {
        let token = fixture.key.sign(claims);
        fixture.server.ask(Some(&token), create).await.1
    };
    let good = with(&fixture.claims(), "iat", json!(NOW_SECONDS));
    for auth_time in
        [json!(null), json!(NOW_SECONDS - 300), json!(NOW_SECONDS + 61), json!("today")]
    {
        let refused = asked(&with(&good, "auth_time", auth_time.clone())).await;
        assert_eq!(code(&refused), "UNAUTHENTICATED", "{auth_time}: {refused}");
    }
    for auth_time in [NOW_SECONDS - 299, NOW_SECONDS, NOW_SECONDS + 60] {
        let made = asked(&with(&good, "auth_time", json!(auth_time))).await;
        assert_eq!(made["data"]["createApiKey"]["name"], "bot", "{auth_time}: {made}");
    }
    fixture.server.stop().await;
}

/// As with a session that ends, at once.
#[tokio::test]
async fn a_connection_ends_when_its_identity_is_unlinked() {
    let fixture = OidcFixture::set().await;
    let token = fixture.key.sign(&fixture.claims());
    let mut socket = WebSocketClient::connect_as(&fixture.server, &token).await;
    let (_, out) =
        fixture.server.ask(Some(&fixture.own), "mutation { logout(everywhere: true) }").await;
    assert_eq!(out["data"]["logout"], true, "{out}");
    let closed = tokio::time::timeout(Duration::from_mins(1), socket.close_code());
    assert_eq!(closed.await.unwrap(), 4403);
    fixture.server.stop().await;
}

/// The token itself lasts longer: the next connection checks the identity and its roles again.
#[tokio::test]
async fn a_connection_does_not_last_as_long_as_a_token_of_the_issuer() {
    let fixture = OidcFixture::configured(|all| all.process.sign_in.token_seconds = 1).await;
    let claims = fixture.claims();
    assert_eq!(fixture.link(&claims, PASSWORD).await["data"]["linkIdentity"], true);
    let token = fixture.key.sign(&claims);
    let mut socket = WebSocketClient::connect_as(&fixture.server, &token).await;
    // The token itself lasts for five minutes.
    let closed = tokio::time::timeout(Duration::from_mins(1), socket.close_code());
    assert_eq!(closed.await.unwrap(), 4403);
    assert!(fixture.accepts_as_ana(&token).await, "until its identity is unlinked");
    fixture.server.stop().await;
}

/// An address that the issuer has not verified may belong to another user, and so may an account with it.
#[tokio::test]
async fn an_address_links_only_with_verification_and_password() {
    let fixture = OidcFixture::without_identity().await;
    let good = fixture.claims();
    let (_, response) = fixture.server.me(&fixture.key.sign(&good)).await;
    assert_eq!(code(&response), "UNAUTHENTICATED");
    assert!(response.to_string().contains("linkIdentity"), "{response}");
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
        let response = fixture.link(&claims, PASSWORD).await;
        assert_eq!(code(&response), "BAD_REQUEST", "{claims}: {response}");
        assert!(
            response.to_string().contains("has not verified your e-mail address"),
            "{response}"
        );
    }
    assert_eq!(code(&fixture.link(&good, "a wrong guess").await), "UNAUTHENTICATED");
    assert_eq!(
        code(&fixture.link(&with(&good, "exp", json!(1)), PASSWORD).await),
        "UNAUTHENTICATED"
    );
    assert_eq!(fixture.opened(&good).await, Value::Null);
    assert_eq!(fixture.link(&good, PASSWORD).await["data"]["linkIdentity"], true);
    assert_eq!(fixture.opened(&good).await, "ana");
    fixture.server.stop().await;
}

/// Mallory registers with Vera's address, or changes to it, before Vera comes. Vera's token opens nothing
/// of Mallory's, and Vera signs up with the address all the same.
#[tokio::test]
async fn a_stranger_cannot_reserve_an_address() {
    for changes in [false, true] {
        let fixture = OidcFixture::without_identity().await;
        let address = if changes { "mallory@example.org" } else { "vera@example.org" };
        let mallory = fixture.register("mallory", address, None).await;
        let token = mallory["data"]["register"]["accessToken"].as_str().unwrap();
        if changes {
            let query = "mutation ($password: String!) {
                changeEmail(password: $password, email: \"vera@example.org\") { email } }";
            let variables = json!({ "password": PASSWORD });
            let (_, changed) = fixture.server.ask_with(Some(token), query, variables).await;
            assert_eq!(changed["data"]["changeEmail"]["email"], "vera@example.org", "{changed}");
        }
        let vera = fixture.issuer.claims("vera@example.org");
        assert_eq!(fixture.opened(&vera).await, Value::Null);
        let plain = fixture.register("vera", "vera@example.org", None).await;
        assert_eq!(code(&plain), "CONFLICT");
        let unverified = with(&vera, "email_verified", json!(false));
        let unverified = fixture.register("vera", "vera@example.org", Some(&unverified)).await;
        assert_eq!(code(&unverified), "BAD_REQUEST");
        let other = fixture.register("vera", "other@example.org", Some(&vera)).await;
        assert_eq!(code(&other), "BAD_REQUEST", "the token is about another address");

        let signed_up = fixture.register("vera", "vera@example.org", Some(&vera)).await;
        assert_eq!(signed_up["data"]["register"]["user"]["nickname"], "vera", "{signed_up}");
        assert_eq!(fixture.opened(&vera).await, "vera");
        let (_, mallory) = fixture.server.ask(Some(token), "{ me { nickname email } }").await;
        let expected = json!({ "nickname": "mallory", "email": null });
        assert_eq!(mallory["data"]["me"], expected);
        fixture.server.stop().await;
    }
}

#[tokio::test]
async fn a_new_key_of_the_issuer_is_fetched_and_an_old_one_dropped() {
    let fixture = OidcFixture::set().await;
    let (one, two, claims) = (&fixture.key, Key::new("two"), fixture.claims());
    let (old, new) = (one.sign(&claims), two.sign(&claims));
    assert!(fixture.accepts_as_ana(&old).await);

    *fixture.issuer.keys.lock() = vec![one.public(), two.public()];
    // Not for every unknown key id: forged ones would cause endless requests.
    assert_eq!(code(&fixture.server.me(&new).await.1), "UNAUTHENTICATED");
    fixture.clock.advance_ms(31_000);
    for token in [&old, &new] {
        assert!(fixture.accepts_as_ana(token).await);
    }
    *fixture.issuer.keys.lock() = vec![two.public()];
    fixture.clock.advance_ms(60 * 60 * 1000);
    let later = |key: &Key| key.sign(&with(&claims, "exp", json!(NOW_SECONDS + 7_200)));
    assert!(fixture.accepts_as_ana(&later(&two)).await);
    assert_eq!(code(&fixture.server.me(&later(one)).await.1), "UNAUTHENTICATED");
    fixture.server.stop().await;
}

/// R32: cached keys stay valid, and other tokens fail with an internal error rather than the user's
/// fault.
#[tokio::test]
async fn an_unreachable_issuer_refuses_no_user_for_good() {
    let mut fixture = OidcFixture::set().await;
    let claims = fixture.claims();
    let token = fixture.key.sign(&claims);
    assert!(fixture.accepts_as_ana(&token).await);

    fixture.stop_issuer().await;
    fixture.clock.advance_ms(31_000);
    let (status, response) = fixture.server.me(&Key::new("two").sign(&claims)).await;
    let tells = response.to_string().contains(&fixture.issuer.url);
    assert!(status != StatusCode::OK && !tells, "{response}");
    assert!(fixture.accepts_as_ana(&token).await);
    fixture.server.stop().await;
}

/// Keys are trusted for an hour after they were fetched. A failed fetch does not extend that: a key
/// revoked meanwhile would be trusted for as long as the issuer is unreachable.
#[tokio::test]
async fn a_failed_fetch_does_not_extend_the_lifetime_of_keys() {
    let mut fixture = OidcFixture::set().await;
    let claims = fixture.claims();
    let token = fixture.key.sign(&with(&claims, "exp", json!(NOW_SECONDS + 100_000)));
    assert!(fixture.accepts_as_ana(&token).await);

    fixture.stop_issuer().await;
    for _ in 0..3 {
        fixture.clock.advance_ms(19 * 60 * 1000);
        let unknown = Key::new("two").sign(&claims);
        assert_eq!(code(&fixture.server.me(&unknown).await.1), "INTERNAL");
        assert!(fixture.accepts_as_ana(&token).await);
    }
    fixture.clock.advance_ms(4 * 60 * 1000);
    // Once for the fetch, and once for the pause after a failed one.
    for _ in 0..2 {
        let (_, response) = fixture.server.me(&token).await;
        assert_eq!(code(&response), "INTERNAL", "{response}");
    }
    fixture.server.stop().await;
}
