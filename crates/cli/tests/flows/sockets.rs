//! The two live transports that the documents show: a WebSocket, and server-sent events.

use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub(crate) async fn open(url: &str) -> Self {
        let at = format!("{}/graphql", url.replace("http://", "ws://"));
        let mut request = at.into_client_request().unwrap();
        let protocol = "graphql-transport-ws".parse().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", protocol);
        Self(tokio_tungstenite::connect_async(request).await.unwrap().0)
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    /// The next message that is not a ping.
    pub(crate) async fn next_message(&mut self) -> Value {
        loop {
            let message = timeout(DEADLINE, self.0.next()).await.unwrap().unwrap().unwrap();
            let Message::Text(text) = message else { continue };
            let message: Value = serde_json::from_str(text.as_str()).unwrap();
            if message.get("type").is_none_or(|kind| kind != "ping") {
                return message;
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Events {
    from: reqwest::Response,
    come: String,
}

impl Events {
    pub(crate) const fn of(from: reqwest::Response) -> Self {
        Self { from, come: String::new() }
    }

    /// The next event: its name and data.
    pub(crate) async fn next(&mut self) -> (String, String) {
        loop {
            while let Some((event, rest)) = self.come.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.come = rest;
                if !event.starts_with(':') {
                    return parts(&event);
                }
            }
            let part = timeout(DEADLINE, self.from.chunk()).await.unwrap().unwrap();
            self.come.push_str(std::str::from_utf8(&part.unwrap()).unwrap());
        }
    }
}

pub(crate) fn parts(event: &str) -> (String, String) {
    let line = |name: &str| {
        let mut lines = event.lines().filter_map(|line| line.strip_prefix(name));
        lines.next().unwrap_or_default().trim().to_owned()
    };
    (line("event:"), line("data:"))
}
