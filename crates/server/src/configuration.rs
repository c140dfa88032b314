//! Server configuration: flags override the environment, which overrides a file, which overrides
//! defaults. A bad value is reported with its key, its source and what was expected.

mod layers;
mod process_settings;
mod raw_value;

use std::path::{Path, PathBuf};

use roundtable_domain::limits::UPLOAD_GRACE;
use roundtable_domain::{MediaSettings, Settings};
use roundtable_media::{OPEN_BUCKET, OpenBucket};
use roundtable_model::Tier;
use serde::Deserialize;

use crate::client_key::CLIENT_SHARE;
use crate::optional_parts::{DYNAMODB, S3};
use crate::store::{CONNECT, Connect};
use crate::tokens::INTERNAL_AUDIENCE;

pub use self::layers::Layers;
pub use self::process_settings::{
    GraphqlSettings, HttpSettings, LiveSettings, LogFormat, LogSettings, OidcSettings, ProcessRole,
    SearchSettings, SignInSettings, StoreKind, StoreSettings, TlsSettings,
};

#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// Settings of this process and its machine.
    pub process: ProcessSettings,
    /// Settings of the services, the same in every process.
    pub settings: Settings,
}

/// Settings that concern the process rather than the services.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProcessSettings {
    pub role: ProcessRole,
    pub store: StoreSettings,
    pub http: HttpSettings,
    pub graphql: GraphqlSettings,
    pub sign_in: SignInSettings,
    pub live: LiveSettings,
    pub search: SearchSettings,
    pub log: LogSettings,
}

/// The keys of [`ProcessSettings`]; all others belong to the services' [`Settings`].
const PROCESS_KEYS: [&str; 8] =
    ["role", "store", "http", "graphql", "sign-in", "live", "search", "log"];

/// The reason that the configuration was rejected.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurationError {
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("{}, line {line}: {problem}", path.display())]
    Syntax {
        path: PathBuf,
        /// The text of the line is not shown: it may be a secret.
        line: usize,
        problem: String,
    },
    #[error("{key}: {problem} (from {source_name})")]
    Value {
        /// The key, with dots.
        key: String,
        /// The problem, and the expected value.
        problem: String,
        /// The file, environment variable or flag that the value comes from.
        source_name: String,
    },
    /// Values that are valid on their own but not together.
    #[error("{key}: {problem}")]
    Conflict {
        /// The key to change.
        key: &'static str,
        problem: String,
    },
    #[error(
        "{key}: this program was built without {part}; build one that has it with \
         `cargo build --profile dist --features dynamodb,s3`"
    )]
    NotBuiltIn {
        /// The key that asks for the missing part.
        key: &'static str,
        /// The name of the missing part.
        part: &'static str,
    },
}

impl ConfigurationError {
    pub(crate) fn conflict(key: &'static str, problem: impl Into<String>) -> Self {
        Self::Conflict { key, problem: problem.into() }
    }

    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |error| Self::File { path: path.to_owned(), error }
    }
}

impl Configuration {
    /// Builds the configuration from its layers.
    pub fn read(layers: Layers) -> Result<Self, ConfigurationError> {
        layers.check_limits()?;
        let (process, settings) = layers.split(&PROCESS_KEYS);
        let configuration = Self { process: process.read()?, settings: settings.read()? };
        // First: no other advice helps a program that has to be built again.
        configuration.check_optional_parts(CONNECT, OPEN_BUCKET)?;
        configuration.check()?;
        Ok(configuration)
    }

    /// Reads only the settings of the store, the search index and the services, for commands that run no
    /// server.
    pub fn installation(
        layers: Layers,
    ) -> Result<(StoreSettings, SearchSettings, Settings), ConfigurationError> {
        let (process, settings) = layers.split(&PROCESS_KEYS);
        let ProcessSettings { store, search, .. } = process.read()?;
        Ok((store, search, settings.read()?))
    }

    /// Rejects settings that need a part which this build left out (`None`).
    fn check_optional_parts(
        &self,
        connect: Option<Connect>,
        open_bucket: Option<OpenBucket>,
    ) -> Result<(), ConfigurationError> {
        if self.process.store.kind == StoreKind::Dynamodb {
            DYNAMODB.require(connect)?;
        }
        if self.settings.media.s3.is_some() {
            S3.require(open_bucket)?;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), ConfigurationError> {
        let ProcessSettings { role, store, http, graphql, sign_in, .. } = &self.process;
        if store.kind == StoreKind::Embedded {
            if *role != ProcessRole::All {
                let problem = format!(
                    "`{role}` needs `store.kind = \"dynamodb\"`: an embedded store belongs to one process, \
                     whose role is `all`",
                );
                return Err(ConfigurationError::conflict("role", problem));
            }
            if store.endpoint.is_some() || store.region.is_some() {
                let problem = "`endpoint` and `region` need `kind = \"dynamodb\"`: remove them, or change the kind";
                return Err(ConfigurationError::conflict("store", problem));
            }
        } else if sign_in.secret.is_none() {
            let problem = "required with the store `dynamodb`: set the same random secret of 32 characters \
                           or more for all processes";
            return Err(ConfigurationError::conflict("sign-in.secret", problem));
        }
        if sign_in.secret.as_ref().is_some_and(|secret| secret.expose().chars().count() < 32) {
            let problem = "expected 32 characters or more, chosen at random";
            return Err(ConfigurationError::conflict("sign-in.secret", problem));
        }
        if sign_in.audience == INTERNAL_AUDIENCE {
            let problem = format!(
                "`{INTERNAL_AUDIENCE}` is reserved for tokens between processes: choose another"
            );
            return Err(ConfigurationError::conflict("sign-in.audience", problem));
        }
        if http.bodies_bytes_max < http.body_bytes_max {
            let problem =
                "expected room for one body at least: raise it to `body-bytes-max` or more";
            return Err(ConfigurationError::conflict("http.bodies-bytes-max", problem));
        }
        if graphql.answers_bytes_max < graphql.answer_bytes_max.saturating_mul(CLIENT_SHARE) {
            let problem = format!(
                "expected room for the longest answer in the share of one client, a quarter: raise it to \
                 {CLIENT_SHARE} times `answer-bytes-max` or more"
            );
            return Err(ConfigurationError::conflict("graphql.answers-bytes-max", problem));
        }
        if graphql.reads_bytes_max < graphql.read_bytes_max {
            let problem =
                "expected room for one request at least: raise it to `read-bytes-max` or more";
            return Err(ConfigurationError::conflict("graphql.reads-bytes-max", problem));
        }
        if http.tls.certificate.is_some() != http.tls.key.is_some() {
            let problem = "`certificate` and `key` must be set together";
            return Err(ConfigurationError::conflict("http.tls", problem));
        }
        check_media(&self.settings.media)?;
        check_tiers(&self.settings)
    }
}

/// Rejects limits of uploads that contradict each other.
fn check_media(media: &MediaSettings) -> Result<(), ConfigurationError> {
    if media.directory.is_some() && media.s3.is_some() {
        let problem = "files are either in a directory or in `media.s3`: remove one of the two";
        return Err(ConfigurationError::conflict("media.directory", problem));
    }
    if media.account_bytes_max < media.image_bytes_max.max(media.video_bytes_max) {
        let problem = "expected room for the largest file: raise it to `image-bytes-max` and \
                       `video-bytes-max` or more";
        return Err(ConfigurationError::conflict("media.account-bytes-max", problem));
    }
    if media.transfer_seconds > UPLOAD_GRACE.as_secs() {
        let problem = format!(
            "expected at most {}: afterwards, an upload that began in time has expired",
            UPLOAD_GRACE.as_secs()
        );
        return Err(ConfigurationError::conflict("media.transfer-seconds", problem));
    }
    Ok(())
}

/// Rejects a tier whose users cannot have the largest file that they may upload.
fn check_tiers(settings: &Settings) -> Result<(), ConfigurationError> {
    for (tier, key) in
        [(Tier::Free, "tiers.free.account-bytes-max"), (Tier::Pro, "tiers.pro.account-bytes-max")]
    {
        let limits = settings.limits_of(tier);
        if limits.account_bytes_max < limits.image_bytes_max.max(limits.video_bytes_max) {
            let problem = "expected room for the largest file of the tier: raise it to its \
                           `image-bytes-max` and `video-bytes-max` or more";
            return Err(ConfigurationError::conflict(key, problem));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use roundtable_domain::S3Settings;

    use super::*;

    #[test]
    fn a_build_without_a_part_refuses_its_setting_and_names_the_command_that_builds_it() {
        let mut dynamodb = Configuration::default();
        dynamodb.process.store.kind = StoreKind::Dynamodb;
        let mut s3 = Configuration::default();
        s3.settings.media.s3 = Some(S3Settings::default());
        for (configuration, expected) in [
            (&dynamodb, "store.kind: this program was built without DynamoDB"),
            (&s3, "media.s3: this program was built without S3"),
        ] {
            let refused = configuration.check_optional_parts(None, None).unwrap_err().to_string();
            let command = "`cargo build --profile dist --features dynamodb,s3`";
            assert_eq!(refused, format!("{expected}; build one that has it with {command}"));
            configuration.check_optional_parts(CONNECT, OPEN_BUCKET).unwrap();
        }
        Configuration::default().check_optional_parts(None, None).unwrap();
    }
}
