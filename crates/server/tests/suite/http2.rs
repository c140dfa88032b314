//! Clients that speak HTTP/2: their windows decide what the server may send, and it drops what they
//! leave unread.

use std::time::Duration;

use axum::http::{Request, Response};
use bytes::Bytes;
use h2::RecvStream;
use h2::client::SendRequest;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::test_server::{TestServer, aliases, code};

pub(crate) const DEADLINE: Duration = Duration::from_secs(30);
pub(crate) const UNREAD: &str = "roundtable_graphql_unread_answer_bytes";
const UNFINISHED: &str = "roundtable_http_unfinished_request_bytes";
pub(crate) const GRAPHQL_JSON: &str = "application/graphql-response+json";
const EVENTS: &str = "text/event-stream";
/// The window of a client that reads.
const OPEN: u32 = 65_535;

pub(crate) struct Http2Client {
    pub(crate) requests: SendRequest<Bytes>,
    /// Ends with the connection.
    pub(crate) connection: JoinHandle<Result<(), h2::Error>>,
    url: String,
    token: Option<String>,
}

impl Http2Client {
    /// Connects with a window for each response. A client with the window 0 answers pings and takes
    /// nothing.
    pub(crate) async fn connect(server: &TestServer, token: Option<&str>, window: u32) -> Self {
        let address = server.url.trim_start_matches("http://");
        let stream = TcpStream::connect(address).await.unwrap();
        let mut builder = h2::client::Builder::new();
        let (requests, connection) =
            builder.initial_window_size(window).handshake(stream).await.unwrap();
        let connection = tokio::spawn(connection);
        let (url, token) = (format!("{}/graphql", server.url), token.map(String::from));
        Self { requests, connection, url, token }
    }

    async fn post(&mut self, accept: &str, body: &Value) -> Response<RecvStream> {
        let mut request = Request::post(&self.url)
            .header("accept", accept)
            .header("content-type", "application/json");
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut requests = self.requests.clone().ready().await.unwrap();
        let (response, mut stream) =
            requests.send_request(request.body(()).unwrap(), false).unwrap();
        stream.send_data(Bytes::from(body.to_string()), true).unwrap();
        response.await.unwrap()
    }

    async fn ask(&mut self, body: &Value) -> Value {
        read(self.post(GRAPHQL_JSON, body).await).await
    }
}

async fn read(response: Response<RecvStream>) -> Value {
    let (mut body, mut all) = (response.into_body(), Vec::new());
    while let Some(chunk) = body.data().await {
        let chunk = chunk.unwrap();
        body.flow_control().release_capacity(chunk.len()).unwrap();
        all.extend_from_slice(&chunk);
    }
    serde_json::from_slice(&all).unwrap()
}

/// Creates ten posts of 10 KB, and returns a query that repeats their texts.
pub(crate) async fn query_of_posts(server: &TestServer, token: &str, times: usize) -> Value {
    let create = "mutation ($text: String!) { createPost(input: { content: $text, contentType: text }) { id } }";
    for _ in 0..10 {
        let text = json!({ "text": "x".repeat(10_000) });
        let created = server.ask_with(Some(token), create, text).await.1;
        assert!(created["errors"].is_null(), "{created}");
    }
    let id = server.ask(Some(token), "{ me { id } }").await.1["data"]["me"]["id"].to_string();
    let texts = aliases("content", times);
    json!({ "query": format!("{{ listUserPosts(userId: {id}, first: 10) {{ items {{ {texts} }} }} }}") })
}

#[tokio::test]
async fn an_answer_of_many_chunks_arrives_whole() {
    let server = TestServer::fresh().await;
    let token = server.sign_up("ana").await;
    let query = query_of_posts(&server, &token, 20).await;
    let mut client = Http2Client::connect(&server, None, OPEN).await;
    let expected = client.ask(&query).await;
    assert_eq!(expected["data"]["listUserPosts"]["items"][9]["a19"], "x".repeat(10_000));
    let response = client.post(GRAPHQL_JSON, &query).await;
    let length = response.headers()["content-length"].to_str().unwrap().parse::<usize>().unwrap();
    assert!(length > 2_000_000);
    assert!(read(response).await == expected);
    let batch = client.ask(&json!([query, query, query])).await;
    assert!(batch == json!([expected, expected, expected]));
    server.until(UNREAD, 0).await;
    server.stop().await;
}

/// The connection is all that frees what hyper has buffered.
#[tokio::test]
async fn a_client_that_takes_nothing_of_an_answer_is_disconnected() {
    let server = TestServer::with(|all| all.process.live.slow_seconds = 1).await;
    let token = server.sign_up("ana").await;
    let long = query_of_posts(&server, &token, 20).await;
    let short = json!({ "query": "{ __typename }" });
    let cases = [
        (0, GRAPHQL_JSON, short.clone()),
        (1, GRAPHQL_JSON, short.clone()),
        (0, GRAPHQL_JSON, long.clone()),
        (1, GRAPHQL_JSON, long.clone()),
        (0, GRAPHQL_JSON, json!([short, long, short])),
        (0, EVENTS, short.clone()),
        (1, EVENTS, long.clone()),
    ];
    let given_up = cases.map(async |(window, accept, body)| {
        let mut client = Http2Client::connect(&server, None, window).await;
        let _unread = client.post(accept, &body).await;
        let ended = tokio::time::timeout(DEADLINE, client.connection).await;
        assert!(ended.is_ok(), "{accept} with a window of {window} was kept");
    });
    futures::future::join_all(given_up).await;
    server.until(UNREAD, 0).await;
    server.stop().await;
}

/// A client is not blamed for answers that others leave unread.
#[tokio::test]
async fn a_full_server_says_so_and_when_to_retry() {
    let server = TestServer::with(|all| {
        all.process.graphql.answer_bytes_max = 120_000;
        all.process.graphql.answers_bytes_max = 800_000;
        all.process.live.slow_seconds = 60;
    });
    let server = server.await;
    let ana = server.sign_up("ana").await;
    let query = query_of_posts(&server, &ana, 1).await;
    // With one more, the accounts of this network have as many long answers as they may.
    let bo = server.sign_up("bo").await;
    let mut bo = Http2Client::connect(&server, Some(&bo), 0).await;
    let held = bo.post(GRAPHQL_JSON, &query).await;
    assert_eq!(held.status(), 200);
    // It has an answer unread itself.
    let mut own = Http2Client::connect(&server, Some(&ana), 0).await;
    let unread = own.post(GRAPHQL_JSON, &query).await;
    let mut reader = Http2Client::connect(&server, Some(&ana), OPEN).await;
    let refused = reader.ask(&query).await;
    assert_eq!((code(&refused), &refused["data"]), ("RATE_LIMITED", &Value::Null));
    assert!(refused.to_string().contains("have not been read yet"), "{refused}");

    let eve = server.sign_up("eve").await;
    let mut eve = Http2Client::connect(&server, Some(&eve), OPEN).await;
    let response = eve.post(GRAPHQL_JSON, &query).await;
    assert_eq!(
        (response.status().as_u16(), &response.headers()["retry-after"]),
        (503, &"1".parse().unwrap())
    );
    let refused = read(response).await;
    assert_eq!((code(&refused), refused.get("data")), ("RATE_LIMITED", None));
    assert!(refused.to_string().contains("the server has no room"), "{refused}");
    let response = eve.post("application/json", &query).await;
    assert_eq!(
        (response.status().as_u16(), &response.headers()["retry-after"]),
        (200, &"1".parse().unwrap())
    );
    // Short ones have room, and anonymous clients have another share: they may be about to sign in.
    assert!(eve.ask(&json!({ "query": "{ __typename }" })).await["errors"].is_null());
    let mut anonymous = Http2Client::connect(&server, None, OPEN).await;
    assert!(anonymous.ask(&query).await["errors"].is_null());
    drop((bo, held, own, unread));
    server.until(UNREAD, 0).await;
    assert!(eve.ask(&query).await["errors"].is_null());
    server.stop().await;
}

/// Streams with a window of zero once held 4 GB.
#[tokio::test]
async fn streams_that_take_nothing_hold_no_more_than_a_share() {
    const STREAMS: usize = 8;
    let server = TestServer::with(|all| {
        all.process.graphql.answer_bytes_max = 120_000;
        all.process.graphql.answers_bytes_max = 480_000;
        all.process.live.slow_seconds = 4;
    });
    let server = server.await;
    let ana = server.sign_up("ana").await;
    let query = query_of_posts(&server, &ana, 1).await;
    let mut clients = Vec::new();
    for _ in 0..2 {
        clients.push(Http2Client::connect(&server, None, 0).await);
    }
    let asking = clients.iter_mut().map(async |client| {
        let mut unread = Vec::new();
        for _ in 0..STREAMS {
            unread.push(client.post(GRAPHQL_JSON, &query).await);
        }
        unread
    });
    let unread = futures::future::join_all(asking).await;
    let held = server.metric(UNREAD).await;
    assert!((100_000..=120_000).contains(&held), "{held}");
    for client in clients {
        assert!(tokio::time::timeout(DEADLINE, client.connection).await.is_ok());
    }
    drop(unread);
    server.until(UNREAD, 0).await;
    server.stop().await;
}

#[tokio::test]
async fn a_head_over_http2_has_32_kib_in_total() {
    let server = TestServer::fresh().await;
    let client = Http2Client::connect(&server, None, OPEN).await;
    for (bytes, expected) in [(20_000, 200), (40_000, 431)] {
        let mut request = Request::get(format!("{}/healthz", server.url));
        for number in 0..bytes / 1_000 {
            request = request.header(format!("x-{number}"), "v".repeat(1_000));
        }
        let mut requests = client.requests.clone().ready().await.unwrap();
        let (response, _) = requests.send_request(request.body(()).unwrap(), true).unwrap();
        assert_eq!(response.await.unwrap().status().as_u16(), expected, "{bytes}");
    }
    server.stop().await;
}

/// Such a body may fill its window before the server asks for it.
#[tokio::test]
async fn bodies_that_do_not_arrive_have_a_budget() {
    let server = TestServer::with(|all| all.process.http.unfinished_bytes_max = 1 << 20).await;
    let start = async |client: &Http2Client, length: Option<&str>| {
        let mut request = Request::post(&client.url).header("content-type", "application/json");
        if let Some(length) = length {
            request = request.header("content-length", length);
        }
        let mut requests = client.requests.clone().ready().await.unwrap();
        requests.send_request(request.body(()).unwrap(), false).unwrap()
    };
    let mut clients = Vec::new();
    for _ in 0..3 {
        clients.push(Http2Client::connect(&server, None, OPEN).await);
    }
    // Two have the share of this network.
    let held = [start(&clients[0], None).await, start(&clients[1], None).await];
    let both_held = async { while server.metric(UNFINISHED).await < 2 * (120 << 10) {} };
    tokio::time::timeout(DEADLINE, both_held).await.unwrap();
    let (refused, _stream) = start(&clients[2], None).await;
    assert_eq!(refused.await.unwrap().status().as_u16(), 503);
    let (response, mut stream) = start(&clients[2], Some("25")).await;
    stream.send_data(Bytes::from_static(br#"{"query":"{ me { id } }"}"#), true).unwrap();
    assert_eq!(response.await.unwrap().status().as_u16(), 200);
    drop((held, clients));
    server.until(UNFINISHED, 0).await;
    server.stop().await;
}

/// Answering the server's pings alone does not keep a connection open.
#[tokio::test]
async fn a_connection_without_requests_is_closed() {
    let server = TestServer::with(|all| all.process.http.idle_seconds = 1).await;
    let token = server.sign_up("ana").await;
    let mut listening = Http2Client::connect(&server, Some(&token), OPEN).await;
    let query = json!({ "query": "subscription { onNotification { id } }" });
    let events = listening.post(EVENTS, &query).await;
    let idle = Http2Client::connect(&server, None, OPEN).await;
    let mut asked = Http2Client::connect(&server, None, OPEN).await;
    asked.ask(&json!({ "query": "{ __typename }" })).await;
    for client in [idle, asked] {
        assert!(tokio::time::timeout(DEADLINE, client.connection).await.is_ok());
    }
    assert_eq!(events.status().as_u16(), 200);
    assert!(!listening.connection.is_finished(), "a subscription runs on it");
    assert_eq!(
        listening.ask(&json!({ "query": "{ __typename }" })).await["data"]["__typename"],
        "Query"
    );
    drop((listening, events));
    server.stop().await;
}
