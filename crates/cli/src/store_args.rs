//! Flags that select a store.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, ValueEnum};
use hyper::Uri;
use roundtable_server::{Layers, StoreKind};

use crate::Cli;
use crate::config_args::choice_name;
use crate::error::CommandError;

#[derive(Args, Debug)]
pub(crate) struct StoreArgs {
    /// The kind of store [default: embedded]
    #[arg(long, value_enum)]
    store: Option<StoreKindArg>,
    /// The directory of the embedded store [default: data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The URL of the server, for --store dynamodb [default: as the AWS environment says]
    ///
    /// Any server that speaks DynamoDB's API works. One on this machine needs no credentials.
    #[arg(long, value_name = "URL", value_parser = address)]
    endpoint: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum StoreKindArg {
    /// In a directory, opened by this process
    Embedded,
    /// In Amazon DynamoDB, or a server that speaks its API
    Dynamodb,
}

impl StoreArgs {
    /// Adds the flags to the configuration.
    pub(crate) fn apply_to(&self, layers: Layers) -> Result<Layers, CommandError> {
        let data = self.data.as_ref().map(|data| data.display().to_string());
        let layers = layers
            .flag("--data", "store.data", data)?
            .flag("--store", "store.kind", self.store.map(choice_name))?
            .flag("--endpoint", "store.endpoint", self.endpoint.clone())?;
        Ok(layers)
    }

    /// Rejects flags that do not fit this kind of store.
    pub(crate) fn check(&self, kind: StoreKind) -> Result<(), CommandError> {
        match (kind, &self.data, &self.endpoint) {
            (StoreKind::Embedded, _, Some(_)) => {
                Err(conflict("--endpoint names a server: it needs --store dynamodb"))
            }
            (StoreKind::Dynamodb, Some(_), _) => {
                Err(conflict("--data names a directory: it needs --store embedded"))
            }
            _ => Ok(()),
        }
    }
}

fn conflict(message: &str) -> CommandError {
    CommandError::Usage(Cli::command().error(ErrorKind::ArgumentConflict, message))
}

fn address(text: &str) -> Result<String, String> {
    let is_address = text.parse::<Uri>().is_ok_and(|uri| {
        let has_host = uri.host().is_some_and(|host| !host.is_empty());
        matches!(uri.scheme_str(), Some("http" | "https")) && has_host
    });
    if is_address {
        return Ok(text.to_owned());
    }
    Err(String::from("expected an address such as http://127.0.0.1:8000"))
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
}
