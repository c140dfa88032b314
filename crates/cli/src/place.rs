//! Which store a command is about, as its flags say.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, ValueEnum};
use hyper::Uri;
use roundtable_server::{Layers, StoreKind};

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

fn conflict(message: &str) -> Failure {
    Failure::Usage(Cli::command().error(ErrorKind::ArgumentConflict, message))
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
