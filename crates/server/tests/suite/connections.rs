//! Limits of connections: idle and half-finished ones are cheap, and neither strangers nor a few accounts take
//! the places of other signed-in clients.

use std::time::{Duration, Instant};

use futures::SinkExt as _;
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::MaybeTlsStream;
use tokio_tungstenite::tungstenite::Message;

use crate::http2::query_of_posts;
use crate::test_server::{TestServer, code};
use crate::websocket_client::{WebSocketClient, subscribe};

const DEADLINE: Duration = Duration::from_secs(30);
const UNFINISHED: &str = "roundtable_http_unfinished_request_bytes";
const REFUSED: &str = "roundtable_http_unfinished_requests_refused_total";

/// One HTTP/1 connection.
struct KeptConnection(BufReader<TcpStream>);

impl KeptConnection {
    async fn open(server: &TestServer) -> Self {
        let address = server.url.strip_prefix("http://").unwrap();
        Self(BufReader::new(TcpStream::connect(address).await.unwrap()))
    }

    async fn signed_in(server: &TestServer, token: &str) -> Self {
        let mut client = Self::open(server).await;
        assert_eq!(client.me(token).await, "ana");
        client
    }

    /// Sends bytes, which may be half a request. The server may have hung up.
    async fn send(&mut self, bytes: &[u8]) {
        let _ = self.0.get_mut().write_all(bytes).await;
    }

    /// The status and the body of the next response, `None` if the server hung up.
    async fn response(&mut self) -> Option<(u16, String)> {
        let read = async {
            let (mut status, mut length) = (0, 0);
            loop {
                let mut line = String::new();
                if self.0.read_line(&mut line).await.unwrap_or(0) == 0 {
                    return None;
                }
                let line = line.trim_end().to_ascii_lowercase();
                if let Some(text) = line.strip_prefix("http/1.1 ") {
                    status = text[..3].parse().unwrap();
                } else if let Some(bytes) = line.strip_prefix("content-length: ") {
                    length = bytes.parse().unwrap();
                } else if line.is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            self.0.read_exact(&mut body).await.ok()?;
            Some((status, String::from_utf8(body).unwrap()))
        };
        timeout(DEADLINE, read)
            .await
            .unwrap_or_else(|_| panic!("the server neither answered nor hung up"))
    }

    async fn hung_up(&mut self) -> bool {
        self.response().await.is_none()
    }

    async fn get(&mut self, path: &str) -> Option<(u16, String)> {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await;
        self.response().await
    }

    async fn me(&mut self, token: &str) -> String {
        let body = r#"{"query":"{ me { nickname } }"}"#;
        let head = format!(
            "POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.send(head.as_bytes()).await;
        let response = self.response().await;
        let (_, answer) = response.unwrap_or_else(|| panic!("a signed-in client was disconnected"));
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer["data"]["me"]["nickname"].as_str().unwrap_or_default().to_owned()
    }
}

#[tokio::test]
async fn a_head_has_32_kib_in_total() {
    let server = TestServer::fresh().await;
    let head = |bytes: usize| {
        let lines: Vec<_> =
            (0..bytes / 1_000).map(|n| format!("x-{n:03}: {:993}\r\n", "v")).collect();
        let lines = lines.concat();
        format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{lines}\r\n")
    };
    for (bytes, expected) in [(20_000, 200), (40_000, 431)] {
        let mut client = KeptConnection::open(&server).await;
        client.send(head(bytes).as_bytes()).await;
        assert_eq!(client.response().await.unwrap().0, expected, "{bytes}");
    }
    server.stop().await;
}

/// The server has nothing left to do for an answer long before its client has read it. Such a connection
/// once counted as idle, and was closed in the middle of the answer.
#[tokio::test]
async fn a_connection_is_not_idle_while_a_long_answer_is_sent() {
    let server = TestServer::with(|all| {
        all.process.http.idle_seconds = 1;
        // The system makes room for more only when a client has read a good part of megabytes.
        all.process.live.slow_seconds = 10;
    });
    let server = server.await;
    let token = server.sign_up("ana").await;
    let query = query_of_posts(&server, &token, 40).await.to_string();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(8 << 10).unwrap();
    let address = server.url.strip_prefix("http://").unwrap().parse().unwrap();
    let mut client = socket.connect(address).await.unwrap();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{query}",
        query.len()
    );
    client.write_all(head.as_bytes()).await.unwrap();
    let (mut answer, mut part) = (Vec::new(), vec![0; 8 << 10]);
    // A client that reads slowly, and never stops: for longer than an idle connection is kept.
    let began = Instant::now();
    loop {
        match client.read(&mut part).await.unwrap() {
            0 => break,
            read => answer.extend_from_slice(&part[..read]),
        }
        tokio::time::sleep(Duration::from_millis(8)).await;
    }
    assert!(began.elapsed() > Duration::from_secs(3), "it read too fast to show anything");
    let body = answer.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
    let answer: Value = serde_json::from_slice(&answer[body..]).unwrap();
    assert_eq!(answer["data"]["listUserPosts"]["items"][9]["a39"], "x".repeat(10_000));
    server.stop().await;
}

/// A browser shows a response to its client only with these headers.
#[tokio::test]
async fn browsers_can_read_that_there_is_no_room_for_a_request() {
    let origin = "https://app.example.org";
    let server = TestServer::with(|all| {
        all.process.http.cors_origins = vec![origin.to_owned()];
        all.process.http.unfinished_bytes_max = 0;
    });
    let server = server.await;
    // Within what a connection has without a charge as it is sent, and beyond as it is counted.
    let mut request = server.client.get(format!("{}/healthz", server.url)).header("origin", origin);
    for nth in 0..90 {
        request = request.header(format!("x-{nth:02}"), "v".repeat(65));
    }
    let response = request.send().await.unwrap();
    assert_eq!(response.status().as_u16(), 503);
    let headers = response.headers().clone();
    let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap());
    assert_eq!(header("access-control-allow-origin"), Some(origin));
    assert_eq!(header("retry-after"), Some("1"));
    let exposed = header("access-control-expose-headers").unwrap();
    assert!(exposed.split(',').any(|name| name.trim() == "retry-after"), "{exposed}");
    assert!(header("x-request-id").is_some());
    let body = response.text().await.unwrap();
    assert!(body.contains("receiving too much") && body.contains("RATE_LIMITED"), "{body}");
    server.stop().await;
}

/// 2,000 heads of 400 KB once held 1.1 GB.
#[tokio::test]
async fn half_sent_heads_have_a_budget() {
    const SHARE: u64 = 100_000;
    let server = TestServer::with(|all| {
        all.process.http.unfinished_bytes_max = 4 * usize::try_from(SHARE).unwrap();
    });
    let server = server.await;
    let half = format!("GET /healthz HTTP/1.1\r\nhost: x\r\nx: {}", "v".repeat(30_000));
    // A connection has 8 KiB without a charge.
    let charge = half.len() as u64 - (8 << 10);
    let mut clients = Vec::new();
    for nth in 1..=12 {
        let mut client = KeptConnection::open(&server).await;
        client.send(half.as_bytes()).await;
        clients.push(client);
        // Four have room.
        match nth {
            1..=4 => server.until(UNFINISHED, nth * charge).await,
            _ => server.until(REFUSED, nth - 4).await,
        }
        assert!(server.metric(UNFINISHED).await <= SHARE);
    }
    for client in &mut clients {
        client.send(b"\r\n\r\n").await;
    }
    let answered = join_all(clients.iter_mut().map(KeptConnection::response)).await;
    assert_eq!(answered.iter().flatten().count(), 4);
    server.until(UNFINISHED, 0).await;
    server.stop().await;
}

#[tokio::test]
async fn half_a_message_on_a_websocket_is_counted() {
    let server = TestServer::fresh().await;
    let mut socket = WebSocketClient::open(&server).await;
    let text = format!("{:40000}", json!({ "type": "connection_init" }).to_string());
    let length = u16::try_from(text.len()).unwrap().to_be_bytes();
    // A masked text; the mask is zero.
    let frame = [&[0x81, 0xFE][..], &length, &[0; 4], text.as_bytes()].concat();
    let (first, rest) = frame.split_at(30_000);
    let MaybeTlsStream::Plain(stream) = socket.0.get_mut() else { panic!("it is not encrypted") };
    stream.write_all(first).await.unwrap();
    server.until(UNFINISHED, 30_000 - (8 << 10)).await;
    let MaybeTlsStream::Plain(stream) = socket.0.get_mut() else { panic!("it is not encrypted") };
    stream.write_all(rest).await.unwrap();
    assert_eq!(socket.next_message().await, json!({ "type": "connection_ack" }));
    server.until(UNFINISHED, 0).await;
    server.stop().await;
}

/// Behind a proxy, so that the connections have no network.
#[tokio::test]
async fn idle_strangers_make_room_for_signed_in_clients() {
    let server = TestServer::with(|all| {
        all.process.http.connections_max = 8;
        all.process.http.proxies = 1;
    });
    let server = server.await;
    let token = server.sign_up("ana").await;
    let mut ana = KeptConnection::signed_in(&server, &token).await;
    let mut strangers = Vec::new();
    for _ in 0..30 {
        let mut stranger = KeptConnection::open(&server).await;
        stranger.send(b"GET /healthz HTTP/1.1\r\n").await;
        strangers.push(stranger);
    }
    let hung_up = join_all(strangers.iter_mut().take(23).map(KeptConnection::hung_up)).await;
    assert_eq!(hung_up, [true; 23], "the oldest leave");
    assert_eq!(ana.me(&token).await, "ana");
    let mut elsewhere = KeptConnection::signed_in(&server, &token).await;
    let displaced = "roundtable_http_connections_dropped_total{reason=\"displaced\"} 24\n";
    let counted =
        async { while !elsewhere.get("/metrics").await.unwrap().1.contains(displaced) {} };
    assert!(timeout(DEADLINE, counted).await.is_ok());
    drop(strangers);
    server.stop().await;
}

/// 5,000 sockets from one address once shut out everybody, and later 8 accounts of a school all others there.
#[tokio::test]
async fn one_network_has_a_limit_of_anonymous_connections() {
    let server = TestServer::with(|all| all.process.http.network_connections_max = 3).await;
    let token = server.sign_up("ana").await;
    let mut idle = Vec::new();
    for _ in 0..6 {
        idle.push(KeptConnection::open(&server).await);
    }
    let hung_up = join_all(idle.iter_mut().take(3).map(KeptConnection::hung_up)).await;
    assert_eq!(hung_up, [true; 3]);
    let mut kept = Vec::new();
    for _ in 0..5 {
        kept.push(KeptConnection::signed_in(&server, &token).await);
    }
    let mut stranger = KeptConnection::open(&server).await;
    assert_eq!(stranger.get("/healthz").await.unwrap().0, 200, "there is room for anonymous ones");
    for client in &mut kept {
        assert_eq!(client.me(&token).await, "ana", "signed-in clients are kept");
    }
    drop((kept, idle));
    server.stop().await;
}

/// A few accounts once had all connections, for as long as they liked.
#[tokio::test]
async fn an_account_with_many_connections_makes_room_for_others() {
    let server = TestServer::with(|all| all.process.http.connections_max = 8).await;
    let [ana, bo] = [server.sign_up("ana").await, server.sign_up("bo").await];
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(KeptConnection::signed_in(&server, &ana).await);
    }
    let mut other = KeptConnection::open(&server).await;
    assert_eq!(other.me(&bo).await, "bo");
    assert!(held[0].hung_up().await);
    let mut third = KeptConnection::open(&server).await;
    assert_eq!(third.me(&bo).await, "bo");
    assert!(held[1].hung_up().await);
    assert_eq!(other.me(&bo).await, "bo");
    drop(held);
    server.stop().await;
}

/// A WebSocket that is open and anonymous.
async fn anonymous(server: &TestServer) -> WebSocketClient {
    let mut socket = WebSocketClient::open(server).await;
    socket.send_message(&json!({ "type": "connection_init" })).await;
    assert_eq!(socket.next_message().await, json!({ "type": "connection_ack" }));
    socket
}

#[tokio::test]
async fn anonymous_sockets_make_room_for_signed_in_ones() {
    let server = TestServer::with(|all| {
        all.process.live.connections_max = 2;
        all.process.http.proxies = 1;
    });
    let server = server.await;
    let token = server.sign_up("ana").await;
    let mut strangers = [anonymous(&server).await, anonymous(&server).await];
    let _ana = WebSocketClient::connect_as(&server, &token).await;
    assert_eq!(strangers[0].close_code().await, 1013);
    let _elsewhere = WebSocketClient::connect_as(&server, &token).await;
    assert_eq!(strangers[1].close_code().await, 1013);
    server.until("roundtable_live_displaced_connections_total", 2).await;
    server.stop().await;
}

/// Each of them has a subscription, so that none is idle.
#[tokio::test]
async fn an_account_with_many_sockets_makes_room_for_others() {
    let server = TestServer::with(|all| all.process.live.connections_max = 3).await;
    let [ana, bo] = [server.sign_up("ana").await, server.sign_up("bo").await];
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut socket = WebSocketClient::connect_as(&server, &ana).await;
        socket.send_message(&subscribe("1", "subscription { onNotification { id } }")).await;
        held.push(socket);
    }
    let mut other = WebSocketClient::connect_as(&server, &bo).await;
    assert_eq!(held[0].close_code().await, 1013);
    let mut third = WebSocketClient::connect_as(&server, &bo).await;
    assert_eq!(held[1].close_code().await, 1013);
    for socket in [&mut other, &mut third, &mut held[2]] {
        socket.send_message(&json!({ "type": "ping" })).await;
        assert_eq!(socket.next_message().await, json!({ "type": "pong" }));
    }
    server.stop().await;
}

/// Its clients would have the limit of one network together.
#[tokio::test]
async fn a_proxy_that_does_not_report_addresses_is_no_network() {
    let server = TestServer::with(|all| {
        all.process.http.proxies = 1;
        all.process.live.network_connections_max = 1;
    });
    let server = server.await;
    let mut sockets = [anonymous(&server).await, anonymous(&server).await];
    for socket in &mut sockets {
        socket.send_message(&json!({ "type": "ping" })).await;
        assert_eq!(socket.next_message().await, json!({ "type": "pong" }));
    }
    server.stop().await;
}

#[tokio::test]
async fn an_account_has_a_limit_of_live_connections() {
    let server = TestServer::with(|all| all.process.live.account_connections_max = 2).await;
    let token = server.sign_up("ana").await;
    let mut held = Vec::new();
    for _ in 0..2 {
        held.push(WebSocketClient::connect_as(&server, &token).await);
    }
    let mut third = WebSocketClient::open(&server).await;
    let payload = json!({ "authorization": format!("Bearer {token}") });
    third.send_message(&json!({ "type": "connection_init", "payload": payload })).await;
    assert_eq!(third.close_code().await, 1013);
    let events = async || {
        let post = server.client.post(format!("{}/graphql", server.url)).bearer_auth(&token);
        let post = post.header("accept", "text/event-stream");
        post.json(&json!({ "query": "{ me { nickname } }" })).send().await.unwrap()
    };
    let refused = events().await;
    assert_eq!(refused.status().as_u16(), 429);
    assert_eq!(code(&refused.json().await.unwrap()), "RATE_LIMITED");
    let bo = server.sign_up("bo").await;
    WebSocketClient::connect_as(&server, &bo).await;
    drop(held);
    server.until("roundtable_live_connections", 0).await;
    assert_eq!(events().await.status().as_u16(), 200);
    server.stop().await;
}

/// Answering pings alone does not keep a socket open.
#[tokio::test]
async fn a_socket_without_an_operation_is_closed() {
    let server = TestServer::with(|all| {
        all.process.live.idle_seconds = 2;
        all.process.live.keepalive_seconds = 1;
    });
    let server = server.await;
    let token = server.sign_up("ana").await;
    let mut busy = WebSocketClient::connect_as(&server, &token).await;
    busy.send_message(&subscribe("1", "subscription { onNotification { id } }")).await;
    let mut finished = anonymous(&server).await;
    finished.send_message(&subscribe("1", "{ __typename }")).await;
    assert_eq!(finished.next_message_of("1").await["type"], "next");
    let mut signed_in = WebSocketClient::connect_as(&server, &token).await;
    let mut stranger = anonymous(&server).await;
    let closed = async {
        for socket in [&mut stranger, &mut signed_in, &mut finished] {
            assert_eq!(close_code(socket).await, 4408);
        }
    };
    tokio::select! {
        () = closed => {}
        message = busy.next_message() => panic!("{message}"),
    }
    busy.send_message(&json!({ "type": "ping" })).await;
    assert_eq!(busy.next_message().await, json!({ "type": "pong" }));
    server.stop().await;
}

/// The close code of a client that answers pings until then.
async fn close_code(socket: &mut WebSocketClient) -> u16 {
    loop {
        if let Message::Close(frame) = socket.next().await {
            return frame.unwrap().code.into();
        }
        // The server may be closing.
        let _ = socket.0.send(Message::text(json!({ "type": "pong" }).to_string())).await;
    }
}
