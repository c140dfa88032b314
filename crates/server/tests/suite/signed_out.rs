//! Signed out means out: access tokens die with their session, and what a stolen one must not do needs
//! the password.

use std::sync::Arc;
use std::time::Duration;

use reqwest::StatusCode;
use roundtable_domain::SignedInUser;
use roundtable_model::Secret;
use roundtable_table::ManualClock;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::store_outage::Store;
use crate::test_server::{PASSWORD, TestServer, code, configuration};

const NEW_PASSWORD: &str = "another battery staple";
const CREATE_KEY: &str = "mutation ($password: String) {
    createApiKey(name: \"robot\", scopes: [\"read\"], password: $password) { secret } }";

/// One more session of ana, and its access token.
async fn sign_in(server: &TestServer, password: &str) -> (SignedInUser, String) {
    let (email, password) = ("ana@example.org".parse().unwrap(), Secret::new(password));
    let signed_in = server.accounts().login(&email, &password, None).await.unwrap();
    let token = server.token(&signed_in).await;
    (signed_in, token)
}

async fn is_in(server: &TestServer, token: &str) -> bool {
    let (status, response) = server.me(token).await;
    let is_in = response["data"]["me"]["nickname"] == "ana";
    let refused = (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    assert!(is_in || (status, code(&response)) == refused, "{response}");
    is_in
}

async fn key(server: &TestServer, token: &str) -> String {
    let (_, made) = server.ask(Some(token), CREATE_KEY).await;
    made["data"]["createApiKey"]["secret"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
}

#[tokio::test]
async fn an_access_token_dies_with_its_session() {
    let server = TestServer::fresh().await;
    let first = server.sign_up("ana").await;
    let (second, third) = (sign_in(&server, PASSWORD).await, sign_in(&server, PASSWORD).await);
    let all = [&first, &second.1, &third.1];
    for token in all {
        assert!(is_in(&server, token).await);
    }
    let refresh = second.0.refresh_token.expose();
    let logout = format!("mutation {{ logout(refreshToken: \"{refresh}\") }}");
    assert_eq!(server.ask(None, &logout).await.1, json!({ "data": { "logout": true } }));
    assert!(is_in(&server, &first).await && !is_in(&server, &second.1).await);
    server.ask(Some(&first), "mutation { logout }").await;
    assert!(!is_in(&server, &first).await && is_in(&server, &third.1).await);
    // The server has verified this token before, but it was not signed out then.
    let (_, made) = server.ask(Some(&first), CREATE_KEY).await;
    assert_eq!(code(&made), "UNAUTHENTICATED");
    server.stop().await;
}

#[tokio::test]
async fn signing_out_everywhere_ends_tokens_and_keys_at_once() {
    let server = TestServer::fresh().await;
    let first = server.sign_up("ana").await;
    let second = sign_in(&server, PASSWORD).await.1;
    let (one, two) = (key(&server, &first).await, key(&server, &first).await);
    let keep = "mutation { logout(everywhere: true, keepApiKeys: true) }";
    let kept = json!({ "data": { "logout": true }, "extensions": { "revokedApiKeys": 0 } });
    assert_eq!(server.ask(Some(&first), keep).await.1, kept);
    assert!(!is_in(&server, &first).await && !is_in(&server, &second).await);
    assert!(is_in(&server, &one).await && is_in(&server, &two).await);
    let third = sign_in(&server, PASSWORD).await.1;
    let revoked = json!({ "data": { "logout": true }, "extensions": { "revokedApiKeys": 2 } });
    assert_eq!(server.ask(Some(&third), "mutation { logout(everywhere: true) }").await.1, revoked);
    for credential in [&third, &one, &two] {
        assert!(!is_in(&server, credential).await);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_new_password_ends_other_tokens_and_the_keys_at_once() {
    let server = TestServer::fresh().await;
    let (here, elsewhere) = (server.sign_up("ana").await, sign_in(&server, PASSWORD).await.1);
    let robot = key(&server, &elsewhere).await;
    let change = "mutation ($old: String!, $new: String!, $keep: Boolean) {
        changePassword(current: $old, next: $new, keepApiKeys: $keep) }";
    let passwords = json!({ "old": PASSWORD, "new": NEW_PASSWORD, "keep": true });
    let (_, changed) = server.ask_with(Some(&here), change, passwords).await;
    let kept = json!({ "data": { "changePassword": true }, "extensions": { "revokedApiKeys": 0 } });
    assert_eq!(changed, kept);
    assert!(is_in(&server, &here).await && !is_in(&server, &elsewhere).await);
    assert!(is_in(&server, &robot).await);
    let passwords = json!({ "old": NEW_PASSWORD, "new": PASSWORD });
    let (_, changed) = server.ask_with(Some(&here), change, passwords).await;
    assert_eq!(changed["extensions"], json!({ "revokedApiKeys": 1 }), "{changed}");
    assert!(is_in(&server, &here).await && !is_in(&server, &robot).await);
    server.stop().await;
}

/// A stolen access token is good for minutes: it must not turn into a key, nor end the account.
#[tokio::test]
async fn a_stolen_token_creates_no_key_and_deletes_nothing() {
    let data = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at_ms(1_800_000_000_000));
    let server = TestServer::start(configuration(data.path()), clock.clone()).await;
    let token = server.sign_up("ana").await;
    clock.advance_ms(5 * 60 * 1000 + 1_000);
    let delete = "mutation ($password: String) {
        deleteAccount(confirmNickname: \"ana\", password: $password) }";
    for mutation in [CREATE_KEY, delete] {
        for password in [Value::Null, json!("a guess")] {
            let variables = json!({ "password": password });
            let (_, refused) = server.ask_with(Some(&token), mutation, variables).await;
            assert_eq!(code(&refused), "UNAUTHENTICATED", "{refused}");
        }
    }
    assert!(is_in(&server, &token).await);
    let password = json!({ "password": PASSWORD });
    let (_, made) = server.ask_with(Some(&token), CREATE_KEY, password.clone()).await;
    assert!(made["data"]["createApiKey"]["secret"].is_string(), "{made}");
    let (_, deleted) = server.ask_with(Some(&token), delete, password).await;
    assert_eq!(deleted["data"]["deleteAccount"], true, "{deleted}");
    server.stop().await;
}

#[tokio::test]
async fn the_owner_is_notified_of_a_new_key() {
    let server = TestServer::fresh().await;
    let token = server.sign_up("ana").await;
    key(&server, &token).await;
    let list = "{ listNotifications { items { kind actor { nickname } object { ... on User {
        nickname } } } } }";
    let expected = json!([{ "kind": "api_key", "actor": null, "object": { "nickname": "ana" } }]);
    let arrives = async {
        loop {
            let (_, listed) = server.ask(Some(&token), list).await;
            if listed["data"]["listNotifications"]["items"] == expected {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), arrives).await.unwrap();
    server.stop().await;
}

/// On DynamoDB, too, and in every process.
#[tokio::test]
async fn signing_out_of_one_process_signs_out_of_all() {
    let (store, data) = (Store::start().await, tempfile::tempdir().unwrap());
    let (one, two) = store.two_processes(data.path()).await;
    let (first, second) = (one.sign_up("ana").await, sign_in(&two, PASSWORD).await.1);
    let robot = key(&one, &first).await;
    for server in [&one, &two] {
        for credential in [&first, &second, &robot] {
            assert!(is_in(server, credential).await);
        }
    }
    one.ask(Some(&first), "mutation { logout }").await;
    assert!(!is_in(&two, &first).await && is_in(&one, &second).await);
    one.ask(Some(&second), "mutation { logout(everywhere: true) }").await;
    assert!(!is_in(&two, &second).await && !is_in(&two, &robot).await);
    one.stop().await;
    two.stop().await;
}

/// The requests of a batch come one after the other, and so does the sign-out among them.
#[tokio::test]
async fn a_batch_ends_with_its_session() {
    let server = TestServer::fresh().await;
    let token = server.sign_up("ana").await;
    let requests =
        ["mutation { logout }", "{ __typename }", "{ me { nickname } }", "{ __typename }"];
    let requests: Vec<Value> = requests.iter().map(|query| json!({ "query": query })).collect();
    let post = server.client.post(format!("{}/graphql", server.url)).bearer_auth(&token);
    let response = post.json(&requests).send().await.unwrap();
    let (_, answers) = crate::test_server::read(response).await;
    assert_eq!(answers[0]["data"]["logout"], true, "{answers}");
    assert_eq!(answers[1]["data"]["__typename"], "Query", "{answers}");
    for late in [&answers[2], &answers[3]] {
        assert_eq!(code(late), "UNAUTHENTICATED", "{answers}");
    }
    server.stop().await;
}

/// What a client begins before it is signed out, and sends after that, comes after it.
#[tokio::test]
async fn a_request_whose_body_comes_after_the_sign_out_is_refused() {
    let server = TestServer::fresh().await;
    let token = server.sign_up("ana").await;
    let query = "mutation { updateProfile(input: { bio: \"mine\" }) { bio } }";
    let body = json!({ "query": query }).to_string();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\
         expect: 100-continue\r\n\r\n",
        body.len()
    );
    let address = server.url.strip_prefix("http://").unwrap();
    let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
    connection.write_all(head.as_bytes()).await.unwrap();
    // The server asks for the body once it has authenticated the client.
    let mut answer = [0; 25];
    connection.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");
    server.ask(Some(&token), "mutation { logout }").await;
    connection.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    server.stop().await;
}
