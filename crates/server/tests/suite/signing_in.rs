//! Authentication: sign-up, sign-in, valid and invalid tokens, API keys.

use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;
use reqwest::StatusCode;
use roundtable_model::Role;
use roundtable_table::ManualClock;
use serde_json::{Value, json};

use crate::test_server::{PASSWORD, TestServer, code, configuration};

const REGISTER: &str = "mutation ($input: RegisterInput!) { register(input: $input) {
    accessToken refreshToken expiresIn tokenType user { nickname } } }";

/// R32: sign-up, sign-in, refresh and sign-out, over HTTP alone.
#[tokio::test]
async fn users_sign_up_in_and_out() {
    let server = TestServer::fresh().await;
    let input = json!({ "email": "ana@example.org", "password": PASSWORD, "nickname": "ana" });
    let (status, response) = server.ask_with(None, REGISTER, json!({ "input": input })).await;
    assert_eq!(status, StatusCode::OK, "{response}");
    let paper = &response["data"]["register"];
    assert_eq!(
        (&paper["tokenType"], &paper["expiresIn"]),
        (&json!("Bearer"), &json!(900)),
        "{response}"
    );
    let token = paper["accessToken"].as_str().unwrap();
    assert_eq!(server.me(token).await.1["data"]["me"]["nickname"], "ana");

    let login = "mutation ($password: String!) { login(email: \"ana@example.org\",
        password: $password) { accessToken refreshToken } }";
    let (_, wrong) = server.ask_with(None, login, json!({ "password": "wrong" })).await;
    assert_eq!(code(&wrong), "UNAUTHENTICATED");
    let (_, right) = server.ask_with(None, login, json!({ "password": PASSWORD })).await;
    let first = right["data"]["login"]["refreshToken"].as_str().unwrap();

    let refresh = "mutation ($token: String!) { refreshToken(refreshToken: $token) {
        accessToken refreshToken } }";
    let (_, next) = server.ask_with(None, refresh, json!({ "token": first })).await;
    let second = next["data"]["refreshToken"]["refreshToken"].as_str().unwrap();
    // A client with the old token has a copy, so the session ends for both.
    let (_, again) = server.ask_with(None, refresh, json!({ "token": first })).await;
    assert_eq!(code(&again), "UNAUTHENTICATED");
    let (_, over) = server.ask_with(None, refresh, json!({ "token": second })).await;
    assert_eq!(code(&over), "UNAUTHENTICATED");
    server.stop().await;
}

/// A token with one part changed.
fn changed(token: &str, part: usize, change: impl FnOnce(&mut Value)) -> String {
    let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    let bytes = BASE64URL_NOPAD.decode(parts[part].as_bytes()).unwrap();
    let mut value: Value = serde_json::from_slice(&bytes).unwrap();
    change(&mut value);
    parts[part] = BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    parts.join(".")
}

#[tokio::test]
async fn forged_foreign_and_broken_tokens_are_refused() {
    let server = TestServer::fresh().await;
    let token = server.sign_up("ana").await;
    let bo = server.registered("bo").await.user.id.to_string();
    let other = TestServer::fresh().await;
    let parts: Vec<&str> = token.split('.').collect();
    let unsigned = changed(&token, 0, |header| header["alg"] = json!("none"));
    let unsigned: Vec<&str> = unsigned.split('.').collect();
    for bad in [
        String::from("nonsense"),
        String::from("a.b.c"),
        String::from("rtk.a.b.c"),
        format!("{}.{}.", unsigned[0], unsigned[1]),
        format!("{}.{}.{}", parts[0], parts[1], "A".repeat(parts[2].len())),
        changed(&token, 0, |header| header["alg"] = json!("HS256")),
        changed(&token, 0, |header| header["kid"] = json!("k0")),
        changed(&token, 1, |claims| claims["sub"] = json!(bo)),
        changed(&token, 1, |claims| claims["staff"] = json!(true)),
        changed(&token, 1, |claims| claims["exp"] = json!(u32::MAX)),
        other.sign_up("ana").await,
    ] {
        let (status, response) = server.me(&bad).await;
        assert_eq!(
            (status, code(&response)),
            (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"),
            "{bad}"
        );
        assert!(response["data"].is_null(), "{bad}");
    }
    let basic = server.client.post(format!("{}/graphql", server.url)).basic_auth("ana", Some("x"));
    let response = basic.json(&json!({ "query": "{ me { id } }" })).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(server.me(&token).await.1["data"]["me"]["nickname"], "ana");
    server.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn a_token_expires_after_its_lifetime() {
    let data = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at_ms(1_800_000_000_000));
    let server = TestServer::start(configuration(data.path()), clock.clone()).await;
    let token = server.sign_up("ana").await;
    clock.advance_ms(15 * 60 * 1000 - 1000);
    assert_eq!(server.me(&token).await.1["data"]["me"]["nickname"], "ana");
    clock.advance_ms(1000);
    let (status, response) = server.me(&token).await;
    assert_eq!((status, code(&response)), (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"));
    server.stop().await;
}

/// No token outlives a role, and a role needs a token issued after it was granted.
#[tokio::test]
async fn a_revoked_role_is_gone_at_once() {
    let server = TestServer::fresh().await;
    let ana = server.registered("ana").await;
    server.accounts().grant(&ana.user.nickname, Role::Admin).await.unwrap();
    let sees_email = async |token: &str| {
        let query = "{ getUserByEmail(email: \"bo@example.org\") { nickname } }";
        server.ask(Some(token), query).await.1["data"]["getUserByEmail"]["nickname"].clone()
    };
    server.registered("bo").await;
    let before = server.token(&ana).await;
    assert_eq!(sees_email(&before).await, Value::Null);
    let ana = server.accounts().refresh(&ana.refresh_token).await.unwrap();
    let admin = server.token(&ana).await;
    assert_eq!(sees_email(&admin).await, "bo");
    let cleo = server.registered("cleo").await;
    server.accounts().grant(&cleo.user.nickname, Role::Admin).await.unwrap();
    let cleo = server.accounts().refresh(&cleo.refresh_token).await.unwrap();
    let (caller, roles) = (&cleo.caller, [Role::User]);
    server.accounts().set_roles(caller, &ana.user.id, &roles, None).await.unwrap();
    assert_eq!(sees_email(&admin).await, Value::Null);
    server.stop().await;
}

#[tokio::test]
async fn api_keys_are_limited_to_their_scopes() {
    let server = TestServer::fresh().await;
    let ana = server.registered("ana").await;
    server.registered("bo").await;
    let key = async |scope: &str| {
        let scopes = [scope.to_owned()];
        let made = server.accounts().create_key(&ana.caller, "program", &scopes, None).await;
        made.unwrap().secret.expose().to_owned()
    };
    let (reads, writes, neither) = (key("read").await, key("write").await, key("other").await);
    let follow = "mutation { followUser(followeeId: \"nobody\") { followeeId } }";
    for (key, may_read, may_write) in
        [(&reads, true, false), (&writes, true, true), (&neither, false, false)]
    {
        let (_, read) = server.me(key).await;
        assert_eq!(read["data"]["me"]["nickname"] == "ana", may_read, "{read}");
        let (_, written) = server.ask(Some(key), follow).await;
        assert_eq!(code(&written) != "FORBIDDEN", may_write, "{written}");
    }
    let headers = server.client.post(format!("{}/graphql", server.url)).header("x-api-key", &reads);
    let response = headers.json(&json!({ "query": "{ me { nickname } }" })).send().await.unwrap();
    assert_eq!(crate::test_server::read(response).await.1["data"]["me"]["nickname"], "ana");
    server.stop().await;
}

/// Strangers in many networks lock an account for all devices but those that the user has signed in on.
#[tokio::test]
async fn strangers_cannot_lock_out_a_known_device() {
    let (data, clock) = (tempfile::tempdir().unwrap(), ManualClock::at_ms(1_800_000_000_000));
    let mut all = configuration(data.path());
    all.process.http.proxies = 1;
    all.settings.login.account_strangers_max = 12;
    let clock = Arc::new(clock);
    let server = TestServer::start(all, clock.clone()).await;
    server.registered("ana").await;
    let login = async |from: &str, password: &str, device: Option<&str>| {
        let query =
            "mutation ($password: String!, $device: String) { login(email: \"ana@example.org\",
            password: $password, deviceToken: $device, deviceLabel: \"phone\") { deviceToken } }";
        let variables = json!({ "password": password, "device": device });
        let post = server.client.post(format!("{}/graphql", server.url));
        let post = post.header("x-forwarded-for", from);
        let body = json!({ "query": query, "variables": variables });
        crate::test_server::read(post.json(&body).send().await.unwrap()).await.1
    };
    // As in "too many requests; try again in 64 seconds".
    let seconds = |refused: &Value| -> u64 {
        assert_eq!(code(refused), "RATE_LIMITED", "{refused}");
        let mut words = refused["errors"][0]["message"].as_str().unwrap().split(' ');
        words.find_map(|word| word.parse().ok()).unwrap()
    };
    let first = login("192.0.2.1", PASSWORD, None).await;
    let device = first["data"]["login"]["deviceToken"].as_str().unwrap().to_owned();
    let mut locked = false;
    for network in 0..40 {
        let from = format!("2001:db8:0:{network}::1");
        let response = login(&from, "wrong password", None).await;
        if code(&response) != "UNAUTHENTICATED" {
            locked |= seconds(&response) > 64;
            clock.advance_ms(if locked { 0 } else { seconds(&response) * 1000 });
        }
    }
    assert!(locked, "many networks are bounded");
    assert!(seconds(&login("192.0.2.1", PASSWORD, None).await) > 64);
    for from in ["192.0.2.1", "203.0.113.9", "2001:db8:0:1::7"] {
        let known = login(from, PASSWORD, Some(&device)).await;
        assert_eq!(known["data"]["login"]["deviceToken"], device.as_str(), "{known}");
    }
    server.stop().await;
}

#[tokio::test]
async fn new_nicknames_follow_the_rule() {
    let server = TestServer::fresh().await;
    for (nickname, part) in [
        ("аdmin", "one script"),
        ("ana\u{202e}nimda", "U+202E"),
        ("Ana B", "U+0020"),
        ("<i>ana</i>", "letters, digits"),
        ("moderator", "not reserved"),
    ] {
        let input =
            json!({ "email": "ana@example.org", "password": PASSWORD, "nickname": nickname });
        let (_, response) = server.ask_with(None, REGISTER, json!({ "input": input })).await;
        assert_eq!(code(&response), "BAD_REQUEST", "{nickname}: {response}");
        let message = response["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains(part), "{nickname}: {message}");
    }
    let input = json!({ "email": "ana@example.org", "password": PASSWORD, "nickname": "мария_2" });
    let (_, response) = server.ask_with(None, REGISTER, json!({ "input": input })).await;
    assert_eq!(response["data"]["register"]["user"]["nickname"], "мария_2", "{response}");
    server.stop().await;
}
