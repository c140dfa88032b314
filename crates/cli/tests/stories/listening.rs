//! Listening, as clients do: by a WebSocket in the protocol `graphql-transport-ws`, or by server-sent
//! events.

use std::collections::VecDeque;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::people::Person;

/// Somebody's end of a subscription.
pub(crate) struct Ear<'s> {
    who: &'s Person<'s>,
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    is_old: IsOld<'s>,
}

/// Whether an event tells of what happened before a story came to it.
type IsOld<'s> = Box<dyn Fn(&Value) -> bool + Send + Sync + 's>;

/// Somebody's end of a stream of events.
pub(crate) struct Events<'s> {
    who: &'s Person<'s>,
    response: reqwest::Response,
    unread: String,
    ready: VecDeque<Value>,
}

impl Person<'_> {
    /// Listens to something from now on: whatever happens after this call is heard.
    pub(crate) async fn listen(&self, document: &str, variables: Value) -> Ear<'_> {
        let door = self.scene.door(self.door);
        let before = self.scene.listened_to(&door).await;
        let ear = self.resume(document, variables).await;
        self.is_heard(&door, before + 1).await;
        ear
    }

    /// Listens to what came since something they name, and to whatever comes.
    pub(crate) async fn resume(&self, document: &str, variables: Value) -> Ear<'_> {
        self.try_resume(self.door, document, variables).await.unwrap()
    }

    /// Listens at a server, if one is there.
    pub(super) async fn try_resume(
        &self,
        door: usize,
        document: &str,
        variables: Value,
    ) -> Option<Ear<'_>> {
        let url = format!("{}/graphql", self.scene.door(door).replace("http", "ws"));
        let mut request = url.into_client_request().unwrap();
        let protocol = "graphql-transport-ws".parse().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", protocol);
        let (socket, _) = connect_async(request).await.ok()?;
        let mut ear = Ear { who: self, socket, is_old: Box::new(|_| false) };
        let proof = format!("Bearer {}", self.token.as_deref().unwrap());
        ear.say(&json!({ "type": "connection_init", "payload": { "authorization": proof } })).await;
        assert_eq!(ear.told().await?, json!({ "type": "connection_ack" }));
        let payload = json!({ "query": document, "variables": variables });
        ear.say(&json!({ "type": "subscribe", "id": "1", "payload": payload })).await;
        Some(ear)
    }

    /// The same as [`Person::listen`], by server-sent events.
    pub(crate) async fn events(&self, document: &str, variables: Value) -> Events<'_> {
        let door = self.scene.door(self.door);
        let before = self.scene.listened_to(&door).await;
        let request = self.scene.http.post(format!("{door}/graphql"));
        let request = request.bearer_auth(self.token.as_deref().unwrap());
        let request = request.header("accept", "text/event-stream");
        let body = json!({ "query": document, "variables": variables });
        let response = request.json(&body).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        self.is_heard(&door, before + 1).await;
        Events { who: self, response, unread: String::new(), ready: VecDeque::new() }
    }

    /// Nothing in the protocol says that a subscription has begun; the server's figures do.
    async fn is_heard(&self, door: &str, matters: u64) {
        let deadline = self.scene.deadline();
        while self.scene.listened_to(door).await < matters {
            deadline.wait(format_args!("{} is not heard", self.nickname)).await;
        }
    }
}

impl<'s> Ear<'s> {
    /// Those who read the stream are a little behind: what happened just before somebody listened may be
    /// told to them, too. This is how to know it.
    pub(crate) fn except(mut self, is_old: impl Fn(&Value) -> bool + Send + Sync + 's) -> Self {
        self.is_old = Box::new(is_old);
        self
    }

    /// The next event.
    pub(crate) async fn hears(&mut self) -> Value {
        self.try_hears().await.unwrap_or_else(|| panic!("{} is cut off", self.who.nickname))
    }

    /// One field of the next event.
    pub(crate) async fn hears_of(&mut self, field: &str) -> Value {
        self.hears().await[field].take()
    }

    /// The next event, unless the server goes before there is one.
    pub(super) async fn try_hears(&mut self) -> Option<Value> {
        loop {
            let told = self.told().await?;
            assert_eq!(told["type"], "next", "{}: {told}", self.who.nickname);
            let event = event(&self.who.nickname, &told["payload"]);
            if !(self.is_old)(&event) {
                return Some(event);
            }
        }
    }

    /// What the server says next, as long as it is there; that it is goes without saying.
    async fn told(&mut self) -> Option<Value> {
        loop {
            let next = timeout(self.who.scene.patience(), self.socket.next()).await;
            let next = next.unwrap_or_else(|_| panic!("{} hears nothing", self.who.nickname));
            let Message::Text(text) = next?.ok()? else { return None };
            let told: Value = serde_json::from_str(&text).unwrap();
            if told["type"] != "ping" {
                return Some(told);
            }
            self.say(&json!({ "type": "pong" })).await;
        }
    }

    async fn say(&mut self, message: &Value) {
        // Whether anybody is there shows when they should answer.
        let _ = self.socket.send(Message::text(message.to_string())).await;
    }
}

impl Events<'_> {
    /// The next event.
    pub(crate) async fn hears(&mut self) -> Value {
        loop {
            if let Some(payload) = self.ready.pop_front() {
                return event(&self.who.nickname, &payload);
            }
            let part = timeout(self.who.scene.patience(), self.response.chunk()).await;
            let part = part.unwrap_or_else(|_| panic!("{} hears nothing", self.who.nickname));
            let part = part.unwrap().unwrap_or_else(|| panic!("it ended: {}", self.unread));
            self.unread.push_str(std::str::from_utf8(&part).unwrap());
            while let Some((event, rest)) = self.unread.split_once("\n\n") {
                let data = event.strip_prefix("event: next\ndata: ");
                self.ready.extend(data.map(|data| serde_json::from_str::<Value>(data).unwrap()));
                self.unread = String::from(rest);
            }
        }
    }
}

/// The one field of an event's data.
fn event(who: &str, payload: &Value) -> Value {
    assert!(payload["errors"].is_null(), "{who}: {payload}");
    let Value::Object(data) = &payload["data"] else { panic!("{who}: {payload}") };
    let (_, event) = data.iter().next().unwrap();
    event.clone()
}
