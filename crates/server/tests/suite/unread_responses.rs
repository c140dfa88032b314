//! Responses over HTTP/2 that their clients do not take: compressed or not, answers or not, and files.

use axum::http::request::Builder;
use axum::http::{Request, Response};
use bytes::Bytes;
use h2::RecvStream;
use serde_json::{Value, json};

use crate::http2::{DEADLINE, GRAPHQL_JSON, Http2Client, UNREAD, query_of_posts};
use crate::test_server::{TestServer, aliases};

const JSON: &str = "application/json";

/// Sends a request, and returns the head of its response.
async fn send(client: &Http2Client, request: Builder, body: &Value) -> Response<RecvStream> {
    let mut requests = client.requests.clone().ready().await.unwrap();
    let request = request.header("accept-encoding", "gzip").body(()).unwrap();
    let (response, mut stream) = requests.send_request(request, body.is_null()).unwrap();
    if !body.is_null() {
        stream.send_data(Bytes::from(body.to_string()), true).unwrap();
    }
    response.await.unwrap()
}

/// A request with a content type and a body.
fn post(server: &TestServer, kind: &str) -> Builder {
    let request = Request::post(format!("{}/graphql", server.url));
    request.header("accept", GRAPHQL_JSON).header("content-type", kind)
}

/// Such a client cost 300 KB for each request that did not even exist, as long as it answered pings.
#[tokio::test]
async fn every_response_that_is_not_taken_closes_its_connection() {
    let server = TestServer::with(|all| {
        all.process.live.slow_seconds = 1;
        all.process.graphql.answer_bytes_max = 250_000;
    });
    let server = server.await;
    let token = server.sign_up("ana").await;
    let short = query_of_posts(&server, &token, 1).await;
    let with_texts = |times: usize| {
        let again = aliases("content", times);
        let query = short["query"].as_str().unwrap().replace("a0: content ", &again);
        json!({ "query": query })
    };
    let get = |path: &str| (Request::get(format!("{}{path}", server.url)), Value::Null);
    let ask = |kind: &str, body: &Value| (post(&server, kind), body.clone());
    let requests = || {
        [
            (404, get("/nothing")),
            (200, get("/metrics")),
            (200, get("/console/console.js")),
            (400, get("/graphql")),
            (415, ask("text/plain", &short)),
            (400, ask(JSON, &json!("no request"))),
            (200, ask(JSON, &json!({ "query": "{ __typename }" }))),
            (200, ask(JSON, &short)),
            (200, ask(JSON, &with_texts(2))),
            // Too long.
            (200, ask(JSON, &with_texts(3))),
        ]
    };
    let each = |window: u32| requests().map(|(status, request)| (window, status, request));
    let given_up = each(0).into_iter().chain(each(1));
    let given_up = given_up.map(async |(window, status, (request, body))| {
        let mut client = Http2Client::connect(&server, None, window).await;
        let what = format!("{:?} {body} with a window of {window}", request.uri_ref());
        let unread = send(&client, request, &body).await;
        assert_eq!(unread.status().as_u16(), status, "{what}");
        let ended = tokio::time::timeout(DEADLINE, &mut client.connection).await;
        assert!(ended.is_ok(), "{what} was kept");
    });
    futures::future::join_all(given_up).await;
    server.until(UNREAD, 0).await;
    server.stop().await;
}

/// It is compressed at once, so that no compressor waits for the client, and what waits is reserved.
#[tokio::test]
async fn a_compressed_answer_is_reserved_until_it_is_taken() {
    let server = TestServer::with(|all| all.process.live.slow_seconds = 60).await;
    let token = server.sign_up("ana").await;
    let query = query_of_posts(&server, &token, 1).await;
    let client = Http2Client::connect(&server, None, 1).await;
    let response = send(&client, post(&server, JSON), &query).await;
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let length = response.headers()["content-length"].to_str().unwrap().parse::<usize>().unwrap();
    assert!(length < 4_000, "{length}");
    let mut body = response.into_body();
    let mut read = body.data().await.unwrap().unwrap().len();
    let unread = server.metric(UNREAD).await;
    assert!(unread > 100_000, "{unread}, although {read} of {length} bytes are read");
    while read < length {
        body.flow_control().release_capacity(1).unwrap();
        read += body.data().await.unwrap().unwrap().len();
    }
    server.until(UNREAD, 0).await;
    server.stop().await;
}

/// They had a deadline, but no budget.
#[tokio::test]
async fn pages_are_reserved_until_they_are_taken() {
    let server = TestServer::with(|all| all.process.live.slow_seconds = 60).await;
    for path in ["/", "/console/console.js", "/metrics"] {
        let client = Http2Client::connect(&server, None, 0).await;
        let request = Request::get(format!("{}{path}", server.url));
        let unread = send(&client, request, &Value::Null).await;
        assert_eq!(unread.status().as_u16(), 200);
        let held = server.metric(UNREAD).await;
        assert!(held > 1_000, "{path}: {held}");
        client.connection.abort();
        drop((client, unread));
        server.until(UNREAD, 0).await;
    }
    server.stop().await;
}
