//! What one client may take of the server: operations and subscriptions under way, bytes read, and
//! answers that it leaves unread.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::test_server::{TestServer, aliases, code};
use crate::websocket_client::{WebSocketClient, subscribe};

/// The time after which a subscriber is sent another post, and that for which it is tried.
const POLL: Duration = Duration::from_millis(100);
const DEADLINE: Duration = Duration::from_secs(20);
const UNREAD: &str = "roundtable_graphql_unread_answer_bytes";

/// Creates posts with long texts.
async fn long_posts(server: &TestServer, token: &str, count: usize) {
    let create = "mutation ($text: String!) { createPost(input: { content: $text, contentType: text }) { id } }";
    for _ in 0..count {
        let text = json!({ "text": "x".repeat(10_000) });
        let created = server.ask_with(Some(token), create, text).await.1;
        assert!(created["errors"].is_null(), "{created}");
    }
}

#[tokio::test]
async fn a_request_that_reads_too_much_is_stopped() {
    let server = TestServer::with(|all| all.process.graphql.read_bytes_max = 150_000).await;
    let token = server.sign_up("ana").await;
    long_posts(&server, &token, 10).await;
    let once = "{ me { posts(first: 10) { items { id } } } }";
    let answer = server.ask(Some(&token), once).await.1;
    assert!(answer["errors"].is_null(), "{answer}");
    // Each of ten posts asks for its author's ten posts again.
    let often =
        "{ me { posts(first: 10) { items { author { posts(first: 10) { items { id } } } } } } }";
    let answer = server.ask(Some(&token), often).await.1;
    assert_eq!(code(&answer), "TOO_COMPLEX");
    let message = answer["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("150000 bytes"), "{message}");
    server.stop().await;
}

/// What happens while both are under way is a test of the executor: these would not be for certain.
#[tokio::test]
async fn a_request_gives_back_what_it_may_read() {
    let server = TestServer::with(|all| {
        all.process.graphql.read_bytes_max = 150_000;
        all.process.graphql.reads_bytes_max = 150_000;
    })
    .await;
    let token = server.sign_up("ana").await;
    long_posts(&server, &token, 10).await;
    // A hundred thousand bytes each.
    let once = "{ me { posts(first: 10) { items { id } } } }";
    for _ in 0..3 {
        let answer = server.ask(Some(&token), once).await.1;
        assert!(answer["errors"].is_null(), "{answer}");
    }
    server.stop().await;
}

/// Sends a request and reads nothing of its answer but the head.
async fn send_and_do_not_read(server: &TestServer, token: Option<&str>, query: &str) -> TcpStream {
    send_body_and_do_not_read(server, token, &json!({ "query": query }).to_string()).await
}

async fn send_body_and_do_not_read(
    server: &TestServer,
    token: Option<&str>,
    body: &str,
) -> TcpStream {
    let address = server.url.trim_start_matches("http://");
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    // Otherwise the system would take the whole answer.
    socket.set_recv_buffer_size(4 << 10).unwrap();
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let token = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: {address}\r\n{token}content-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
    stream
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answers_gets_no_more_of_them() {
    let server = TestServer::with(|all| {
        let eight_mb = 8 << 20;
        all.process.graphql.answer_bytes_max = eight_mb;
        all.process.graphql.answers_bytes_max = 4 * eight_mb;
    });
    let server = server.await;
    let token = server.sign_up("ana").await;
    long_posts(&server, &token, 20).await;
    let again = aliases("content", 35);
    let long = format!("{{ listUserPosts(userId: \"ana\", first: 20) {{ items {{ {again} }} }} }}");
    let id = server.ask(Some(&token), "{ me { id } }").await.1;
    let long = long.replace("\"ana\"", &id["data"]["me"]["id"].to_string());
    let unread = send_and_do_not_read(&server, None, &long).await;
    // 7 MB wait, of 8 MB that anonymous clients of one network may leave unread.
    let refused = server.ask(None, &long).await.1;
    assert_eq!((code(&refused), refused.get("data")), ("RATE_LIMITED", Some(&Value::Null)));
    // Others, and small answers, are not affected.
    let answer = server.ask(Some(&token), &long).await.1;
    assert!(answer["errors"].is_null());
    assert!(server.ask(None, "{ __typename }").await.1["errors"].is_null());
    drop(unread);
    server.until(UNREAD, 0).await;
    let answer = server.ask(None, &long).await.1;
    assert!(answer["errors"].is_null());
    server.stop().await;
}

#[tokio::test]
async fn a_batch_is_answered_in_order_and_its_answers_are_freed() {
    let server = TestServer::fresh().await;
    let token = server.sign_up("ana").await;
    let requests: Vec<Value> = (0..10)
        .map(|number| match number {
            3 => json!({ "query": "{ nothing }" }),
            _ => json!({ "query": format!("{{ a{number}: __typename me {{ nickname }} }}") }),
        })
        .collect();
    let post = server.client.post(format!("{}/graphql", server.url)).bearer_auth(&token);
    let response = post.json(&requests).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let answers: Vec<Value> = response.json().await.unwrap();
    assert_eq!(answers.len(), 10);
    for (number, answer) in answers.iter().enumerate() {
        if number == 3 {
            assert_eq!(code(answer), "BAD_REQUEST");
        } else {
            assert_eq!(answer["data"][format!("a{number}")], "Query", "{answer}");
        }
    }
    server.until(UNREAD, 0).await;
    server.stop().await;
}

/// A batch whose answers are not read neither keeps permits nor bodies for ever.
#[tokio::test]
async fn a_batch_that_is_not_read_is_given_up() {
    let server = TestServer::with(|all| all.process.live.slow_seconds = 1).await;
    let token = server.sign_up("ana").await;
    long_posts(&server, &token, 10).await;
    let long =
        format!("{{ me {{ posts(first: 10) {{ items {{ {} }} }} }} }}", aliases("content", 45));
    let batch = json!(vec![json!({ "query": long }); 10]).to_string();
    let unread = send_body_and_do_not_read(&server, Some(&token), &batch).await;
    server.until("roundtable_http_request_body_bytes", 0).await;
    server.until(UNREAD, 0).await;
    drop(unread);
    assert!(server.ask(Some(&token), "{ me { nickname } }").await.1["errors"].is_null());
    server.stop().await;
}

/// Parsed values take more memory than their text. They are charged as long as the body is.
#[tokio::test]
async fn the_values_of_a_body_are_charged_to_the_budget() {
    let server = TestServer::fresh().await;
    let token = server.sign_up("ana").await;
    long_posts(&server, &token, 10).await;
    let long =
        format!("{{ me {{ posts(first: 10) {{ items {{ {} }} }} }} }}", aliases("content", 45));
    let batch = json!(vec![json!({ "query": long }); 10]).to_string();
    let unread = send_body_and_do_not_read(&server, Some(&token), &batch).await;
    // A list of ten objects with a text each.
    let charged = batch.len() + (1 + 10 * 2) * 512;
    server.until("roundtable_http_request_body_bytes", charged as u64).await;
    drop(unread);
    server.until("roundtable_http_request_body_bytes", 0).await;
    server.stop().await;
}

#[tokio::test]
async fn an_account_and_a_network_have_limited_subscriptions() {
    let server = TestServer::with(|all| {
        all.process.live.account_subscriptions_max = 2;
        all.process.live.network_subscriptions_max = 3;
    });
    let server = server.await;
    let (ana, bo) = (server.sign_up("ana").await, server.sign_up("bo").await);
    let posts = "subscription { onCreatePost { id } }";
    let mut socket = WebSocketClient::connect_as(&server, &ana).await;
    for id in ["1", "2", "3"] {
        socket.send_message(&subscribe(id, posts)).await;
    }
    let refused = socket.next_message().await;
    assert_eq!((&refused["type"], &refused["id"]), (&json!("error"), &json!("3")));
    assert_eq!(refused["payload"][0]["errorType"], "RATE_LIMITED");
    let message = refused["payload"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("this account has too many subscriptions"), "{message}");

    let mut other = WebSocketClient::connect_as(&server, &bo).await;
    other.send_message(&subscribe("1", posts)).await;
    other.send_message(&subscribe("2", posts)).await;
    let refused = other.next_message().await;
    let message = refused["payload"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("this network has too many subscriptions"), "{message}");

    // An ended subscription makes room.
    socket.send_message(&json!({ "type": "complete", "id": "1" })).await;
    socket.send_message(&json!({ "type": "ping" })).await;
    assert_eq!(socket.next_message().await["type"], "pong");
    // The subscription ends a moment after the message, and until then another is refused. The start of
    // a subscription is not announced either, so there are posts until one arrives.
    let create = r#"mutation { createPost(input: { content: "hi", contentType: text }) { id } }"#;
    let received = async {
        for id in 4.. {
            let id = id.to_string();
            socket.send_message(&subscribe(&id, posts)).await;
            let message = loop {
                server.ask(Some(&bo), create).await;
                let message = tokio::time::timeout(POLL, socket.next_message_of(&id)).await;
                if let Ok(message) = message {
                    break message;
                }
            };
            if message["type"] == "next" {
                return message;
            }
        }
        Value::Null
    };
    let received = tokio::time::timeout(DEADLINE, received).await.unwrap();
    assert!(received["payload"]["data"]["onCreatePost"]["id"].is_string(), "{received}");
    server.stop().await;
}

#[tokio::test]
async fn too_many_requests_of_one_client_are_refused_with_a_hint() {
    let server = TestServer::with(|all| all.process.graphql.network_operations_max = 0).await;
    let post = server.client.post(format!("{}/graphql", server.url));
    let body = json!({ "query": "{ __typename }" });
    let post = post.header("accept", "application/graphql-response+json").json(&body);
    let response = post.send().await.unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()["retry-after"], "1");
    let answer: Value = response.json().await.unwrap();
    assert_eq!((code(&answer), answer.get("data")), ("RATE_LIMITED", None));
    server.stop().await;
}
