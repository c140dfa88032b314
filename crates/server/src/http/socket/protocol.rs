//! The messages of `graphql-transport-ws`, and why connections are closed.

use async_graphql::{Request, Response};
use axum::extract::ws::{CloseFrame, Message};
use roundtable_graphql::{Answer, Fault};
use serde::Deserialize;

/// What a client says.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Said {
    /// Who it is.
    ConnectionInit {
        /// What proves it.
        payload: Option<serde_json::Value>,
    },
    /// Whether somebody is there.
    Ping,
    /// That somebody is.
    Pong,
    /// What it wants to hear.
    Subscribe {
        /// What it calls that.
        id: String,
        /// The document.
        payload: Box<Request>,
    },
    /// What it wants to hear no more.
    Complete {
        /// What it calls that.
        id: String,
    },
}

/// Why a connection is closed. Clients come back by themselves after some of these codes, and not after
/// others: `4403` and `1013` are among those after which they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    Nonsense,
    TooLong,
    Unknown,
    Over,
    InitTwice,
    InitLate,
    SameId,
    Away,
    Slow,
    Stopping,
}

impl Closing {
    pub(super) fn frame(self) -> Message {
        let (code, reason) = match self {
            Self::Nonsense => (4400, "this is no message of graphql-transport-ws"),
            Self::TooLong => (4400, "this message is too long"),
            Self::Unknown => (4401, "say who you are first"),
            Self::Over => (4403, "your token is not, or no longer, valid"),
            Self::InitTwice => (4429, "Too many initialisation requests"),
            Self::InitLate => (4408, "Connection initialisation timeout"),
            Self::SameId => (4409, "a subscription of this id is under way"),
            Self::Away => (4408, "nobody seems to be there"),
            Self::Slow => (1013, "events come faster than you take them; come back for the rest"),
            Self::Stopping => (1001, "the server is being stopped; come back"),
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

/// An event.
pub(super) fn next(id: &str, answer: &Response) -> Message {
    let payload = serde_json::to_value(Answer(answer)).unwrap_or_default();
    message("next", &[("id", id.into()), ("payload", payload)])
}

/// There will be no events.
pub(super) fn error(id: &str, answer: &Response) -> Message {
    let errors: Vec<Fault<'_>> = answer.errors.iter().map(Fault).collect();
    let payload = serde_json::to_value(errors).unwrap_or_default();
    message("error", &[("id", id.into()), ("payload", payload)])
}
