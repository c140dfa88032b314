//! What is asked, byte by byte, and how its answers are told from others.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};

use super::PAGE;
use super::connection::Connection;
use super::served::Served;

/// A page as an app shows it.
pub(super) const DOCUMENT: &str = "query Home { getFeed(first: 50) { pageInfo { hasNextPage endCursor } \
    edges { cursor node { activityId verb createdAt post { id content createdAt likeCount commentCount \
    shareCount author { id nickname profileImageUrl } } } } } }";

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The first page of a home feed.
    Feed,
    /// Whether the server lives: a handler that does nothing.
    Healthz,
    /// The least that can be asked in GraphQL.
    Typename,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Feed, Self::Healthz, Self::Typename];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Feed => "feed page",
            Self::Healthz => "healthz",
            Self::Typename => "typename",
        }
    }

    /// Whether this is the answer, as far as that is seen at a glance: one with errors ends in them.
    pub(super) fn is_answered(self, body: &[u8]) -> bool {
        match self {
            Self::Feed => body.starts_with(br#"{"data":{"getFeed":{"#) && body.ends_with(b"]}}}"),
            Self::Healthz => body == b"ok\n",
            Self::Typename => body == br#"{"data":{"__typename":"Query"}}"#,
        }
    }
}

/// Every request there is, as it is sent.
#[derive(Debug)]
pub(super) struct Requests {
    feeds: Vec<Vec<u8>>,
    healthz: Vec<u8>,
    typename: Vec<u8>,
    /// The body of a page, in the middle.
    pub(super) page_bytes: usize,
}

impl Requests {
    /// What the readers of a server ask.
    pub(super) fn of(served: &Served) -> Result<Self> {
        let host = served.address;
        let post = |token: &str, document: &str| {
            let body = serde_json::json!({ "query": document }).to_string();
            let length = body.len();
            let head = format!(
                "POST /graphql HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
                 content-type: application/json\r\naccept: application/json\r\n\
                 content-length: {length}\r\n\r\n"
            );
            [head.into_bytes(), body.into_bytes()].concat()
        };
        let feeds = served.tokens.iter().map(|token| post(token, DOCUMENT)).collect();
        let reader = served.tokens.first().context("nobody reads")?;
        let typename = post(reader, "{ __typename }");
        let healthz = format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n").into_bytes();
        let mut requests = Self { feeds, healthz, typename, page_bytes: 0 };
        let mut sizes = requests.look(served.address)?;
        sizes.sort_unstable();
        requests.page_bytes = sizes.get(sizes.len() / 2).copied().unwrap_or_default();
        Ok(requests)
    }

    /// The request with this number, of this kind.
    pub(super) fn get(&self, kind: Kind, number: usize) -> &[u8] {
        match kind {
            Kind::Feed => self.feeds.get(number % self.feeds.len().max(1)).map_or(&[], |all| all),
            Kind::Healthz => &self.healthz,
            Kind::Typename => &self.typename,
        }
    }

    /// Looks at every reader's page once, closely; gives how long they are.
    fn look(&self, address: SocketAddr) -> Result<Vec<usize>> {
        let mut connection = Connection::open(address)?;
        let mut sizes = Vec::with_capacity(self.feeds.len());
        for request in &self.feeds {
            let body = connection.ask(request)?;
            let answer: serde_json::Value = serde_json::from_slice(body)?;
            ensure!(answer.get("errors").is_none(), "{answer}");
            let edges = answer.pointer("/data/getFeed/edges").and_then(|edges| edges.as_array());
            let edges = edges.context("a page without entries")?;
            ensure!(edges.len() == PAGE, "a page of {} entries", edges.len());
            for edge in edges {
                let picture = edge.pointer("/node/post/author/profileImageUrl");
                ensure!(
                    picture.is_some_and(serde_json::Value::is_string),
                    "nobody is seen: {edge}"
                );
            }
            sizes.push(body.len());
        }
        Ok(sizes)
    }

    /// Asks each kind once.
    pub(super) fn try_all(&self, address: SocketAddr) -> Result<()> {
        let mut connection = Connection::open(address)?;
        for kind in Kind::ALL {
            let body = connection.ask(self.get(kind, 0))?;
            ensure!(kind.is_answered(body), "{}: {}", kind.name(), String::from_utf8_lossy(body));
        }
        Ok(())
    }
}
