//! Opens the configured store, and finds the secret that seals its keys.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;
use futures::future::BoxFuture;
use roundtable_engine::{Engine, Options};
use roundtable_model::Secret;
use roundtable_table::{Clock, Store};

use crate::configuration::{ConfigurationError, StoreKind, StoreSettings};
use crate::optional_parts::DYNAMODB;
use crate::wiring::{MEDIA_DIRECTORY, StartError};

pub(crate) const SECRET_FILE: &str = "secret.key";
/// One of these is in every directory of a store.
const STORE_FILES: [&str; 2] = ["tree.mdb", "log"];
/// These may be in a directory before the store is: operators put the secret and media files there, file systems
/// have `lost+found`, and a first start may be interrupted.
const FILES_BEFORE_THE_STORE: [&str; 5] =
    [SECRET_FILE, MEDIA_DIRECTORY, "lost+found", "lock", "tree.mdb-lock"];

/// Connects to DynamoDB; `None` in a build without the feature `dynamodb`.
pub(crate) const CONNECT: Option<Connect> = cfg_select! {
    feature = "dynamodb" => {
        Some(|settings, clock| Box::pin(crate::dynamodb::connect(settings, clock)))
    }
    _ => { None }
};

pub(crate) type Connect = fn(&StoreSettings, Arc<dyn Clock>) -> BoxFuture<'_, Store>;

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
    match settings.kind {
        StoreKind::Embedded => {
            let data = settings.data.clone();
            check_directory(&data)?;
            // Replaying a long log blocks.
            let opening = tokio::task::spawn_blocking(move || Engine::open(data, options));
            let engine = opening.await.map_err(|_| StartError::Panicked)??;
            Ok(OpenStore { store: Store::new(engine.clone()), engine: Some(engine) })
        }
        StoreKind::Dynamodb => {
            let connect = DYNAMODB.require(CONNECT)?;
            Ok(OpenStore { store: connect(settings, options.clock).await, engine: None })
        }
    }
}

/// Rejects a directory that holds something else than a store: a server would mix its files with others.
fn check_directory(data: &Path) -> Result<(), StartError> {
    let entries = match fs::read_dir(data) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(ConfigurationError::file(data)(error).into()),
    };
    let mut foreign = None;
    for entry in entries {
        let name = entry.map_err(ConfigurationError::file(data))?.file_name();
        let name = name.to_string_lossy().into_owned();
        if STORE_FILES.contains(&name.as_str()) {
            return Ok(());
        }
        if !FILES_BEFORE_THE_STORE.contains(&name.as_str()) {
            foreign = Some(name);
        }
    }
    match foreign {
        Some(name) => {
            let problem = format!(
                "{} is not a store and not empty (it contains {name:?}): name a directory that is empty or \
                 does not exist",
                data.display()
            );
            Err(ConfigurationError::conflict("store.data", problem).into())
        }
        None => Ok(()),
    }
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
    fn a_directory_with_other_files_is_no_store() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        assert!(check_directory(&at("missing")).is_ok());
        assert!(check_directory(home.path()).is_ok(), "it is empty");
        for name in FILES_BEFORE_THE_STORE {
            fs::write(at(name), "").unwrap();
            assert!(check_directory(home.path()).is_ok(), "{name}");
        }
        fs::write(at("letters"), "dear ana").unwrap();
        let error = check_directory(home.path()).unwrap_err().to_string();
        assert!(error.starts_with("store.data: ") && error.contains("\"letters\""), "{error}");
        for name in STORE_FILES {
            fs::write(at(name), "").unwrap();
            assert!(check_directory(home.path()).is_ok(), "a store with a file of its owner");
            fs::remove_file(at(name)).unwrap();
        }
    }
}
