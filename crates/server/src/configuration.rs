//! How a server is configured: flags over the environment over a file over defaults. A bad value is
//! refused by its key, with what was expected and where it came from.

mod layers;
mod parts;
mod value;

use std::path::{Path, PathBuf};

use roundtable_domain::{Registration, Settings};
use serde::Deserialize;

use crate::tokens::INTERNAL;

pub use self::layers::Layers;
pub use self::parts::{
    GraphqlSettings, HttpSettings, LiveSettings, LogFormat, LogSettings, OidcSettings, Role,
    SignInSettings, StoreKind, StoreSettings, TlsSettings,
};

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// What this process, and the machine it is on, have to do with it.
    pub process: ProcessSettings,
    /// How the services behave, the same in every process.
    pub settings: Settings,
}

/// What is about this process: everything that is no service's concern.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProcessSettings {
    /// What this process does.
    pub role: Role,
    /// Where everything is kept.
    pub store: StoreSettings,
    /// How it is reached.
    pub http: HttpSettings,
    /// How much a request may ask for.
    pub graphql: GraphqlSettings,
    /// How people are known.
    pub sign_in: SignInSettings,
    /// How those are told who listen.
    pub live: LiveSettings,
    /// What is written down of what happens.
    pub log: LogSettings,
}

impl ProcessSettings {
    /// Refuses a process that would never hear of a change.
    pub(crate) fn check_workers(&self) -> Result<(), Misconfigured> {
        if self.role == Role::Api && self.live.workers.is_empty() {
            let why = "the role `api` reads no changes itself: expected the addresses of all processes \
                       that do, those with the role `worker` or `all`";
            return Err(Misconfigured::together("live.workers", why));
        }
        Ok(())
    }
}

/// The keys of [`ProcessSettings`]; all others are of the services' [`Settings`].
const PROCESS_KEYS: [&str; 7] = ["role", "store", "http", "graphql", "sign-in", "live", "log"];

/// Why a configuration is none.
#[derive(Debug, thiserror::Error)]
pub enum Misconfigured {
    /// A file that it names cannot be read.
    #[error("{}: {error}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// The file is no TOML.
    #[error("{}, line {line}: {problem}", path.display())]
    Syntax {
        /// Which file.
        path: PathBuf,
        /// Where. What stands there is not shown: it may be a secret.
        line: usize,
        /// Why not.
        problem: String,
    },
    /// A value is not what its key needs.
    #[error("{key}: {problem} (from {source_name})")]
    Value {
        /// The key, with dots.
        key: String,
        /// What is wrong, and what was expected.
        problem: String,
        /// The file, the variable or the flag.
        source_name: String,
    },
    /// Values that are fine by themselves, and not together.
    #[error("{key}: {problem}")]
    Together {
        /// The key to change.
        key: &'static str,
        /// Why.
        problem: String,
    },
}

impl Misconfigured {
    pub(crate) fn together(key: &'static str, problem: impl Into<String>) -> Self {
        Self::Together { key, problem: problem.into() }
    }

    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |error| Self::File { path: path.to_owned(), error }
    }
}

impl Configuration {
    /// What these layers come to.
    pub fn read(layers: Layers) -> Result<Self, Misconfigured> {
        let (process, settings) = layers.split(&PROCESS_KEYS);
        let configuration = Self { process: process.read()?, settings: settings.read()? };
        configuration.check()?;
        Ok(configuration)
    }

    /// Only where everything is kept and how the services behave, for whoever runs no server.
    pub fn installation(layers: Layers) -> Result<(StoreSettings, Settings), Misconfigured> {
        let (process, settings) = layers.split(&PROCESS_KEYS);
        Ok((process.read::<ProcessSettings>()?.store, settings.read()?))
    }

    fn check(&self) -> Result<(), Misconfigured> {
        let ProcessSettings { role, store, http, sign_in, .. } = &self.process;
        if store.kind == StoreKind::Embedded {
            if *role != Role::All {
                let why = format!(
                    "`{role}` needs the store `dynamodb`: an embedded store belongs to one process, \
                     which does everything",
                );
                return Err(Misconfigured::together("role", why));
            }
            if store.endpoint.is_some() || store.region.is_some() {
                let why = "`endpoint` and `region` are of the store `dynamodb`";
                return Err(Misconfigured::together("store", why));
            }
        } else if sign_in.secret.is_none() {
            let why = "the store `dynamodb` needs one, the same for all processes: 32 characters or \
                       more that nobody can guess";
            return Err(Misconfigured::together("sign-in.secret", why));
        }
        self.process.check_workers()?;
        if sign_in.secret.as_ref().is_some_and(|secret| secret.expose().chars().count() < 32) {
            let why = "expected 32 characters or more that nobody can guess";
            return Err(Misconfigured::together("sign-in.secret", why));
        }
        if sign_in.audience == INTERNAL {
            let why = format!("`{INTERNAL}` is for the tokens that processes show each other");
            return Err(Misconfigured::together("sign-in.audience", why));
        }
        if sign_in.oidc.is_some() && self.settings.registration == Registration::Open {
            let why = "with `sign-in.oidc` expected `invitation` or `closed`: whoever signs up with an \
                       address of somebody else's would have the account that their token opens";
            return Err(Misconfigured::together("registration", why));
        }
        if http.bodies_bytes_max < http.body_bytes_max {
            let why = "expected room for one body at least: `body-bytes-max`";
            return Err(Misconfigured::together("http.bodies-bytes-max", why));
        }
        if http.tls.certificate.is_some() != http.tls.key.is_some() {
            let why = "`certificate` and `key` belong together";
            return Err(Misconfigured::together("http.tls", why));
        }
        Ok(())
    }
}
