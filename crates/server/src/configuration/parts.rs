//! The keys that are about a process. Everything has a default.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use roundtable_graphql::Limits;
use roundtable_model::Secret;
use serde::{Deserialize, Deserializer};

/// What a process does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Everything.
    #[default]
    All,
    /// Answers requests.
    Api,
    /// Works on what follows from changes.
    Worker,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "all",
            Self::Api => "api",
            Self::Worker => "worker",
        })
    }
}

/// Where everything is kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct StoreSettings {
    /// In which kind of store.
    pub kind: StoreKind,
    /// The directory of the embedded store, of its secret, and of files that people send.
    pub data: PathBuf,
    /// A server that speaks DynamoDB's API, if not Amazon's.
    pub endpoint: Option<String>,
    /// The AWS region, if not that of the environment.
    pub region: Option<String>,
    /// Where the embedded store copies complete files of its log to, for restores to any time.
    pub archive: Option<PathBuf>,
}

/// Kinds of stores.
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
        let data = PathBuf::from("data");
        Self { kind: StoreKind::default(), data, endpoint: None, region: None, archive: None }
    }
}

/// How a process is reached.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct HttpSettings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// How clients reach it, if not there: what addresses and tokens begin with.
    pub public_url: Option<String>,
    /// Connections at the same time; others wait.
    pub connections_max: usize,
    /// Bytes of a request's body, files aside.
    pub body_bytes_max: usize,
    /// Bytes of the bodies of all requests under way; what is more is told to come again.
    pub bodies_bytes_max: usize,
    /// Requests in one body.
    pub batch_max: usize,
    /// How long a request may take, in seconds.
    pub request_seconds: u64,
    /// How long what is under way may take once the process is to stop, in seconds.
    pub drain_seconds: u64,
    /// Whose pages may ask: origins such as `https://app.example.org`, or `*` for everybody's.
    pub cors_origins: Vec<String>,
    /// Whether answers are compressed for those who can read that.
    pub compression: bool,
    /// How many proxies of the installation's own a request comes through: that many of the addresses in
    /// `x-forwarded-for` are believed.
    pub proxies: usize,
    /// Whether `/metrics` is there.
    pub metrics: bool,
    /// Encryption.
    pub tls: TlsSettings,
}

/// Encryption; without it, in plain text.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TlsSettings {
    /// The file with the certificate and those that vouch for it, in PEM.
    pub certificate: Option<PathBuf>,
    /// The file with its key, in PEM.
    pub key: Option<PathBuf>,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 4000)),
            public_url: None,
            connections_max: 10_000,
            body_bytes_max: 1 << 20,
            bodies_bytes_max: 64 << 20,
            batch_max: Limits::default().batch_max,
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

/// How much a request may ask for.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct GraphqlSettings {
    /// Fields within fields.
    pub depth_max: usize,
    /// Fields altogether, those of lists counted by the length of a page.
    pub cost_max: u64,
    /// Fields under a name of the client's choice.
    pub aliases_max: usize,
    /// Words and signs of a document.
    pub tokens_max: usize,
    /// Directives of a document.
    pub directives_max: usize,
    /// Whether clients may ask what there is to ask.
    pub introspection: bool,
    /// Whether there is a page to try things out on.
    pub console: bool,
    /// Whether clients may ask what an answer cost.
    pub xray: bool,
}

impl Default for GraphqlSettings {
    fn default() -> Self {
        let Limits { depth_max, cost_max, aliases_max, tokens_max, directives_max, .. } =
            Limits::default();
        Self {
            depth_max,
            cost_max,
            aliases_max,
            tokens_max,
            directives_max,
            introspection: true,
            console: true,
            xray: false,
        }
    }
}

/// How people are known.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SignInSettings {
    /// What the keys are sealed with that all processes share. An embedded store makes one of its own.
    #[serde(deserialize_with = "secret")]
    pub secret: Option<Secret>,
    /// How long an access token is good, in seconds.
    pub token_seconds: u32,
    /// Whom access tokens are for, as they say themselves.
    pub audience: String,
    /// For how long access tokens are signed with one key, in days.
    pub key_days: u32,
    /// Others whose tokens are believed.
    pub oidc: Option<OidcSettings>,
}

/// An issuer of tokens that is believed: its people are known here by the e-mail address it vouches for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct OidcSettings {
    /// What its tokens call it.
    pub issuer: String,
    /// What its tokens call us.
    pub audience: String,
    /// Where its keys are, if not where its `/.well-known/openid-configuration` says.
    pub jwks_url: Option<String>,
}

/// Reads what must not be shown again.
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

/// How those are told who listen.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LiveSettings {
    /// Connections that listen, at the same time.
    pub connections_max: usize,
    /// Where the other processes of the installation are that work on what follows from changes: they
    /// tell of these.
    pub workers: Vec<String>,
    /// Subscriptions of one connection.
    pub subscriptions_max: usize,
    /// Bytes of one message of a client's.
    pub message_bytes_max: usize,
    /// Events that wait for one client.
    pub buffer_max: usize,
    /// How long a client may take to say who it is, in seconds.
    pub init_seconds: u64,
    /// How often a quiet connection is asked whether it is still there, in seconds.
    pub keepalive_seconds: u64,
    /// How long a client may leave an event unread before it is given up, in seconds.
    pub slow_seconds: u64,
}

impl Default for LiveSettings {
    fn default() -> Self {
        Self {
            connections_max: 5_000,
            workers: Vec::new(),
            subscriptions_max: 50,
            message_bytes_max: 64 << 10,
            buffer_max: 32,
            init_seconds: 10,
            keepalive_seconds: 15,
            slow_seconds: 10,
        }
    }
}

/// What is written down of what happens.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LogSettings {
    /// Of which importance, by part of the program: `info`, or `info,roundtable_server=debug`.
    pub level: String,
    /// In which form.
    pub format: LogFormat,
}

/// The form of what is written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// A JSON object in each line.
    Json,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { level: String::from("info"), format: LogFormat::default() }
    }
}
