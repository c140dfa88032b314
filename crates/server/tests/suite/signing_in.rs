//! Who people are: signing up and in, tokens that are good and tokens that are not, keys for programs.

use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;
use reqwest::StatusCode;
use roundtable_model::Role;
use roundtable_table::ManualClock;
use serde_json::{Value, json};

use crate::served::{PASSWORD, Served, code, configuration};

const REGISTER: &str = "mutation ($input: RegisterInput!) { register(input: $input) {
    accessToken refreshToken expiresIn tokenType user { nickname } } }";

/// R32: signing up, in, on and out again, over HTTP alone.
#[tokio::test]
async fn people_sign_up_and_in_and_out() {
    let served = Served::fresh().await;
    let input = json!({ "email": "ana@example.org", "password": PASSWORD, "nickname": "ana" });
    let (status, answer) = served.ask_with(None, REGISTER, json!({ "input": input })).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let paper = &answer["data"]["register"];
    assert_eq!(
        (&paper["tokenType"], &paper["expiresIn"]),
        (&json!("Bearer"), &json!(900)),
        "{answer}"
    );
    let token = paper["accessToken"].as_str().unwrap();
    assert_eq!(served.me(token).await.1["data"]["me"]["nickname"], "ana");

    let login = "mutation ($password: String!) { login(email: \"ana@example.org\",
        password: $password) { accessToken refreshToken } }";
    let (_, wrong) = served.ask_with(None, login, json!({ "password": "wrong" })).await;
    assert_eq!(code(&wrong), "UNAUTHENTICATED");
    let (_, right) = served.ask_with(None, login, json!({ "password": PASSWORD })).await;
    let first = right["data"]["login"]["refreshToken"].as_str().unwrap();

    let refresh = "mutation ($token: String!) { refreshToken(refreshToken: $token) {
        accessToken refreshToken } }";
    let (_, next) = served.ask_with(None, refresh, json!({ "token": first })).await;
    let second = next["data"]["refreshToken"]["refreshToken"].as_str().unwrap();
    // Whoever comes with the old one has a copy, and ends it for everybody.
    let (_, again) = served.ask_with(None, refresh, json!({ "token": first })).await;
    assert_eq!(code(&again), "UNAUTHENTICATED");
    let (_, over) = served.ask_with(None, refresh, json!({ "token": second })).await;
    assert_eq!(code(&over), "UNAUTHENTICATED");
    served.stop().await;
}

/// A part of a token, changed.
fn changed(token: &str, part: usize, change: impl FnOnce(&mut Value)) -> String {
    let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    let bytes = BASE64URL_NOPAD.decode(parts[part].as_bytes()).unwrap();
    let mut value: Value = serde_json::from_slice(&bytes).unwrap();
    change(&mut value);
    parts[part] = BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    parts.join(".")
}

#[tokio::test]
async fn forged_foreign_and_broken_tokens_open_nothing() {
    let served = Served::fresh().await;
    let token = served.newcomer("ana").await;
    let bo = served.signed_up("bo").await.user.id.to_string();
    let other = Served::fresh().await;
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
        other.newcomer("ana").await,
    ] {
        let (status, answer) = served.me(&bad).await;
        assert_eq!((status, code(&answer)), (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"), "{bad}");
        assert!(answer["data"].is_null(), "{bad}");
    }
    let basic = served.client.post(format!("{}/graphql", served.url)).basic_auth("ana", Some("x"));
    let answer = basic.json(&json!({ "query": "{ me { id } }" })).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(served.me(&token).await.1["data"]["me"]["nickname"], "ana");
    served.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn a_token_is_over_after_its_minutes() {
    let data = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at_ms(1_800_000_000_000));
    let served = Served::start(configuration(data.path()), clock.clone()).await;
    let token = served.newcomer("ana").await;
    clock.advance_ms(15 * 60 * 1000 - 1000);
    assert_eq!(served.me(&token).await.1["data"]["me"]["nickname"], "ana");
    clock.advance_ms(1000);
    let (status, answer) = served.me(&token).await;
    assert_eq!((status, code(&answer)), (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"));
    served.stop().await;
}

/// No token outlives a role, and no role is had by a token that does not know of it.
#[tokio::test]
async fn a_role_that_was_taken_away_is_gone_at_once() {
    let served = Served::fresh().await;
    let ana = served.signed_up("ana").await;
    served.accounts().grant(&ana.user.nickname, Role::Admin).await.unwrap();
    let sees_email = async |token: &str| {
        let query = "{ getUserByEmail(email: \"bo@example.org\") { nickname } }";
        served.ask(Some(token), query).await.1["data"]["getUserByEmail"]["nickname"].clone()
    };
    served.signed_up("bo").await;
    let before = served.token(&ana).await;
    assert_eq!(sees_email(&before).await, Value::Null);
    let ana = served.accounts().refresh(&ana.refresh_token).await.unwrap();
    let admin = served.token(&ana).await;
    assert_eq!(sees_email(&admin).await, "bo");
    let cleo = served.signed_up("cleo").await;
    served.accounts().grant(&cleo.user.nickname, Role::Admin).await.unwrap();
    let cleo = served.accounts().refresh(&cleo.refresh_token).await.unwrap();
    let (caller, roles) = (&cleo.caller, [Role::User]);
    served.accounts().set_roles(caller, &ana.user.id, &roles, None).await.unwrap();
    assert_eq!(sees_email(&admin).await, Value::Null);
    served.stop().await;
}

#[tokio::test]
async fn keys_for_programs_are_for_what_they_are_for() {
    let served = Served::fresh().await;
    let ana = served.signed_up("ana").await;
    served.signed_up("bo").await;
    let key = async |scope: &str| {
        let scopes = [scope.to_owned()];
        let made = served.accounts().create_key(&ana.caller, "program", &scopes, None).await;
        made.unwrap().secret.expose().to_owned()
    };
    let (reads, writes, neither) = (key("read").await, key("write").await, key("other").await);
    let follow = "mutation { followUser(followeeId: \"nobody\") { followeeId } }";
    for (key, may_read, may_write) in
        [(&reads, true, false), (&writes, true, true), (&neither, false, false)]
    {
        let (_, read) = served.me(key).await;
        assert_eq!(read["data"]["me"]["nickname"] == "ana", may_read, "{read}");
        let (_, written) = served.ask(Some(key), follow).await;
        assert_eq!(code(&written) != "FORBIDDEN", may_write, "{written}");
    }
    let headers = served.client.post(format!("{}/graphql", served.url)).header("x-api-key", &reads);
    let answer = headers.json(&json!({ "query": "{ me { nickname } }" })).send().await.unwrap();
    assert_eq!(crate::served::read(answer).await.1["data"]["me"]["nickname"], "ana");
    served.stop().await;
}
