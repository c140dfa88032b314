//! Subscriptions as clients use them: over WebSocket in the protocol `graphql-transport-ws`, or over
//! server-sent events.

use std::collections::VecDeque;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::people::Person;

/// A WebSocket subscription of a user.
pub(crate) struct WebSocketSubscription<'s> {
    who: &'s Person<'s>,
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    is_old: IsOld<'s>,
}

/// True if an event is older than the story that receives it.
type IsOld<'s> = Box<dyn Fn(&Value) -> bool + Send + Sync + 's>;

/// A server-sent event subscription of a user.
pub(crate) struct Events<'s> {
    who: &'s Person<'s>,
    response: reqwest::Response,
    unread: String,
    ready: VecDeque<Value>,
}

impl Person<'_> {
    /// Subscribes, and returns once the subscription is active.
    pub(crate) async fn listen(
        &self,
        document: &str,
        variables: Value,
    ) -> WebSocketSubscription<'_> {
        let server = self.scene.server(self.server);
        let before = self.scene.subscribed_topics(&server).await;
        let subscription = self.resume(document, variables).await;
        self.wait_until_subscribed(&server, before + 1).await;
        subscription
    }

    /// Subscribes from a given point on.
    pub(crate) async fn resume(
        &self,
        document: &str,
        variables: Value,
    ) -> WebSocketSubscription<'_> {
        self.try_resume(self.server, document, variables).await.unwrap()
    }

    /// Subscribes at a server, if it is up.
    pub(super) async fn try_resume(
        &self,
        server: usize,
        document: &str,
        variables: Value,
    ) -> Option<WebSocketSubscription<'_>> {
        let url = format!("{}/graphql", self.scene.server(server).replace("http", "ws"));
        let mut request = url.into_client_request().unwrap();
        let protocol = "graphql-transport-ws".parse().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", protocol);
        let (socket, _) = connect_async(request).await.ok()?;
        let mut subscription =
            WebSocketSubscription { who: self, socket, is_old: Box::new(|_| false) };
        let credential = format!("Bearer {}", self.token.as_deref().unwrap());
        subscription
            .send_json(
                &json!({ "type": "connection_init", "payload": { "authorization": credential } }),
            )
            .await;
        assert_eq!(subscription.message().await?, json!({ "type": "connection_ack" }));
        let payload = json!({ "query": document, "variables": variables });
        subscription
            .send_json(&json!({ "type": "subscribe", "id": "1", "payload": payload }))
            .await;
        Some(subscription)
    }

    /// Like [`Person::listen`], over server-sent events.
    pub(crate) async fn events(&self, document: &str, variables: Value) -> Events<'_> {
        let server = self.scene.server(self.server);
        let before = self.scene.subscribed_topics(&server).await;
        let request = self.scene.http.post(format!("{server}/graphql"));
        let request = request.bearer_auth(self.token.as_deref().unwrap());
        let request = request.header("accept", "text/event-stream");
        let body = json!({ "query": document, "variables": variables });
        let response = request.json(&body).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        self.wait_until_subscribed(&server, before + 1).await;
        Events { who: self, response, unread: String::new(), ready: VecDeque::new() }
    }

    /// The protocol does not announce that a subscription is active; the server's metrics show it.
    async fn wait_until_subscribed(&self, server: &str, topics: u64) {
        let deadline = self.scene.deadline();
        while self.scene.subscribed_topics(server).await < topics {
            deadline.wait(format_args!("{} is not subscribed", self.nickname)).await;
        }
    }
}

impl<'s> WebSocketSubscription<'s> {
    /// Readers of the stream lag a little: events from just before a subscription may still arrive, and
    /// this tells them apart.
    pub(crate) fn except(mut self, is_old: impl Fn(&Value) -> bool + Send + Sync + 's) -> Self {
        self.is_old = Box::new(is_old);
        self
    }

    pub(crate) async fn next_event(&mut self) -> Value {
        self.try_next_event()
            .await
            .unwrap_or_else(|| panic!("{} was disconnected", self.who.nickname))
    }

    /// One field of the next event.
    pub(crate) async fn next_event_field(&mut self, field: &str) -> Value {
        self.next_event().await[field].take()
    }

    /// The next event, or `None` if the server goes away first.
    pub(super) async fn try_next_event(&mut self) -> Option<Value> {
        loop {
            let message = self.message().await?;
            assert_eq!(message["type"], "next", "{}: {message}", self.who.nickname);
            let event = event(&self.who.nickname, &message["payload"]);
            if !(self.is_old)(&event) {
                return Some(event);
            }
        }
    }

    /// The server's next message that is not a ping, or `None` if the server is gone.
    async fn message(&mut self) -> Option<Value> {
        loop {
            let next = timeout(self.who.scene.timeout(), self.socket.next()).await;
            let next = next.unwrap_or_else(|_| panic!("{} receives nothing", self.who.nickname));
            let Message::Text(text) = next?.ok()? else { return None };
            let message: Value = serde_json::from_str(&text).unwrap();
            if message["type"] != "ping" {
                return Some(message);
            }
            self.send_json(&json!({ "type": "pong" })).await;
        }
    }

    async fn send_json(&mut self, message: &Value) {
        // A lost connection shows when the response is read.
        let _ = self.socket.send(Message::text(message.to_string())).await;
    }
}

impl Events<'_> {
    pub(crate) async fn next_event(&mut self) -> Value {
        loop {
            if let Some(payload) = self.ready.pop_front() {
                return event(&self.who.nickname, &payload);
            }
            let part = timeout(self.who.scene.timeout(), self.response.chunk()).await;
            let part = part.unwrap_or_else(|_| panic!("{} receives nothing", self.who.nickname));
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

/// The only field of an event's data.
fn event(who: &str, payload: &Value) -> Value {
    assert!(payload["errors"].is_null(), "{who}: {payload}");
    let Value::Object(data) = &payload["data"] else { panic!("{who}: {payload}") };
    let (_, event) = data.iter().next().unwrap();
    event.clone()
}
