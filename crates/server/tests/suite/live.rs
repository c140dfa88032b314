//! Listening: over a WebSocket in the protocol `graphql-transport-ws`, and by server-sent events.

use std::time::Duration;

use futures::SinkExt as _;
use reqwest::StatusCode;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::served::{Served, aliases, code};
use crate::socket::{Socket, subscribe};

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
        let place = format!(r#"roomId: "{room}", after: "{after}""#);
        format!("subscription {{ onSendMessage({place}) {{ id text }} }}")
    };
    let token = served.token(&bo).await;
    let mut socket = Socket::by(&served, &token).await;
    // From behind a message on: nobody is told when listening has begun.
    let before = send("nothing").await;
    socket.say(&subscribe("room", &listening(&before))).await;
    let first = send("one").await;
    let told = &socket.hear_of("room").await["payload"]["data"]["onSendMessage"];
    assert_eq!(*told, json!({ "id": first, "text": "one" }));
    drop(socket);
    send("two").await;
    let mut socket = Socket::by(&served, &token).await;
    socket.say(&subscribe("room", &listening(&first))).await;
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

#[tokio::test]
async fn a_get_changes_nothing_by_events_either() {
    let served = Served::fresh().await;
    let token = served.newcomer("ana").await;
    let get = async |query: &str| {
        let get = served.client.get(format!("{}/graphql?query={query}", served.url));
        let get = get.bearer_auth(&token).header("accept", "text/event-stream");
        get.send().await.unwrap().text().await.unwrap()
    };
    let refused = get("mutation{updateProfile(input:{bio:%22Tea%22}){bio}}").await;
    assert!(refused.contains("mutations need a POST"), "{refused}");
    assert!(get("{me{nickname}}").await.contains("\"nickname\":\"ana\""));
    served.stop().await;
}

/// What a connection was opened with is looked at again whenever something is asked.
#[tokio::test]
async fn a_key_that_was_revoked_is_worth_nothing_on_an_open_connection() {
    let served = Served::fresh().await;
    let token = served.newcomer("ana").await;
    let create = "mutation { createApiKey(name: \"robot\", scopes: [\"read\"]) { id secret } }";
    let (_, made) = served.ask(Some(&token), create).await;
    let key = &made["data"]["createApiKey"];
    let mut socket = Socket::by(&served, key["secret"].as_str().unwrap()).await;
    socket.say(&subscribe("1", "{ me { nickname } }")).await;
    assert_eq!(socket.hear_of("1").await["payload"]["data"]["me"]["nickname"], "ana");
    let revoke = format!("mutation {{ revokeApiKey(id: {}) {{ id }} }}", key["id"]);
    let (_, revoked) = served.ask(Some(&token), &revoke).await;
    assert_eq!(revoked["data"]["revokeApiKey"]["id"], key["id"], "{revoked}");
    socket.say(&subscribe("2", "{ me { nickname } }")).await;
    assert_eq!(socket.closed().await, 4403);
    served.stop().await;
}

/// A key is good for as long as it is not revoked, and a connection for as long as a token is.
#[tokio::test]
async fn whoever_listens_with_a_key_has_to_come_back() {
    let served = Served::with(|all| all.process.sign_in.token_seconds = 2).await;
    let token = served.newcomer("ana").await;
    let create = "mutation { createApiKey(name: \"robot\", scopes: [\"read\"]) { secret } }";
    let (_, made) = served.ask(Some(&token), create).await;
    let key = made["data"]["createApiKey"]["secret"].as_str().unwrap();
    let mut socket = Socket::by(&served, key).await;
    assert_eq!(socket.closed().await, 4403);
    Socket::by(&served, key).await;
    served.stop().await;
}

/// Whoever never reads costs a few buffers for a while, and slows nobody.
#[tokio::test]
async fn whoever_does_not_read_is_given_up() {
    let served = Served::with(impatient).await;
    let token = served.newcomer("ana").await;
    let mut other = Socket::by(&served, &token).await;
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
    served.until("roundtable_live_listeners", 1).await;
    other.say(&subscribe("me", "{ me { nickname } }")).await;
    assert_eq!(other.hear_of("me").await["payload"]["data"]["me"]["nickname"], "ana");
    served.stop().await;
}

fn impatient(all: &mut roundtable_server::Configuration) {
    all.process.live.slow_seconds = 1;
    all.process.live.buffer_max = 2;
    all.process.live.message_bytes_max = 1 << 20;
}

/// The same by server-sent events: of two who listen to a room one never reads, and the other hears
/// every message.
#[tokio::test]
async fn whoever_does_not_read_their_events_is_given_up_and_others_hear_all() {
    const MESSAGES: usize = 60;
    let served = Served::with(impatient).await;
    let (ana, bo) = (served.newcomer("ana").await, served.signed_up("bo").await);
    let open =
        "mutation ($with: ID!) { createRoom(input: { scope: dm, memberIds: [$with] }) { id } }";
    let with = json!({ "with": bo.user.id.to_string() });
    let (_, opened) = served.ask_with(Some(&ana), open, with).await;
    let room = opened["data"]["createRoom"]["id"].as_str().unwrap_or_else(|| panic!("{opened}"));
    // Long events: those of a connection that nobody reads must fill what the system keeps for it.
    let texts = aliases("text", 49);
    let send = "mutation ($room: ID!, $text: String!) {
        sendMessage(roomId: $room, text: $text) { id } }";
    // From behind a message on: nobody is told when listening has begun.
    let said = json!({ "room": room, "text": "nothing" });
    let before =
        served.ask_with(Some(&ana), send, said).await.1["data"]["sendMessage"]["id"].take();
    let place = format!(r#"roomId: "{room}", after: {before}"#);
    let all = format!("subscription {{ onSendMessage({place}) {{ {texts} }} }}");

    let small = tokio::net::TcpSocket::new_v4().unwrap();
    small.set_recv_buffer_size(4096).unwrap();
    let address = served.url.strip_prefix("http://").unwrap().parse().unwrap();
    let mut deaf = small.connect(address).await.unwrap();
    let body = json!({ "query": all }).to_string();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {ana}\r\n\
         accept: text/event-stream\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    deaf.write_all(head.as_bytes()).await.unwrap();
    let token = served.token(&bo).await;
    let mut hears = Socket::by(&served, &token).await;
    let short = format!("subscription {{ onSendMessage({place}) {{ text }} }}");
    hears.say(&subscribe("room", &short)).await;
    served.until("roundtable_live_listeners", 2).await;

    let mut first = 0;
    for number in 0..MESSAGES {
        let text = format!("{number} {}", "x".repeat(3_900));
        let said = json!({ "room": room, "text": text });
        let (_, sent) = served.ask_with(Some(&ana), send, said).await;
        assert!(sent["data"]["sendMessage"]["id"].is_string(), "{sent}");
        let heard = hears.hear_of("room").await;
        let heard = heard["payload"]["data"]["onSendMessage"]["text"].as_str().unwrap();
        let heard: usize = heard.split_once(' ').unwrap().0.parse().unwrap();
        assert_eq!(heard, number);
        first += 1;
    }
    assert_eq!(first, MESSAGES);
    served.until("roundtable_live_listeners", 1).await;
    served.stop().await;
}

#[tokio::test]
async fn a_server_that_stops_breaks_events_off() {
    let served = Served::fresh().await;
    let token = served.newcomer("ana").await;
    let post = served.client.post(format!("{}/graphql", served.url)).bearer_auth(&token);
    let post = post.header("accept", "text/event-stream");
    let query = "subscription { onNotification { id } }";
    let answer = post.json(&json!({ "query": query })).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let stopping = served.begin_to_stop();
    // Not `complete`: there would be more, and clients come back for it.
    assert_eq!(answer.text().await.unwrap(), "");
    stopping.await.unwrap();
}
