//! WebSockets: clients of the protocol `graphql-transport-ws`, and strangers who keep many open by answering
//! pings.

use std::io::ErrorKind;
use std::net::{IpAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Error, Message, WebSocket};

use super::AttackCase;
use super::scene::{AttackScene, STRANGERS, TIMEOUT};
use super::size::AttackSize;
use super::strangers::from_everywhere;

pub(super) const CASES: &[AttackCase] = &[AttackCase {
    name: "ping-only-sockets",
    expected: "anonymous WebSockets that only answer pings are closed at their deadline",
    run: answer_pings_only,
}];

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A WebSocket from an address of choice.
pub(super) struct AttackSocket(WebSocket<TcpStream>);

/// What a socket has received.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SocketEvent {
    Message(Value),
    /// The server has closed the connection, with this code if it sent one.
    Closed(Option<u16>),
    Nothing,
}

impl AttackSocket {
    pub(super) fn open(scene: &AttackScene<'_>, from: IpAddr) -> Result<Self> {
        let mut request = format!("ws://{}/graphql", scene.server.address).into_client_request()?;
        let protocol = "graphql-transport-ws".parse()?;
        request.headers_mut().insert("sec-websocket-protocol", protocol);
        let opened = tungstenite::client(request, scene.connect(from)?);
        Ok(Self(opened.map_err(|error| anyhow::anyhow!("opening a WebSocket: {error}"))?.0))
    }

    /// Opens a connection for the holder of a credential.
    pub(super) fn connect_as(
        scene: &AttackScene<'_>,
        from: IpAddr,
        credential: &str,
    ) -> Result<Self> {
        let mut socket = Self::open(scene, from)?;
        let payload = json!({ "authorization": format!("Bearer {credential}") });
        socket.send(&json!({ "type": "connection_init", "payload": payload }))?;
        let answer = socket.next(TIMEOUT)?;
        let ack = SocketEvent::Message(json!({ "type": "connection_ack" }));
        ensure!(answer == ack, "the server did not accept a WebSocket: {answer:?}");
        Ok(socket)
    }

    pub(super) fn send(&mut self, message: &Value) -> Result<()> {
        Ok(self.0.send(Message::text(message.to_string()))?)
    }

    pub(super) fn subscribe(&mut self, id: &str, query: &str) -> Result<()> {
        self.send(&json!({ "type": "subscribe", "id": id, "payload": { "query": query } }))
    }

    /// Returns the next event but pings, which are answered.
    pub(super) fn next(&mut self, limit: Duration) -> Result<SocketEvent> {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            match self.poll()? {
                SocketEvent::Nothing => std::thread::sleep(POLL_INTERVAL),
                event => return Ok(event),
            }
        }
        Ok(SocketEvent::Nothing)
    }

    /// Returns what has arrived, without waiting, and answers pings.
    pub(super) fn poll(&mut self) -> Result<SocketEvent> {
        self.0.get_ref().set_nonblocking(true)?;
        let read = self.0.read();
        self.0.get_ref().set_nonblocking(false)?;
        match read {
            Ok(Message::Close(frame)) => {
                Ok(SocketEvent::Closed(frame.map(|frame| frame.code.into())))
            }
            Ok(Message::Text(text)) => {
                let message: Value = serde_json::from_str(&text)?;
                if message.get("type") != Some(&json!("ping")) {
                    return Ok(SocketEvent::Message(message));
                }
                // The server may be closing.
                let _ = self.send(&json!({ "type": "pong" }));
                Ok(SocketEvent::Nothing)
            }
            Ok(_) => Ok(SocketEvent::Nothing),
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {
                Ok(SocketEvent::Nothing)
            }
            Err(_) => Ok(SocketEvent::Closed(None)),
        }
    }
}

/// Each address opens its part of the sockets; those that the server has no room for come to nothing.
fn answer_pings_only(scene: &AttackScene<'_>) -> Result<String> {
    let live_max = scene.size.web_sockets;
    let limit = AttackSize::deadline(scene.size.live_idle_seconds);
    let displaced = "roundtable_http_connections_dropped_total";
    let before = scene.metric(displaced)?;
    let opened = from_everywhere(|from| {
        let mut sockets = Vec::new();
        for _ in 0..live_max / STRANGERS.len() {
            let Ok(mut socket) = AttackSocket::open(scene, from) else { continue };
            if socket.send(&json!({ "type": "connection_init" })).is_ok() {
                sockets.push(socket);
            }
        }
        let opened = sockets.len();
        let deadline = Instant::now() + limit;
        while !sockets.is_empty() {
            ensure!(Instant::now() < deadline, "{} sockets stay open", sockets.len());
            sockets
                .retain_mut(|socket| !matches!(socket.poll(), Ok(SocketEvent::Closed(_)) | Err(_)));
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(opened)
    })?;
    ensure!(opened > live_max / 2, "only {opened} sockets were opened");
    scene
        .until("live connections are closed", || {
            Ok(scene.metric("roundtable_live_connections")? < 1.0)
        })
        .context("after the sockets were closed")?;
    let dropped = scene.metric(displaced)? - before;
    Ok(format!("{opened} sockets opened, {dropped} displaced, all closed"))
}
