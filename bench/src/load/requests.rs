//! The bytes of requests, and checks of their responses.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};

use super::PAGE;
use super::connection::Connection;
use super::server::ServerProcess;

/// A page with the fields that an app shows.
pub(super) const DOCUMENT: &str = "query Home { getFeed(first: 50) { pageInfo { hasNextPage endCursor } \
    edges { cursor node { activityId verb createdAt post { id content createdAt likeCount commentCount \
    shareCount author { id nickname profileImageUrl } } } } } }";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// The first page of a home feed.
    Feed,
    /// The health check: an empty handler.
    Healthz,
    /// The smallest GraphQL query.
    Typename,
}

impl RequestKind {
    pub(super) const ALL: [Self; 3] = [Self::Feed, Self::Healthz, Self::Typename];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Feed => "feed page",
            Self::Healthz => "healthz",
            Self::Typename => "typename",
        }
    }

    /// Returns whether a body is a successful response, by a quick check: errors are at its end.
    pub(super) fn is_success(self, body: &[u8]) -> bool {
        match self {
            Self::Feed => body.starts_with(br#"{"data":{"getFeed":{"#) && body.ends_with(b"]}}}"),
            Self::Healthz => body == b"ok\n",
            Self::Typename => body == br#"{"data":{"__typename":"Query"}}"#,
        }
    }
}

#[derive(Debug)]
pub(super) struct Requests {
    feeds: Vec<Vec<u8>>,
    healthz: Vec<u8>,
    typename: Vec<u8>,
    /// The median size of a page's body.
    pub(super) page_bytes: usize,
}

impl Requests {
    /// Creates the requests of a server's readers.
    pub(super) fn of(server: &ServerProcess) -> Result<Self> {
        let host = server.address;
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
        let feeds = server.tokens.iter().map(|token| post(token, DOCUMENT)).collect();
        let reader = server.tokens.first().context("there are no readers")?;
        let typename = post(reader, "{ __typename }");
        let healthz = format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n").into_bytes();
        let mut requests = Self { feeds, healthz, typename, page_bytes: 0 };
        let mut sizes = requests.check_pages(server.address)?;
        sizes.sort_unstable();
        requests.page_bytes = sizes.get(sizes.len() / 2).copied().unwrap_or_default();
        Ok(requests)
    }

    pub(super) fn get(&self, kind: RequestKind, number: usize) -> &[u8] {
        match kind {
            RequestKind::Feed => {
                self.feeds.get(number % self.feeds.len().max(1)).map_or(&[], |all| all)
            }
            RequestKind::Healthz => &self.healthz,
            RequestKind::Typename => &self.typename,
        }
    }

    /// Checks every reader's page once in detail; returns the sizes.
    fn check_pages(&self, address: SocketAddr) -> Result<Vec<usize>> {
        let mut connection = Connection::open(address)?;
        let mut sizes = Vec::with_capacity(self.feeds.len());
        for request in &self.feeds {
            let body = connection.request(request)?;
            let response: serde_json::Value = serde_json::from_slice(body)?;
            ensure!(response.get("errors").is_none(), "{response}");
            let edges = response.pointer("/data/getFeed/edges").and_then(|edges| edges.as_array());
            let edges = edges.context("a page without entries")?;
            ensure!(edges.len() == PAGE, "a page of {} entries", edges.len());
            for edge in edges {
                let picture = edge.pointer("/node/post/author/profileImageUrl");
                ensure!(
                    picture.is_some_and(serde_json::Value::is_string),
                    "an entry without the author's picture: {edge}"
                );
            }
            sizes.push(body.len());
        }
        Ok(sizes)
    }

    /// Sends a request of each kind.
    pub(super) fn try_all(&self, address: SocketAddr) -> Result<()> {
        let mut connection = Connection::open(address)?;
        for kind in RequestKind::ALL {
            let body = connection.request(self.get(kind, 0))?;
            ensure!(kind.is_success(body), "{}: {}", kind.name(), String::from_utf8_lossy(body));
        }
        Ok(())
    }
}
