//! Messages and close codes of `graphql-transport-ws`.

use axum::extract::ws::{CloseFrame, Message};
use roundtable_graphql::{Answer, Request};
use serde::Deserialize;

use crate::http::credentials::CredentialEnd;

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ClientMessage {
    ConnectionInit {
        /// May hold the client's credential.
        payload: Option<serde_json::Value>,
    },
    Ping,
    Pong,
    Subscribe {
        id: String,
        payload: Box<Request>,
    },
    Complete {
        id: String,
    },
}

/// The reason that a connection is closed. Clients reconnect by themselves after some codes, such as
/// `4403` and `1013`, and give up after others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CloseReason {
    InvalidMessage,
    MessageTooLong,
    MessageTooComplex,
    NotInitialised,
    CredentialExpired,
    CredentialRevoked,
    /// The store did not answer.
    CredentialUnchecked,
    InitRepeated,
    InitTimeout,
    DuplicateId,
    Unresponsive,
    TooSlow,
    /// No operation has run for too long.
    Idle,
    /// The account has too many live connections.
    TooManyConnections,
    /// Another connection has got the place of this one.
    Displaced,
    ShuttingDown,
}

impl From<CredentialEnd> for CloseReason {
    fn from(end: CredentialEnd) -> Self {
        match end {
            CredentialEnd::Expired => Self::CredentialExpired,
            CredentialEnd::Revoked => Self::CredentialRevoked,
        }
    }
}

impl CloseReason {
    pub(super) fn frame(self) -> Message {
        let (code, reason) = match self {
            Self::InvalidMessage => (4400, "this is not a graphql-transport-ws message"),
            Self::MessageTooLong => (4400, "the message is too long"),
            Self::MessageTooComplex => (4400, "the message has too many JSON values"),
            Self::NotInitialised => (4401, "send connection_init first"),
            Self::CredentialExpired => {
                (4403, "the token is invalid or has expired; reconnect with a new one")
            }
            Self::CredentialRevoked => {
                (4403, "you were signed out, or the API key was revoked; sign in again")
            }
            Self::CredentialUnchecked => {
                (1013, "your credential cannot be checked at the moment; reconnect")
            }
            Self::InitRepeated => (4429, "Too many initialisation requests"),
            Self::InitTimeout => (4408, "Connection initialisation timeout"),
            Self::DuplicateId => (4409, "a subscription with this id is already running"),
            Self::Unresponsive => (4408, "pings were not answered; reconnect"),
            Self::TooSlow => (1013, "you read too slowly; reconnect to receive the rest"),
            Self::Idle => (4408, "no operation has run for too long; reconnect to run one"),
            Self::TooManyConnections => {
                (1013, "this account has too many live connections; close one first")
            }
            Self::Displaced => {
                (1013, "the server is full; sign in, open fewer connections, or reconnect later")
            }
            Self::ShuttingDown => (1001, "the server is shutting down; reconnect"),
        };
        Message::Close(Some(CloseFrame { code, reason: reason.into() }))
    }
}

fn message(kind: &str, rest: &[(&str, serde_json::Value)]) -> Message {
    let mut map = serde_json::Map::new();
    map.insert(String::from("type"), kind.into());
    map.extend(rest.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    Message::text(serde_json::Value::Object(map).to_string())
}

pub(super) fn ack() -> Message {
    message("connection_ack", &[])
}

pub(super) fn ping() -> Message {
    message("ping", &[])
}

pub(super) fn pong() -> Message {
    message("pong", &[])
}

pub(super) fn complete(id: &str) -> Message {
    message("complete", &[("id", id.into())])
}

/// Returns an answer as a message. The answer is copied as it is, not parsed again.
pub(super) fn next(id: &str, answer: &Answer) -> Message {
    let (id, payload) = (serde_json::Value::from(id), String::from_utf8_lossy(answer.json()));
    Message::text(format!(r#"{{"id":{id},"payload":{payload},"type":"next"}}"#))
}

pub(super) fn error(id: &str, refused: &Answer) -> Message {
    let answer: serde_json::Value = serde_json::from_slice(refused.json()).unwrap_or_default();
    let errors = answer.get("errors").cloned().unwrap_or_default();
    message("error", &[("id", id.into()), ("payload", errors)])
}
