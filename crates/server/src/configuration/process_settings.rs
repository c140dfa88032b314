//! The settings of a process. Every key has a default.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use roundtable_graphql::QueryLimits;
use roundtable_model::Secret;
use serde::{Deserialize, Deserializer};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessRole {
    #[default]
    All,
    /// Answers requests.
    Api,
    /// Runs the stream processors.
    Worker,
}

impl fmt::Display for ProcessRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "all",
            Self::Api => "api",
            Self::Worker => "worker",
        })
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct StoreSettings {
    pub kind: StoreKind,
    /// The directory of the embedded store, its secret, and uploaded files.
    pub data: PathBuf,
    /// A server that speaks DynamoDB's API, if not Amazon's.
    pub endpoint: Option<String>,
    /// The AWS region, if not that of the environment.
    pub region: Option<String>,
    /// The directory that the embedded store copies its log to, for point-in-time restores.
    pub archive: Option<PathBuf>,
    /// Seconds after which `/readyz` probes the tables on DynamoDB and the media store again.
    pub probe_seconds: u64,
    /// Seconds between two copies of the log file that is being written.
    pub archive_seconds: u64,
    /// Free bytes of the embedded store's disk below which only essential writes are taken.
    pub reserve_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoreKind {
    /// In a directory, in this process.
    #[default]
    Embedded,
    /// In Amazon DynamoDB, or a server that speaks its API.
    Dynamodb,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self {
            kind: StoreKind::default(),
            data: PathBuf::from("data"),
            endpoint: None,
            region: None,
            archive: None,
            probe_seconds: 30,
            archive_seconds: 60,
            reserve_bytes: 256 << 20,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct HttpSettings {
    pub listen: SocketAddr,
    /// The base of media URLs, by default the address in `listen`, and the issuer of tokens, by
    /// default `roundtable`.
    pub public_url: Option<String>,
    /// Connections at the same time, WebSockets included. Further ones displace others.
    pub connections_max: usize,
    /// Anonymous connections of one network (an IPv4 address, or 64 bits of an IPv6 address).
    pub network_connections_max: usize,
    /// Seconds that a connection may be idle, or take to send the head of a request. Longer than proxies
    /// keep theirs, so that they never send into one that is closing.
    pub idle_seconds: u64,
    /// Bytes of all unfinished requests: heads, and what HTTP/2 clients may send of bodies unasked. The first
    /// 8 KiB of each connection are free.
    pub unfinished_bytes_max: usize,
    /// Bytes of a request's body; uploads have limits of their own.
    pub body_bytes_max: usize,
    /// Bytes of all request bodies in memory; requests beyond that are refused with a hint to retry.
    pub bodies_bytes_max: usize,
    /// Requests in one batch.
    pub batch_max: usize,
    pub request_seconds: u64,
    /// Seconds that running requests may take after shutdown begins.
    pub drain_seconds: u64,
    /// Origins that browsers may call from, such as `https://app.example.org`, or `*` for any.
    pub cors_origins: Vec<String>,
    pub compression: bool,
    /// The number of the installation's own proxies in front: that many addresses of `x-forwarded-for`
    /// are trusted.
    pub proxies: usize,
    /// True if `/metrics` is served.
    pub metrics: bool,
    pub tls: TlsSettings,
}

/// TLS; without a certificate, connections are plain text.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TlsSettings {
    /// A PEM file with the certificate chain.
    pub certificate: Option<PathBuf>,
    /// A PEM file with the private key.
    pub key: Option<PathBuf>,
    /// Seconds for which browsers use HTTPS alone (HSTS), from their last visit on; 0 for no such header.
    pub hsts_seconds: u64,
}

impl Default for TlsSettings {
    fn default() -> Self {
        Self { certificate: None, key: None, hsts_seconds: 365 * 24 * 60 * 60 }
    }
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 4000)),
            public_url: None,
            connections_max: 10_000,
            network_connections_max: 2_000,
            idle_seconds: 75,
            unfinished_bytes_max: 64 << 20,
            body_bytes_max: 1 << 20,
            bodies_bytes_max: 64 << 20,
            batch_max: QueryLimits::default().batch_max,
            request_seconds: 30,
            drain_seconds: 20,
            cors_origins: Vec::new(),
            compression: true,
            proxies: 0,
            metrics: true,
            tls: TlsSettings::default(),
        }
    }
}

/// Limits of a GraphQL document, and optional features.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct GraphqlSettings {
    pub depth_max: usize,
    /// Fields in total; fields of a list count once per item of a page.
    pub cost_max: u64,
    /// Table operations of a request, as they are estimated before the first.
    pub operations_max: u64,
    pub aliases_max: usize,
    /// Lexical tokens of a document.
    pub tokens_max: usize,
    pub directives_max: usize,
    /// Bytes of an answer.
    pub answer_bytes_max: usize,
    /// Bytes of all answers that wait for their clients.
    pub answers_bytes_max: usize,
    /// Bytes that the reads of one request may return.
    pub read_bytes_max: usize,
    /// Bytes that the reads of all requests under way may return together.
    pub reads_bytes_max: usize,
    /// Requests that one account may have under way.
    pub account_operations_max: usize,
    /// Requests that one network (an IPv4 address, or 64 bits of an IPv6 address) may have under way.
    pub network_operations_max: usize,
    /// A file that lists the documents that are answered; without it, all are.
    pub documents: Option<PathBuf>,
    pub introspection: bool,
    /// True if the console is served at `/`.
    pub console: bool,
    /// True if clients may ask for the cost of a response.
    pub xray: bool,
}

impl Default for GraphqlSettings {
    fn default() -> Self {
        let limits = QueryLimits::default();
        Self {
            depth_max: limits.depth_max,
            cost_max: limits.cost_max,
            operations_max: limits.operations_max,
            aliases_max: limits.aliases_max,
            tokens_max: limits.tokens_max,
            directives_max: limits.directives_max,
            answer_bytes_max: limits.answer_bytes_max,
            answers_bytes_max: 64 << 20,
            read_bytes_max: 16 << 20,
            reads_bytes_max: 256 << 20,
            account_operations_max: 64,
            network_operations_max: 256,
            documents: None,
            introspection: true,
            console: true,
            xray: false,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SignInSettings {
    /// The secret that seals the keys all processes share. An embedded store generates its own.
    #[serde(deserialize_with = "secret")]
    pub secret: Option<Secret>,
    /// The lifetime of an access token.
    pub token_seconds: u32,
    /// The `aud` claim of access tokens.
    pub audience: String,
    /// Days after which a new key signs access tokens.
    pub key_days: u32,
    /// An external issuer whose tokens are accepted.
    pub oidc: Option<OidcSettings>,
}

/// An external token issuer. Its users are identified by issuer and subject.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct OidcSettings {
    /// The `iss` claim of its tokens.
    pub issuer: String,
    /// The `aud` claim of its tokens.
    pub audience: String,
    /// The URL of its keys, if not the one in its `/.well-known/openid-configuration`.
    pub jwks_url: Option<String>,
}

fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Secret>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.map(Secret::new))
}

impl Default for SignInSettings {
    fn default() -> Self {
        Self {
            secret: None,
            token_seconds: 15 * 60,
            audience: String::from("roundtable"),
            key_days: 90,
            oidc: None,
        }
    }
}

/// Live updates: limits, time-outs and the workers that relay changes.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LiveSettings {
    /// Live connections at the same time. Further ones displace others.
    pub connections_max: usize,
    /// Live connections of one account.
    pub account_connections_max: usize,
    /// Anonymous live connections of one network.
    pub network_connections_max: usize,
    /// The address at which other processes reach this one, if it reads the stream; by default that of
    /// `http.listen`.
    pub worker_url: Option<String>,
    /// Addresses of processes that read the stream and relay its changes, besides those that have
    /// registered themselves.
    pub workers: Vec<String>,
    /// Subscriptions of one connection.
    pub subscriptions_max: usize,
    /// Subscriptions of one account, on all its connections.
    pub account_subscriptions_max: usize,
    /// Subscriptions of one network.
    pub network_subscriptions_max: usize,
    /// Bytes of one message from a client.
    pub message_bytes_max: usize,
    /// Events queued for one client.
    pub buffer_max: usize,
    /// Seconds that a client may take to authenticate.
    pub init_seconds: u64,
    /// Seconds that a WebSocket may have no operation running.
    pub idle_seconds: u64,
    /// Seconds between keep-alive messages.
    pub keepalive_seconds: u64,
    /// Seconds that an event, or the next part of an answer, may wait unread before its client is
    /// disconnected.
    pub slow_seconds: u64,
}

impl Default for LiveSettings {
    fn default() -> Self {
        Self {
            connections_max: 5_000,
            account_connections_max: 50,
            network_connections_max: 1_000,
            worker_url: None,
            workers: Vec::new(),
            subscriptions_max: 50,
            account_subscriptions_max: 250,
            network_subscriptions_max: 2_000,
            message_bytes_max: 64 << 10,
            buffer_max: 32,
            init_seconds: 10,
            idle_seconds: 120,
            keepalive_seconds: 15,
            slow_seconds: 10,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LogSettings {
    /// A level, or levels by module: `info`, or `info,roundtable_server=debug`.
    pub level: String,
    pub format: LogFormat,
    /// One request in this many is logged, besides those that failed or were slow; 0 for only those.
    pub request_sample: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { level: String::from("info"), format: LogFormat::default(), request_sample: 100 }
    }
}

/// The search index of an API process.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SearchSettings {
    /// False if `search` is refused, and nothing is indexed.
    pub enabled: bool,
    /// The directory of the index, if not `search` in the store's. Each process needs its own.
    pub directory: Option<PathBuf>,
    /// Memory of the index for documents that are not committed yet, at least 16.
    pub writer_mb: usize,
    /// The index takes no more documents while its files are larger.
    pub index_mb_max: u64,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self { enabled: true, directory: None, writer_mb: 32, index_mb_max: 16_384 }
    }
}
