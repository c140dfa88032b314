//! Listening: over a WebSocket in the protocol `graphql-transport-ws`, and by server-sent events.

use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::served::{Served, code};

struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    async fn open(served: &Served) -> Self {
        Self::speaking(served, "graphql-transport-ws").await.unwrap()
    }

    async fn speaking(served: &Served, protocol: &str) -> Result<Self, Error> {
        let url = format!("{}/graphql", served.url.replace("http", "ws"));
        let mut request = url.into_client_request()?;
        let protocol = protocol.parse().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", protocol);
        Ok(Self(connect_async(request).await?.0))
    }

    /// Opened by somebody, and greeted.
    async fn by(served: &Served, token: &str) -> Self {
        let mut socket = Self::open(served).await;
        let payload = json!({ "authorization": format!("Bearer {token}") });
        socket.say(&json!({ "type": "connection_init", "payload": payload })).await;
        assert_eq!(socket.hear().await, json!({ "type": "connection_ack" }));
        socket
    }

    async fn say(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    async fn next(&mut self) -> Message {
        let next = tokio::time::timeout(Duration::from_secs(20), self.0.next());
        next.await.unwrap().unwrap().unwrap()
    }

    /// What comes next, but for questions whether somebody is there.
    async fn hear(&mut self) -> Value {
        loop {
            let heard: Value = serde_json::from_str(self.next().await.to_text().unwrap()).unwrap();
            if heard["type"] == "ping" {
                self.say(&json!({ "type": "pong" })).await;
                continue;
            }
            return heard;
        }
    }

    /// Why it was closed.
    async fn closed(&mut self) -> u16 {
        loop {
            match self.next().await {
                Message::Close(frame) => return frame.unwrap().code.into(),
                Message::Text(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

fn subscribe(id: &str, query: &str) -> Value {
    json!({ "type": "subscribe", "id": id, "payload": { "query": query } })
}

#[tokio::test]
async fn questions_can_be_asked_over_a_socket_by_whoever_opened_it() {
    let served = Served::fresh().await;
    let token = served.newcomer("ana").await;
    let mut socket = Socket::by(&served, &token).await;
    socket.say(&subscribe("1", "{ me { nickname } }")).await;
    let told = socket.hear().await;
    let payload = json!({ "data": { "me": { "nickname": "ana" } } });
    assert_eq!(told, json!({ "type": "next", "id": "1", "payload": payload }));
    assert_eq!(socket.hear().await, json!({ "type": "complete", "id": "1" }));
    socket.say(&subscribe("1", "{ nothing }")).await;
    let told = socket.hear().await;
    assert_eq!((&told["type"], &told["id"]), (&json!("error"), &json!("1")));
    assert_eq!(told["payload"][0]["errorType"], "BAD_REQUEST");
    socket.say(&json!({ "type": "ping" })).await;
    assert_eq!(socket.hear().await, json!({ "type": "pong" }));
    served.stop().await;
}

/// R45: a message reaches whoever listens to its room, and whoever was away gets what they missed first.
#[tokio::test]
async fn messages_are_heard_as_they_are_sent_and_after_coming_back() {
    let served = Served::fresh().await;
    let (ana, bo) = (served.newcomer("ana").await, served.signed_up("bo").await);
    let open =
        "mutation ($with: ID!) { createRoom(input: { scope: dm, memberIds: [$with] }) { id } }";
    let with = json!({ "with": bo.user.id.to_string() });
    let (_, opened) = served.ask_with(Some(&ana), open, with).await;
    let room = opened["data"]["createRoom"]["id"].as_str().unwrap_or_else(|| panic!("{opened}"));
    let send = async |text: &str| {
        let send = "mutation ($room: ID!, $text: String!) {
            sendMessage(roomId: $room, text: $text) { id } }";
        let said = served.ask_with(Some(&ana), send, json!({ "room": room, "text": text })).await.1;
        said["data"]["sendMessage"]["id"].as_str().unwrap_or_else(|| panic!("{said}")).to_owned()
    };
    let listening = |after: &str| {
        format!("subscription {{ onSendMessage(roomId: \"{room}\"{after}) {{ id text }} }}")
    };
    let token = served.token(&bo).await;
    let mut socket = Socket::by(&served, &token).await;
    socket.say(&subscribe("room", &listening(""))).await;
    // A question behind it: once it is answered, the other is under way or about to be.
    socket.say(&subscribe("me", "{ me { id } }")).await;
    while socket.hear().await["type"] != "complete" {}
    let (first, mut told) = (send("one").await, Value::Null);
    while told["payload"]["data"]["onSendMessage"]["id"] != json!(first) {
        told = socket.hear().await;
    }
    assert_eq!(told["payload"]["data"]["onSendMessage"]["text"], "one");
    drop(socket);
    send("two").await;
    let mut socket = Socket::by(&served, &token).await;
    let after = format!(", after: \"{first}\"");
    socket.say(&subscribe("room", &listening(&after))).await;
    assert_eq!(socket.hear().await["payload"]["data"]["onSendMessage"]["text"], "two");
    served.stop().await;
}

#[tokio::test]
async fn whoever_does_not_keep_to_the_protocol_is_shown_the_door() {
    let served = Served::with(|all| {
        all.process.live.init_seconds = 1;
        all.process.live.message_bytes_max = 2_000;
    });
    let served = served.await;
    let token = served.newcomer("ana").await;
    assert!(Socket::speaking(&served, "graphql-ws").await.is_err());

    let mut late = Socket::open(&served).await;
    assert_eq!(late.closed().await, 4408);
    let mut early = Socket::open(&served).await;
    early.say(&subscribe("1", "{ me { id } }")).await;
    assert_eq!(early.closed().await, 4401);
    let mut forged = Socket::open(&served).await;
    let payload = json!({ "authorization": "Bearer forged" });
    forged.say(&json!({ "type": "connection_init", "payload": payload })).await;
    assert_eq!(forged.closed().await, 4403);
    for (said, why) in [
        (json!({ "type": "connection_init" }), 4429),
        (json!({ "type": "nonsense" }), 4400),
        (json!([1, 2, 3]), 4400),
        (json!({ "type": "subscribe", "id": "1" }), 4400),
    ] {
        let mut socket = Socket::by(&served, &token).await;
        socket.say(&said).await;
        assert_eq!(socket.closed().await, why, "{said}");
    }
    served.stop().await;
}

#[tokio::test]
async fn a_server_that_stops_says_goodbye() {
    let served = Served::fresh().await;
    let token = served.newcomer("ana").await;
    let mut socket = Socket::by(&served, &token).await;
    let stopping = served.begin_to_stop();
    assert_eq!(socket.closed().await, 1001);
    stopping.await.unwrap();
}

#[tokio::test]
async fn only_so_many_may_listen() {
    let served = Served::with(|all| all.process.live.connections_max = 1).await;
    let token = served.newcomer("ana").await;
    let _first = Socket::by(&served, &token).await;
    match Socket::speaking(&served, "graphql-transport-ws").await {
        Err(Error::Http(answer)) => assert_eq!(answer.status().as_u16(), 429),
        _ => panic!("there is no room for another"),
    }
    served.stop().await;
}

#[tokio::test]
async fn events_come_by_http_too() {
    let served = Served::fresh().await;
    let post = served.client.post(format!("{}/graphql", served.url));
    let post = post.header("accept", "text/event-stream");
    let answer = post.json(&json!({ "query": "{ me { id } }" })).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let text = answer.text().await.unwrap();
    assert_eq!(text, "event: next\ndata: {\"data\":{\"me\":null}}\n\nevent: complete\ndata:\n\n");
    let (_, refused) = served.ask(None, "subscription { onQuestChange { id } }").await;
    assert_eq!(code(&refused), "BAD_REQUEST");
    served.stop().await;
}

/// Whoever never reads costs a few buffers for a while, and slows nobody.
#[tokio::test]
async fn whoever_does_not_read_is_given_up() {
    let served = Served::with(|all| {
        all.process.live.slow_seconds = 1;
        all.process.live.buffer_max = 2;
        all.process.live.message_bytes_max = 1 << 20;
    });
    let served = served.await;
    let token = served.newcomer("ana").await;
    let mut socket = Socket::by(&served, &token).await;
    let long = "{ __schema { types { name fields { name description args { name } } } } }";
    for number in 0.. {
        let asked = subscribe(&number.to_string(), long);
        let sent = socket.0.send(Message::text(asked.to_string()));
        match tokio::time::timeout(Duration::from_secs(20), sent).await.unwrap() {
            Ok(()) => {}
            Err(_) => break,
        }
        assert!(number < 100_000, "nobody was given up");
    }
    let nobody = async {
        let page = async || served.get("/metrics").await.text().await.unwrap();
        while !page().await.contains("roundtable_live_listeners 0") {}
    };
    tokio::time::timeout(Duration::from_secs(20), nobody).await.unwrap();
    served.stop().await;
}
