//! A WebSocket client in the protocol `graphql-transport-ws`.

use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::test_server::TestServer;

const TIMEOUT: Duration = Duration::from_mins(1);

pub(crate) struct WebSocketClient(pub(crate) WebSocketStream<MaybeTlsStream<TcpStream>>);

impl WebSocketClient {
    pub(crate) async fn open(server: &TestServer) -> Self {
        Self::with_protocol(server, "graphql-transport-ws").await.unwrap()
    }

    pub(crate) async fn with_protocol(server: &TestServer, protocol: &str) -> Result<Self, Error> {
        let url = format!("{}/graphql", server.url.replace("http", "ws"));
        let mut request = url.into_client_request()?;
        let protocol = protocol.parse().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", protocol);
        Ok(Self(connect_async(request).await?.0))
    }

    pub(crate) async fn connect_as(server: &TestServer, token: &str) -> Self {
        let mut socket = Self::open(server).await;
        let payload = json!({ "authorization": format!("Bearer {token}") });
        socket.send_message(&json!({ "type": "connection_init", "payload": payload })).await;
        assert_eq!(socket.next_message().await, json!({ "type": "connection_ack" }));
        socket
    }

    pub(crate) async fn send_message(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> Message {
        let next = tokio::time::timeout(TIMEOUT, self.0.next());
        next.await.unwrap().unwrap().unwrap()
    }

    /// The next message that is not a ping.
    pub(crate) async fn next_message(&mut self) -> Value {
        loop {
            let message: Value =
                serde_json::from_str(self.next().await.to_text().unwrap()).unwrap();
            if message["type"] == "ping" {
                self.send_message(&json!({ "type": "pong" })).await;
                continue;
            }
            return message;
        }
    }

    /// The next message with this id; others are skipped.
    pub(crate) async fn next_message_of(&mut self, id: &str) -> Value {
        let message = async {
            loop {
                let message = self.next_message().await;
                if message["id"] == id {
                    return message;
                }
            }
        };
        // Pings arrive all the time.
        let message = tokio::time::timeout(TIMEOUT, message).await;
        message.unwrap_or_else(|_| panic!("no message with the id {id}"))
    }

    /// The close code.
    pub(crate) async fn close_code(&mut self) -> u16 {
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
