//! Subscriptions: over WebSocket in the protocol `graphql-transport-ws`, and over server-sent events.

use std::time::Duration;

use futures::SinkExt as _;
use reqwest::StatusCode;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::test_server::{TestServer, aliases, code};
use crate::websocket_client::{WebSocketClient, subscribe};

#[tokio::test]
async fn queries_can_be_sent_over_a_websocket() {
    let server = TestServer::fresh().await;
    let token = server.sign_up("ana").await;
    let mut socket = WebSocketClient::connect_as(&server, &token).await;
    socket.send_message(&subscribe("1", "{ me { nickname } }")).await;
    let message = socket.next_message().await;
    let payload = json!({ "data": { "me": { "nickname": "ana" } } });
    assert_eq!(message, json!({ "type": "next", "id": "1", "payload": payload }));
    assert_eq!(socket.next_message().await, json!({ "type": "complete", "id": "1" }));
    socket.send_message(&subscribe("1", "{ nothing }")).await;
    let message = socket.next_message().await;
    assert_eq!((&message["type"], &message["id"]), (&json!("error"), &json!("1")));
    assert_eq!(message["payload"][0]["errorType"], "BAD_REQUEST");
    socket.send_message(&json!({ "type": "ping" })).await;
    assert_eq!(socket.next_message().await, json!({ "type": "pong" }));
    server.stop().await;
}

/// R45: a message reaches the subscribers of its room, and a reconnecting client first gets what it
/// missed.
#[tokio::test]
async fn messages_arrive_live_and_after_a_reconnect() {
    let server = TestServer::fresh().await;
    let (ana, bo) = (server.sign_up("ana").await, server.registered("bo").await);
    let open =
        "mutation ($with: ID!) { createRoom(input: { scope: dm, memberIds: [$with] }) { id } }";
    let with = json!({ "with": bo.user.id.to_string() });
    let (_, opened) = server.ask_with(Some(&ana), open, with).await;
    let room = opened["data"]["createRoom"]["id"].as_str().unwrap_or_else(|| panic!("{opened}"));
    let send = async |text: &str| {
        let send = "mutation ($room: ID!, $text: String!) {
            sendMessage(roomId: $room, text: $text) { id } }";
        let sent = server.ask_with(Some(&ana), send, json!({ "room": room, "text": text })).await.1;
        sent["data"]["sendMessage"]["id"].as_str().unwrap_or_else(|| panic!("{sent}")).to_owned()
    };
    let listening = |after: &str| {
        let arguments = format!(r#"roomId: "{room}", after: "{after}""#);
        format!("subscription {{ onSendMessage({arguments}) {{ id text }} }}")
    };
    let token = server.token(&bo).await;
    let mut socket = WebSocketClient::connect_as(&server, &token).await;
    // Resumes after a known message, because the start of a subscription is not announced.
    let before = send("nothing").await;
    socket.send_message(&subscribe("room", &listening(&before))).await;
    let first = send("one").await;
    let message = &socket.next_message_of("room").await["payload"]["data"]["onSendMessage"];
    assert_eq!(*message, json!({ "id": first, "text": "one" }));
    drop(socket);
    send("two").await;
    let mut socket = WebSocketClient::connect_as(&server, &token).await;
    socket.send_message(&subscribe("room", &listening(&first))).await;
    assert_eq!(socket.next_message().await["payload"]["data"]["onSendMessage"]["text"], "two");
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_breaks_the_protocol_is_disconnected() {
    let server = TestServer::with(|all| {
        all.process.live.init_seconds = 1;
        all.process.live.message_bytes_max = 2_000;
    });
    let server = server.await;
    let token = server.sign_up("ana").await;
    assert!(WebSocketClient::with_protocol(&server, "graphql-ws").await.is_err());

    let mut late = WebSocketClient::open(&server).await;
    assert_eq!(late.close_code().await, 4408);
    let mut early = WebSocketClient::open(&server).await;
    early.send_message(&subscribe("1", "{ me { id } }")).await;
    assert_eq!(early.close_code().await, 4401);
    let mut forged = WebSocketClient::open(&server).await;
    let payload = json!({ "authorization": "Bearer forged" });
    forged.send_message(&json!({ "type": "connection_init", "payload": payload })).await;
    assert_eq!(forged.close_code().await, 4403);
    for (sent, reason) in [
        (json!({ "type": "connection_init" }), 4429),
        (json!({ "type": "nonsense" }), 4400),
        (json!([1, 2, 3]), 4400),
        (json!({ "type": "subscribe", "id": "1" }), 4400),
    ] {
        let mut socket = WebSocketClient::connect_as(&server, &token).await;
        socket.send_message(&sent).await;
        assert_eq!(socket.close_code().await, reason, "{sent}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_stops_closes_websockets_with_a_reason() {
    let server = TestServer::fresh().await;
    let token = server.sign_up("ana").await;
    let mut socket = WebSocketClient::connect_as(&server, &token).await;
    let stopping = server.trigger_stop();
    assert_eq!(socket.close_code().await, 1001);
    stopping.await.unwrap();
}

#[tokio::test]
async fn live_connections_are_limited() {
    let server = TestServer::with(|all| all.process.live.connections_max = 1).await;
    let token = server.sign_up("ana").await;
    let _first = WebSocketClient::connect_as(&server, &token).await;
    match WebSocketClient::with_protocol(&server, "graphql-transport-ws").await {
        Err(Error::Http(response)) => assert_eq!(response.status().as_u16(), 429),
        _ => panic!("there is no room for another"),
    }
    server.stop().await;
}

#[tokio::test]
async fn events_arrive_over_http_too() {
    let server = TestServer::fresh().await;
    let post = server.client.post(format!("{}/graphql", server.url));
    let post = post.header("accept", "text/event-stream");
    let response = post.json(&json!({ "query": "{ me { id } }" })).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = response.text().await.unwrap();
    assert_eq!(text, "event: next\ndata: {\"data\":{\"me\":null}}\n\nevent: complete\ndata:\n\n");
    let (_, error) = server.ask(None, "subscription { onQuestChange { id } }").await;
    assert_eq!(code(&error), "BAD_REQUEST");
    server.stop().await;
}

#[tokio::test]
async fn a_get_with_events_cannot_mutate_either() {
    let server = TestServer::fresh().await;
    let token = server.sign_up("ana").await;
    let get = async |query: &str| {
        let get = server.client.get(format!("{}/graphql?query={query}", server.url));
        let get = get.bearer_auth(&token).header("accept", "text/event-stream");
        get.send().await.unwrap().text().await.unwrap()
    };
    let error = get("mutation{updateProfile(input:{bio:%22Tea%22}){bio}}").await;
    assert!(error.contains("mutations need a POST"), "{error}");
    assert!(get("{me{nickname}}").await.contains("\"nickname\":\"ana\""));
    server.stop().await;
}

/// The credential of a connection is checked again with every operation.
#[tokio::test]
async fn a_revoked_key_is_refused_on_an_open_connection() {
    let server = TestServer::fresh().await;
    let token = server.sign_up("ana").await;
    let create = "mutation { createApiKey(name: \"robot\", scopes: [\"read\"]) { id secret } }";
    let (_, made) = server.ask(Some(&token), create).await;
    let key = &made["data"]["createApiKey"];
    let mut socket = WebSocketClient::connect_as(&server, key["secret"].as_str().unwrap()).await;
    socket.send_message(&subscribe("1", "{ me { nickname } }")).await;
    assert_eq!(socket.next_message_of("1").await["payload"]["data"]["me"]["nickname"], "ana");
    let revoke = format!("mutation {{ revokeApiKey(id: {}) {{ id }} }}", key["id"]);
    let (_, revoked) = server.ask(Some(&token), &revoke).await;
    assert_eq!(revoked["data"]["revokeApiKey"]["id"], key["id"], "{revoked}");
    socket.send_message(&subscribe("2", "{ me { nickname } }")).await;
    assert_eq!(socket.close_code().await, 4403);
    server.stop().await;
}

/// An API key is valid until it is revoked, and a connection as long as a token would be.
#[tokio::test]
async fn a_subscription_with_an_api_key_must_be_renewed() {
    let server = TestServer::with(|all| all.process.sign_in.token_seconds = 2).await;
    let token = server.sign_up("ana").await;
    let create = "mutation { createApiKey(name: \"robot\", scopes: [\"read\"]) { secret } }";
    let (_, made) = server.ask(Some(&token), create).await;
    let key = made["data"]["createApiKey"]["secret"].as_str().unwrap();
    let mut socket = WebSocketClient::connect_as(&server, key).await;
    assert_eq!(socket.close_code().await, 4403);
    WebSocketClient::connect_as(&server, key).await;
    server.stop().await;
}

/// A client that never reads costs a few buffers for a few seconds, and delays no other client.
#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let server = TestServer::with(short_timeouts).await;
    let token = server.sign_up("ana").await;
    let mut other = WebSocketClient::connect_as(&server, &token).await;
    let mut socket = WebSocketClient::connect_as(&server, &token).await;
    let long = "{ __schema { types { name fields { name description args { name } } } } }";
    for number in 0.. {
        let request = subscribe(&number.to_string(), long);
        let sent = socket.0.send(Message::text(request.to_string()));
        match tokio::time::timeout(Duration::from_secs(20), sent).await.unwrap() {
            Ok(()) => {}
            Err(_) => break,
        }
        assert!(number < 100_000, "the client was not disconnected");
    }
    server.until("roundtable_live_connections", 1).await;
    other.send_message(&subscribe("me", "{ me { nickname } }")).await;
    assert_eq!(other.next_message_of("me").await["payload"]["data"]["me"]["nickname"], "ana");
    server.stop().await;
}

/// Each of its subscriptions is refused, and the refusal waits for the client to read it.
#[tokio::test]
async fn a_client_that_does_not_read_refusals_leaves_few_tasks() {
    const YIELDS: usize = 100;
    let server = TestServer::with(|all| {
        short_timeouts(all);
        all.process.live.subscriptions_max = 5;
    });
    let server = server.await;
    let token = server.sign_up("ana").await;
    let mut socket = WebSocketClient::connect_as(&server, &token).await;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let (before, mut most) = (tasks(), 0);
    let payload = json!({ "extensions": { "persistedQuery": {} } });
    // Refusals repeat the id. Long ones fill the system's buffers.
    let filler = "x".repeat(50_000);
    let sending = async {
        for number in 0.. {
            let id = format!("{number} {filler}");
            let refused = json!({ "type": "subscribe", "id": id, "payload": payload });
            if socket.0.send(Message::text(refused.to_string())).await.is_err() {
                return;
            }
            // One after the other: of those that run at the same time, few are permitted.
            for _ in 0..YIELDS {
                tokio::task::yield_now().await;
            }
            most = most.max(tasks());
        }
    };
    let disconnected = tokio::time::timeout(Duration::from_mins(1), sending).await;
    assert!(disconnected.is_ok(), "the client was not disconnected");
    // Ten of subscriptions, and a few of the connection.
    assert!(most < before + 15, "{before} tasks became {most}");
    server.stop().await;
}

fn short_timeouts(all: &mut roundtable_server::Configuration) {
    all.process.live.slow_seconds = 1;
    all.process.live.buffer_max = 2;
    all.process.live.message_bytes_max = 1 << 20;
}

/// The same over server-sent events: of two subscribers of a room one never reads, and the other
/// receives every message.
#[tokio::test]
async fn an_unread_event_stream_is_dropped_and_others_receive_all() {
    const MESSAGES: usize = 60;
    let server = TestServer::with(short_timeouts).await;
    let (ana, bo) = (server.sign_up("ana").await, server.registered("bo").await);
    let open =
        "mutation ($with: ID!) { createRoom(input: { scope: dm, memberIds: [$with] }) { id } }";
    let with = json!({ "with": bo.user.id.to_string() });
    let (_, opened) = server.ask_with(Some(&ana), open, with).await;
    let room = opened["data"]["createRoom"]["id"].as_str().unwrap_or_else(|| panic!("{opened}"));
    // Long events, because an unread connection must fill the system's buffers.
    let texts = aliases("text", 49);
    let send = "mutation ($room: ID!, $text: String!) {
        sendMessage(roomId: $room, text: $text) { id } }";
    // Resumes after a known message, because the start of a subscription is not announced.
    let sent = json!({ "room": room, "text": "nothing" });
    let before =
        server.ask_with(Some(&ana), send, sent).await.1["data"]["sendMessage"]["id"].take();
    let arguments = format!(r#"roomId: "{room}", after: {before}"#);
    let all = format!("subscription {{ onSendMessage({arguments}) {{ {texts} }} }}");

    let small = tokio::net::TcpSocket::new_v4().unwrap();
    small.set_recv_buffer_size(4096).unwrap();
    let address = server.url.strip_prefix("http://").unwrap().parse().unwrap();
    let mut deaf = small.connect(address).await.unwrap();
    let body = json!({ "query": all }).to_string();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {ana}\r\n\
         accept: text/event-stream\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    deaf.write_all(head.as_bytes()).await.unwrap();
    let token = server.token(&bo).await;
    let mut subscriber = WebSocketClient::connect_as(&server, &token).await;
    let short = format!("subscription {{ onSendMessage({arguments}) {{ text }} }}");
    subscriber.send_message(&subscribe("room", &short)).await;
    server.until("roundtable_live_connections", 2).await;

    let mut first = 0;
    for number in 0..MESSAGES {
        let text = format!("{number} {}", "x".repeat(3_900));
        let sent = json!({ "room": room, "text": text });
        let (_, sent) = server.ask_with(Some(&ana), send, sent).await;
        assert!(sent["data"]["sendMessage"]["id"].is_string(), "{sent}");
        let message = subscriber.next_message_of("room").await;
        let message = message["payload"]["data"]["onSendMessage"]["text"].as_str().unwrap();
        let message: usize = message.split_once(' ').unwrap().0.parse().unwrap();
        assert_eq!(message, number);
        first += 1;
    }
    assert_eq!(first, MESSAGES);
    server.until("roundtable_live_connections", 1).await;
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_stops_ends_event_streams() {
    let server = TestServer::fresh().await;
    let token = server.sign_up("ana").await;
    let post = server.client.post(format!("{}/graphql", server.url)).bearer_auth(&token);
    let post = post.header("accept", "text/event-stream");
    let query = "subscription { onNotification { id } }";
    let response = post.json(&json!({ "query": query })).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let stopping = server.trigger_stop();
    // Without `complete`, so that clients reconnect.
    assert_eq!(response.text().await.unwrap(), "");
    stopping.await.unwrap();
}
