//! Somebody who listens over a WebSocket, in the protocol `graphql-transport-ws`.

use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::served::Served;

/// How long to wait for what must come.
const PATIENCE: Duration = Duration::from_mins(1);

/// A connection.
pub(crate) struct Socket(pub(crate) WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub(crate) async fn open(served: &Served) -> Self {
        Self::speaking(served, "graphql-transport-ws").await.unwrap()
    }

    pub(crate) async fn speaking(served: &Served, protocol: &str) -> Result<Self, Error> {
        let url = format!("{}/graphql", served.url.replace("http", "ws"));
        let mut request = url.into_client_request()?;
        let protocol = protocol.parse().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", protocol);
        Ok(Self(connect_async(request).await?.0))
    }

    /// Opened by somebody, and greeted.
    pub(crate) async fn by(served: &Served, token: &str) -> Self {
        let mut socket = Self::open(served).await;
        let payload = json!({ "authorization": format!("Bearer {token}") });
        socket.say(&json!({ "type": "connection_init", "payload": payload })).await;
        assert_eq!(socket.hear().await, json!({ "type": "connection_ack" }));
        socket
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> Message {
        let next = tokio::time::timeout(PATIENCE, self.0.next());
        next.await.unwrap().unwrap().unwrap()
    }

    /// What comes next, but for questions whether somebody is there.
    pub(crate) async fn hear(&mut self) -> Value {
        loop {
            let heard: Value = serde_json::from_str(self.next().await.to_text().unwrap()).unwrap();
            if heard["type"] == "ping" {
                self.say(&json!({ "type": "pong" })).await;
                continue;
            }
            return heard;
        }
    }

    /// What comes next under this name; everything else is passed over.
    pub(crate) async fn hear_of(&mut self, id: &str) -> Value {
        let heard = async {
            loop {
                let heard = self.hear().await;
                if heard["id"] == id {
                    return heard;
                }
            }
        };
        // Questions whether somebody is there come all the time.
        let heard = tokio::time::timeout(PATIENCE, heard).await;
        heard.unwrap_or_else(|_| panic!("nothing is told under the name {id}"))
    }

    /// Why it was closed.
    pub(crate) async fn closed(&mut self) -> u16 {
        loop {
            match self.next().await {
                Message::Close(frame) => return frame.unwrap().code.into(),
                Message::Text(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

pub(crate) fn subscribe(id: &str, query: &str) -> Value {
    json!({ "type": "subscribe", "id": id, "payload": { "query": query } })
}
