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
