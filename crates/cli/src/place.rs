//! Which store a command is about. Opens it, and makes no tables.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, ValueEnum};
use roundtable_dynamo::{Config, Dynamo};
use roundtable_engine::{Engine, Options};
use roundtable_server::{Layers, StoreKind, StoreSettings};
use roundtable_table::Store;

use crate::Cli;
use crate::failure::Failure;
use crate::settings::named;

/// Which store.
#[derive(Args, Debug)]
pub(crate) struct Place {
    /// Where the tables live [default: embedded]
    #[arg(long, value_enum)]
    store: Option<Kind>,
    /// The directory of the embedded store [default: data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The server, for --store dynamodb; without it, whatever the AWS environment says
    ///
    /// Anything that speaks DynamoDB's API will do. One on this machine needs no credentials.
    #[arg(long, value_name = "URL", value_parser = address)]
    endpoint: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// In a directory, in this process
    Embedded,
    /// In Amazon DynamoDB, or a server that speaks its API
    Dynamodb,
}

/// A store that is open.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The store.
    pub(crate) store: Store,
    /// What is behind it, if it is in this process.
    pub(crate) engine: Option<Engine>,
}

impl Place {
    /// What the flags say, over everything else.
    pub(crate) fn over(&self, layers: Layers) -> Result<Layers, Failure> {
        let data = self.data.as_ref().map(|data| data.display().to_string());
        let layers = layers
            .flag("--data", "store.data", data)?
            .flag("--store", "store.kind", self.store.map(named))?
            .flag("--endpoint", "store.endpoint", self.endpoint.clone())?;
        Ok(layers)
    }

    /// Refuses flags that do not go together with this kind of store.
    pub(crate) fn check(&self, kind: StoreKind) -> Result<(), Failure> {
        match (kind, &self.data, &self.endpoint) {
            (StoreKind::Embedded, _, Some(_)) => {
                Err(conflict("--endpoint names a server: it goes with --store dynamodb"))
            }
            (StoreKind::Dynamodb, Some(_), _) => {
                Err(conflict("--data names a directory: it goes with --store embedded"))
            }
            _ => Ok(()),
        }
    }
}

/// Opens a store; an embedded one with these options, and makes its directory if need be.
pub(crate) async fn open(settings: &StoreSettings, options: Options) -> Result<Opened, Failure> {
    if settings.kind == StoreKind::Embedded {
        let engine = Engine::open(&settings.data, options)?;
        return Ok(Opened { store: Store::new(engine.clone()), engine: Some(engine) });
    }
    let store = Store::new(Dynamo::connect(config(settings).await));
    Ok(Opened { store, engine: None })
}

fn conflict(message: &str) -> Failure {
    Failure::Usage(Cli::command().error(ErrorKind::ArgumentConflict, message))
}

async fn config(settings: &StoreSettings) -> Config {
    let config = match settings.endpoint.as_deref() {
        None => Config::from_env().await,
        // Servers for development take any credentials; people who run them have none to give.
        Some(endpoint) if is_local(endpoint) && std::env::var_os(ACCESS_KEY).is_none() => {
            Config::local(endpoint)
        }
        Some(endpoint) => Config::from_env().await.endpoint(endpoint),
    };
    match &settings.region {
        Some(region) => config.region(region),
        None => config,
    }
}

const ACCESS_KEY: &str = "AWS_ACCESS_KEY_ID";

fn address(text: &str) -> Result<String, String> {
    match host(text) {
        Some(host) if !host.is_empty() => Ok(text.to_owned()),
        _ => Err(String::from("expected an address such as http://127.0.0.1:8000")),
    }
}

fn host(address: &str) -> Option<&str> {
    let rest = address.strip_prefix("http://").or_else(|| address.strip_prefix("https://"))?;
    let server = rest.split('/').next().unwrap_or_default();
    let port = server.rfind(':').filter(|at| !server.get(*at..).unwrap_or_default().contains(']'));
    port.map_or(Some(server), |at| server.get(..at))
}

fn is_local(address: &str) -> bool {
    host(address).is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_a_host() {
        for good in ["http://127.0.0.1:8000", "https://dynamodb.eu-west-1.amazonaws.com/"] {
            assert_eq!(address(good), Ok(good.to_owned()));
        }
        for bad in ["", "localhost:8000", "ftp://localhost", "http://", "http://:8000"] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_this_machine_is_local() {
        for local in ["http://localhost", "http://127.0.0.1:8000/", "http://[::1]:8000"] {
            assert!(is_local(local), "{local}");
        }
        for remote in ["http://localhost.example.org", "http://10.0.0.1:8000", "http://[::2]:1"] {
            assert!(!is_local(remote), "{remote}");
        }
    }
}
