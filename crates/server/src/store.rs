//! Opens the configured store, and finds the secret that seals its keys.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use data_encoding::BASE64URL_NOPAD;
use roundtable_dynamo::{Config, Dynamo};
use roundtable_engine::{Engine, Options};
use roundtable_model::Secret;
use roundtable_table::Store;

use crate::configuration::{ConfigurationError, StoreKind, StoreSettings};
use crate::wiring::StartError;

pub(crate) const SECRET_FILE: &str = "secret.key";
const ACCESS_KEY_VARIABLE: &str = "AWS_ACCESS_KEY_ID";

#[derive(Debug)]
pub struct OpenStore {
    pub store: Store,
    /// The engine of an embedded store.
    pub engine: Option<Engine>,
}

/// Opens the configured store with the options' clock. An embedded store uses all of the options, and
/// its directory is created if needed. Creates no tables.
pub async fn open_store(
    settings: &StoreSettings,
    options: Options,
) -> Result<OpenStore, StartError> {
    if settings.kind == StoreKind::Embedded {
        let data = settings.data.clone();
        // Replaying a long log blocks.
        let opening = tokio::task::spawn_blocking(move || Engine::open(data, options));
        let engine = opening.await.map_err(|_| StartError::Panicked)??;
        return Ok(OpenStore { store: Store::new(engine.clone()), engine: Some(engine) });
    }
    let config = match &settings.endpoint {
        None => Config::from_env().await,
        // Development servers accept any credentials, and their users often have none.
        Some(endpoint) if is_local(endpoint) && std::env::var_os(ACCESS_KEY_VARIABLE).is_none() => {
            Config::local(endpoint)
        }
        Some(endpoint) => Config::from_env().await.endpoint(endpoint),
    };
    let config = match &settings.region {
        Some(region) => config.region(region),
        None => config,
    };
    let store = Store::new(Dynamo::connect(config.clock(options.clock)));
    Ok(OpenStore { store, engine: None })
}

fn is_local(endpoint: &str) -> bool {
    let uri = endpoint.parse::<hyper::Uri>();
    uri.is_ok_and(|uri| matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]")))
}

/// The secret of an embedded store, generated on first use and readable by this user alone.
pub(crate) fn embedded_secret(data: &Path) -> Result<Secret, StartError> {
    let path = data.join(SECRET_FILE);
    let failed = |error| StartError::Configuration(ConfigurationError::file(&path)(error));
    let mut options = fs::OpenOptions::new();
    match options.write(true).create_new(true).mode(0o600).open(&path) {
        Ok(mut file) => {
            let mut bytes = [0; 32];
            aws_lc_rs::rand::fill(&mut bytes).map_err(|_| StartError::Entropy)?;
            let secret = BASE64URL_NOPAD.encode(&bytes);
            file.write_all(secret.as_bytes()).map_err(failed)?;
            file.sync_all().map_err(failed)?;
            fs::File::open(data).and_then(|data| data.sync_all()).map_err(failed)?;
            Ok(Secret::new(secret))
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let secret = fs::read_to_string(&path).map_err(failed)?;
            if secret.trim().len() < 32 {
                let problem = format!("{} is incomplete: restore it from a backup", path.display());
                return Err(ConfigurationError::conflict("sign-in.secret", problem).into());
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
