//! Opens the store that is configured, and finds the secret that its keys are sealed with.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use data_encoding::BASE64URL_NOPAD;
use roundtable_dynamo::{Config, Dynamo};
use roundtable_engine::{Engine, Options};
use roundtable_model::Secret;
use roundtable_table::Store;

use crate::configuration::{Misconfigured, StoreKind, StoreSettings};
use crate::wiring::StartError;

/// Where an embedded store keeps its secret.
pub(crate) const SECRET: &str = "secret.key";
/// What names who asks, where there is nobody to say so.
const ACCESS_KEY: &str = "AWS_ACCESS_KEY_ID";

/// A store that is open.
#[derive(Debug)]
pub struct Opened {
    /// The store.
    pub store: Store,
    /// What is behind it, if it is in this process.
    pub engine: Option<Engine>,
}

/// Opens the store that is configured, at the time of the options' clock; an embedded one with all of
/// these options, and makes its directory if need be. Makes no tables.
pub async fn open_store(settings: &StoreSettings, options: Options) -> Result<Opened, StartError> {
    if settings.kind == StoreKind::Embedded {
        let data = settings.data.clone();
        // Replaying a log takes as long as it takes.
        let opening = tokio::task::spawn_blocking(move || Engine::open(data, options));
        let engine = opening.await.map_err(|_| StartError::Panicked)??;
        return Ok(Opened { store: Store::new(engine.clone()), engine: Some(engine) });
    }
    let config = match &settings.endpoint {
        None => Config::from_env().await,
        // Servers for development take any credentials; people who run them have none to give.
        Some(endpoint) if is_local(endpoint) && std::env::var_os(ACCESS_KEY).is_none() => {
            Config::local(endpoint)
        }
        Some(endpoint) => Config::from_env().await.endpoint(endpoint),
    };
    let config = match &settings.region {
        Some(region) => config.region(region),
        None => config,
    };
    let store = Store::new(Dynamo::connect(config.clock(options.clock)));
    Ok(Opened { store, engine: None })
}

fn is_local(endpoint: &str) -> bool {
    let uri = endpoint.parse::<hyper::Uri>();
    uri.is_ok_and(|uri| matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]")))
}

/// The secret of an embedded store, made when there is none: for this user alone.
pub(crate) fn secret(data: &Path) -> Result<Secret, StartError> {
    let path = data.join(SECRET);
    let failed = |error| StartError::Configuration(Misconfigured::file(&path)(error));
    let mut options = fs::OpenOptions::new();
    match options.write(true).create_new(true).mode(0o600).open(&path) {
        Ok(mut file) => {
            let mut bytes = [0; 32];
            aws_lc_rs::rand::fill(&mut bytes).map_err(|_| StartError::Chance)?;
            let secret = BASE64URL_NOPAD.encode(&bytes);
            file.write_all(secret.as_bytes()).map_err(failed)?;
            file.sync_all().map_err(failed)?;
            fs::File::open(data).and_then(|data| data.sync_all()).map_err(failed)?;
            Ok(Secret::new(secret))
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let secret = fs::read_to_string(&path).map_err(failed)?;
            if secret.trim().len() < 32 {
                let why = format!("{} is not whole: restore it", path.display());
                return Err(Misconfigured::together("sign-in.secret", why).into());
            }
            Ok(Secret::new(secret.trim()))
        }
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_local() {
        for local in ["http://localhost", "http://127.0.0.1:8000/", "http://[::1]:8000"] {
            assert!(is_local(local), "{local}");
        }
        for far in ["https://dynamodb.eu-west-1.amazonaws.com", "http://127.0.0.1.example.com"] {
            assert!(!is_local(far), "{far}");
        }
    }
}
