//! Open connections and subscriptions end with the right to them: with the session, the key, the role
//! and the account.

use std::sync::Arc;

use reqwest::Response;
use roundtable_domain::{Caller, SignedInUser};
use roundtable_model::{Role, Secret};
use roundtable_table::SystemClock;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::store_outage::Store;
use crate::store_probes::{Gatekeeper, on_dynamodb};
use crate::test_server::{PASSWORD, TestServer};
use crate::websocket_client::{WebSocketClient, subscribe};

const NEW_POSTS: &str = "subscription { onCreatePost { content } }";

async fn sign_in(server: &TestServer, name: &str) -> (SignedInUser, String) {
    let email = format!("{name}@example.org").parse().unwrap();
    let signed_in = server.accounts().login(&email, &Secret::new(PASSWORD), None).await.unwrap();
    let token = server.token(&signed_in).await;
    (signed_in, token)
}

async fn staff(server: &TestServer, name: &str, role: Role) -> Caller {
    let user = server.registered(name).await;
    server.accounts().grant(&user.user.nickname, role).await.unwrap();
    sign_in(server, name).await.0.caller
}

async fn post(server: &TestServer, token: &str, content: &str, visibility: &str) {
    let create = "mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }";
    let input = json!({ "content": content, "contentType": "text", "visibility": visibility });
    let (_, made) = server.ask_with(Some(token), create, json!({ "input": input })).await;
    assert!(made["data"]["createPost"]["id"].is_string(), "{made}");
}

/// The content of the next event, and what else the message says.
async fn next_post(socket: &mut WebSocketClient) -> (Value, Value) {
    let mut message = socket.next_message_of("posts").await;
    (message["payload"]["data"]["onCreatePost"]["content"].take(), message)
}

/// The reason for which the server closes the connection.
async fn close_reason(socket: &mut WebSocketClient) -> (u16, String) {
    loop {
        if let Message::Close(frame) = socket.next().await {
            let frame = frame.unwrap();
            return (frame.code.into(), frame.reason.to_string());
        }
    }
}

fn signed_out() -> (u16, String) {
    (4403, "you were signed out, or the API key was revoked; sign in again".into())
}

/// Idle connections, too; those of other sessions stay.
#[tokio::test]
async fn a_connection_ends_with_its_session() {
    let server = TestServer::fresh().await;
    let first = server.sign_up("ana").await;
    let second = sign_in(&server, "ana").await.1;
    let mut idle = WebSocketClient::connect_as(&server, &first).await;
    let mut subscribed = WebSocketClient::connect_as(&server, &first).await;
    subscribed.send_message(&subscribe("1", "subscription { onNotification { id } }")).await;
    let mut other = WebSocketClient::connect_as(&server, &second).await;
    server.ask(Some(&first), "mutation { logout }").await;
    assert_eq!(close_reason(&mut idle).await, signed_out());
    assert_eq!(close_reason(&mut subscribed).await, signed_out());
    other.send_message(&subscribe("2", "{ me { nickname } }")).await;
    assert_eq!(other.next_message_of("2").await["payload"]["data"]["me"]["nickname"], "ana");
    server.stop().await;
}

#[tokio::test]
async fn a_new_password_closes_the_connections_of_other_sessions_and_keys() {
    let server = TestServer::fresh().await;
    let here = server.registered("ana").await;
    let scopes = [String::from("read")];
    let made = server.accounts().create_key(&here.caller, "robot", &scopes, None).await.unwrap();
    let (here, elsewhere) = (server.token(&here).await, sign_in(&server, "ana").await.1);
    let mut mine = WebSocketClient::connect_as(&server, &here).await;
    let mut theirs = WebSocketClient::connect_as(&server, &elsewhere).await;
    let mut robots = WebSocketClient::connect_as(&server, made.secret.expose()).await;
    let change = "mutation ($old: String!) {
        changePassword(current: $old, next: \"another battery staple\") }";
    let (_, changed) = server.ask_with(Some(&here), change, json!({ "old": PASSWORD })).await;
    assert_eq!(changed["data"]["changePassword"], true, "{changed}");
    assert_eq!(close_reason(&mut theirs).await, signed_out());
    assert_eq!(close_reason(&mut robots).await, signed_out());
    mine.send_message(&subscribe("1", "{ me { nickname } }")).await;
    assert_eq!(mine.next_message_of("1").await["payload"]["data"]["me"]["nickname"], "ana");
    server.stop().await;
}

#[tokio::test]
async fn the_connection_of_a_revoked_key_is_closed() {
    let server = TestServer::fresh().await;
    let ana = server.registered("ana").await;
    let (accounts, scopes) = (server.accounts(), [String::from("read")]);
    let one = accounts.create_key(&ana.caller, "one", &scopes, None).await.unwrap();
    let two = accounts.create_key(&ana.caller, "two", &scopes, None).await.unwrap();
    let mut revoked = WebSocketClient::connect_as(&server, one.secret.expose()).await;
    let mut other = WebSocketClient::connect_as(&server, two.secret.expose()).await;
    accounts.revoke_key(&ana.caller, &one.key.id, None).await.unwrap();
    assert_eq!(close_reason(&mut revoked).await, signed_out());
    other.send_message(&subscribe("1", "{ me { nickname } }")).await;
    assert_eq!(other.next_message_of("1").await["payload"]["data"]["me"]["nickname"], "ana");
    server.stop().await;
}

#[tokio::test]
async fn an_event_stream_ends_with_its_session() {
    let server = TestServer::fresh().await;
    let token = server.sign_up("ana").await;
    let open = async || -> Response {
        let post = server.client.post(format!("{}/graphql", server.url)).bearer_auth(&token);
        let post = post.header("accept", "text/event-stream");
        post.json(&json!({ "query": NEW_POSTS })).send().await.unwrap()
    };
    let response = open().await;
    server.ask(Some(&token), "mutation { logout }").await;
    assert_eq!(response.text().await.unwrap(), "", "so that the client reconnects, in vain");
    assert_eq!(open().await.status(), reqwest::StatusCode::UNAUTHORIZED);
    server.stop().await;
}

/// A client that cannot be checked is not signed out: it reconnects with the same token.
#[tokio::test]
async fn a_store_that_fails_signs_nobody_out() {
    let (store, data) = (Store::start().await, tempfile::tempdir().unwrap());
    let gatekeeper = Gatekeeper::before(&store).await;
    let all = on_dynamodb(&data, &gatekeeper.url);
    let server = TestServer::start(all, Arc::new(SystemClock)).await;
    let token = server.sign_up("ana").await;
    let mut socket = WebSocketClient::connect_as(&server, &token).await;
    gatekeeper.deny(Some("GetItem"));
    socket.send_message(&subscribe("1", NEW_POSTS)).await;
    let unchecked = "your credential cannot be checked at the moment; reconnect";
    assert_eq!(close_reason(&mut socket).await, (1013, unchecked.into()));
    gatekeeper.deny(None);
    WebSocketClient::connect_as(&server, &token).await;
    server.stop().await;
}

/// What only moderators see is sent as long as the subscriber is one.
#[tokio::test]
async fn a_dismissed_moderator_receives_what_a_user_does() {
    let server = TestServer::fresh().await;
    let ada = staff(&server, "ada", Role::Admin).await;
    let mo = staff(&server, "mo", Role::Moderator).await;
    let (ana, mos) = (server.sign_up("ana").await, sign_in(&server, "mo").await.1);
    let mut socket = WebSocketClient::connect_as(&server, &mos).await;
    socket.send_message(&subscribe("posts", NEW_POSTS)).await;
    server.until("roundtable_live_topics", 1).await;
    post(&server, &ana, "a first secret", "private").await;
    assert_eq!(next_post(&mut socket).await.0, "a first secret");
    let roles = [Role::User];
    server.accounts().set_roles(&ada, &mo.user_id, &roles, None).await.unwrap();
    post(&server, &ana, "a secret", "private").await;
    post(&server, &ana, "for all", "public").await;
    assert_eq!(next_post(&mut socket).await.0, "for all");
    server.stop().await;
}

#[tokio::test]
async fn a_subscription_of_a_suspended_account_ends_at_the_next_event() {
    let server = TestServer::fresh().await;
    let mo = staff(&server, "mo", Role::Moderator).await;
    let (ana, bo) = (server.sign_up("ana").await, server.registered("bo").await);
    let mut socket = WebSocketClient::connect_as(&server, &server.token(&bo).await).await;
    socket.send_message(&subscribe("posts", NEW_POSTS)).await;
    server.until("roundtable_live_topics", 1).await;
    server.accounts().suspend(&mo, &bo.user.id, "rude", None).await.unwrap();
    post(&server, &ana, "for all", "public").await;
    let (content, message) = next_post(&mut socket).await;
    assert_eq!(content, Value::Null);
    assert_eq!(message["payload"]["errors"][0]["errorType"], "FORBIDDEN", "{message}");
    server.stop().await;
}

/// On DynamoDB, the connections of a process look every four seconds, and every event looks before it is
/// sent.
#[tokio::test]
async fn signing_out_of_one_process_closes_the_connections_of_another() {
    let (store, data) = (Store::start().await, tempfile::tempdir().unwrap());
    let (one, two) = store.two_processes(data.path()).await;
    let (ana, bo) = (one.sign_up("ana").await, one.sign_up("bo").await);
    let mut idle = WebSocketClient::connect_as(&two, &bo).await;
    let mut subscribed = WebSocketClient::connect_as(&two, &bo).await;
    subscribed.send_message(&subscribe("posts", NEW_POSTS)).await;
    two.until("roundtable_live_topics", 1).await;
    one.ask(Some(&bo), "mutation { logout }").await;
    let started = std::time::Instant::now();
    post(&one, &ana, "for all", "public").await;
    post(&two, &ana, "for all", "public").await;
    loop {
        match subscribed.next().await {
            Message::Close(frame) => break assert_eq!(u16::from(frame.unwrap().code), 4403),
            message => assert!(!message.to_string().contains("for all"), "{message}"),
        }
    }
    assert_eq!(close_reason(&mut idle).await, signed_out());
    let waited = started.elapsed();
    assert!(waited.as_secs() < 20, "{waited:?}: five seconds, and what a busy machine adds");
    one.stop().await;
    two.stop().await;
}
