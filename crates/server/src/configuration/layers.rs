//! The layers of a configuration, and the source of each value.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::ConfigurationError;
use super::raw_value::RawValue;

const PREFIX: &str = "ROUNDTABLE_";
/// Separates the parts of a key in a variable's name.
const SEPARATOR: &str = "__";
/// The suffix of a key that names a file to read the secret from.
const FILE_SUFFIX: &str = "-file";
/// The keys that can be read from a file of their own.
const SECRET_KEYS: [&str; 3] = ["sign-in.secret", "hook.secret", "media.s3.secret-access-key"];

/// The keys outside any table.
const TOP_LEVEL_KEYS: [&str; 6] =
    ["role", "registration", "likes", "moderation", "session-days", "timeline-days"];

/// The endings of limits and times, with which nothing works if they are zero.
const LIMIT_SUFFIXES: [&str; 7] =
    ["-max", "-seconds", "-days", "-burst", "-per-minute", "-per-hour", "-at-once"];
/// Those that may be zero: without a time to finish, HSTS, walks, promotion, experience, invitations of
/// users, live connections, or directives.
const ZERO_KEYS: [&str; 10] = [
    "http.drain-seconds",
    "http.tls.hsts-seconds",
    "feed.walk-max",
    "feed.promotion.followers-max",
    "quests.easy-xp-max",
    "quests.medium-xp-max",
    "quests.hard-xp-max",
    "invitations.open-max",
    "live.connections-max",
    "graphql.directives-max",
];

/// Values by key; later layers override earlier ones.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    values: BTreeMap<String, RawValue>,
    sources: BTreeMap<String, String>,
    unknown_variables: Vec<String>,
}

impl Layers {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a TOML file.
    pub fn file(mut self, path: &Path) -> Result<Self, ConfigurationError> {
        let text = fs::read_to_string(path).map_err(ConfigurationError::file(path))?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = 1 + before.matches('\n').count();
            ConfigurationError::Syntax {
                path: path.to_owned(),
                line,
                problem: error.message().to_owned(),
            }
        })?;
        let source = path.display().to_string();
        for (key, value) in flatten(table) {
            self.insert(&key, RawValue::Typed(value), &source)?;
        }
        Ok(self)
    }

    /// Adds environment variables.
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigurationError> {
        let mut variables: Vec<_> = variables.into_iter().collect();
        variables.sort();
        for (name, text) in variables {
            let Some(key) = name.strip_prefix(PREFIX) else { continue };
            let key = key.to_ascii_lowercase().replace(SEPARATOR, ".").replace('_', "-");
            // Tests and scripts have variables of their own under the same prefix.
            if !key.contains('.') && !TOP_LEVEL_KEYS.contains(&key.as_str()) {
                self.unknown_variables.push(name);
                continue;
            }
            self.insert(&key, RawValue::Text(text), &name)?;
        }
        Ok(self)
    }

    /// Returns the variables with our prefix that are no settings, such as one with `_` in place of `__`.
    pub fn unknown_variables(&self) -> &[String] {
        &self.unknown_variables
    }

    /// Rejects limits of zero.
    pub(super) fn check_limits(&self) -> Result<(), ConfigurationError> {
        let is_limit = |key: &str| {
            LIMIT_SUFFIXES.iter().any(|suffix| key.ends_with(suffix)) && !ZERO_KEYS.contains(&key)
        };
        let is_zero = |(key, _): &(&String, &String)| {
            is_limit(key) && self.value(key).is_some_and(RawValue::is_zero)
        };
        match self.sources.iter().find(is_zero) {
            Some((key, source)) => Err(ConfigurationError::Value {
                key: key.clone(),
                problem: String::from("expected 1 or more: with 0, nothing would get through"),
                source_name: source.clone(),
            }),
            None => Ok(()),
        }
    }

    fn value(&self, key: &str) -> Option<&RawValue> {
        let mut parts = key.split('.');
        let first = self.values.get(parts.next()?)?;
        parts.try_fold(first, |value, part| match value {
            RawValue::Table(table) => table.get(part),
            RawValue::Text(_) | RawValue::Typed(_) => None,
        })
    }

    /// Adds a command-line flag.
    pub fn flag(
        mut self,
        name: &str,
        key: &str,
        value: Option<impl Into<String>>,
    ) -> Result<Self, ConfigurationError> {
        if let Some(value) = value {
            self.insert(key, RawValue::Text(value.into()), name)?;
        }
        Ok(self)
    }

    fn insert(
        &mut self,
        key: &str,
        value: RawValue,
        source: &str,
    ) -> Result<(), ConfigurationError> {
        let secret = key.strip_suffix(FILE_SUFFIX).filter(|key| SECRET_KEYS.contains(key));
        let (key, value) = match (secret, value) {
            (Some(secret), RawValue::Text(path) | RawValue::Typed(toml::Value::String(path))) => {
                let path = PathBuf::from(path);
                let text = fs::read_to_string(&path).map_err(ConfigurationError::file(&path))?;
                (secret, RawValue::Text(text.trim_end_matches(['\r', '\n']).to_owned()))
            }
            (_, value) => (key, value),
        };
        self.sources.insert(key.to_owned(), source.to_owned());
        let mut parts: Vec<&str> = key.split('.').collect();
        let Some(last) = parts.pop() else { return Ok(()) };
        let mut at = &mut self.values;
        for part in parts {
            let table = || RawValue::Table(BTreeMap::new());
            let next = at.entry(part.to_owned()).or_insert_with(table);
            if !matches!(next, RawValue::Table(_)) {
                *next = table();
            }
            let RawValue::Table(next) = next else { return Ok(()) };
            at = next;
        }
        at.insert(last.to_owned(), value);
        Ok(())
    }

    /// Splits off the values of selected top-level keys.
    pub(super) fn split(mut self, keys: &[&str]) -> (Self, Self) {
        let is_selected = |key: &String| keys.contains(&key.as_str());
        let (mut selected, sources) = (BTreeMap::new(), self.sources.clone());
        for key in self.values.keys().filter(|key| is_selected(key)).cloned().collect::<Vec<_>>() {
            if let Some(value) = self.values.remove(&key) {
                selected.insert(key, value);
            }
        }
        (Self { values: selected, sources, unknown_variables: Vec::new() }, self)
    }

    pub(super) fn read<T: DeserializeOwned>(self) -> Result<T, ConfigurationError> {
        let Self { values, sources, .. } = self;
        serde_path_to_error::deserialize(RawValue::Table(values)).map_err(|error| {
            let key = error.path().to_string();
            let is_above = |from: &&String| {
                **from == key || from.starts_with(&format!("{key}.")) || key == "."
            };
            let from = sources.keys().find(is_above).and_then(|from| sources.get(from));
            ConfigurationError::Value {
                source_name: from.cloned().unwrap_or_else(|| String::from("the configuration")),
                problem: plain_types(&error.inner().to_string()),
                key,
            }
        })
    }
}

/// Flattens a table into values with dotted keys.
fn flatten(table: toml::Table) -> Vec<(String, toml::Value)> {
    let mut all = Vec::new();
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => {
                let inner = flatten(inner);
                all.extend(inner.into_iter().map(|(rest, value)| (format!("{key}.{rest}"), value)));
            }
            value => all.push((key, value)),
        }
    }
    all
}

/// Replaces Rust's type names, which mean nothing to an operator.
fn plain_types(problem: &str) -> String {
    let mut text = problem.to_owned();
    for name in ["usize", "u64", "u32", "u16", "u8"] {
        text = text.replace(&format!("expected {name}"), "expected a whole number, 0 or more");
    }
    text.replace("a boolean", "true or false")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use roundtable_domain::FeedPolicy;

    use super::super::{Configuration, LogFormat, StoreKind};
    use super::*;

    fn variables(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    fn error_of(layers: Result<Layers, ConfigurationError>) -> String {
        layers.and_then(Configuration::read).unwrap_err().to_string()
    }

    #[test]
    fn flags_override_the_environment_a_file_and_defaults() {
        let file = file(
            "session-days = 7\n[http]\nlisten = \"0.0.0.0:1\"\nbatch-max = 3\nproxies = 1\n\
             [feed]\npolicy = \"pull\"\n",
        );
        let layers = Layers::new().file(file.path()).unwrap();
        let layers = layers
            .environment(variables(&[
                ("ROUNDTABLE_HTTP__LISTEN", "0.0.0.0:2"),
                ("ROUNDTABLE_HTTP__BATCH_MAX", "4"),
                ("ROUNDTABLE_HTTP__CORS_ORIGINS", "https://a.example, https://b.example"),
                ("ROUNDTABLE_HTTP__COMPRESSION", "false"),
                ("ROUNDTABLE_LOG__FORMAT", "json"),
                ("ROUNDTABLE_STORM_STEPS", "9"),
            ]))
            .unwrap();
        let layers = layers.flag("--listen", "http.listen", Some("0.0.0.0:3")).unwrap();
        let layers = layers.flag("--store", "store.kind", None::<String>).unwrap();
        let Configuration { process, settings } = Configuration::read(layers).unwrap();
        assert_eq!(process.http.listen.port(), 3);
        assert_eq!((process.http.batch_max, process.http.proxies), (4, 1));
        assert_eq!(process.http.cors_origins, ["https://a.example", "https://b.example"]);
        assert!(!process.http.compression);
        assert_eq!(process.log.format, LogFormat::Json);
        assert_eq!(process.store.kind, StoreKind::Embedded);
        assert_eq!((settings.session_days, settings.feed.policy), (7, FeedPolicy::Pull));
    }

    #[test]
    fn an_error_names_the_key_its_source_and_the_expected_value() {
        for (name, text, expected) in [
            ("ROUNDTABLE_HTTP__BATCH_MAX", "many", "http.batch-max: "),
            ("ROUNDTABLE_HTTP__BATCH_MAX", "many", "expected a whole number"),
            ("ROUNDTABLE_HTTP__BATCH_MAX", "many", "from ROUNDTABLE_HTTP__BATCH_MAX"),
            ("ROUNDTABLE_FEED__POLICY", "pul", "expected one of `documents`, `pull`, `push`"),
            ("ROUNDTABLE_HTTP__LISTEN", "here", "http.listen: invalid socket address"),
            ("ROUNDTABLE_HTTP__LISTTEN", "x", "unknown field `listten`"),
            ("ROUNDTABLE_HTPP__LISTEN", "x", "unknown field `htpp`"),
            ("ROUNDTABLE_ROLE", "api", "belongs to one process"),
            ("ROUNDTABLE_SIGN_IN__SECRET", "short", "sign-in.secret: expected 32 characters"),
            ("ROUNDTABLE_STORE__KIND", "dynamodb", "sign-in.secret: "),
            ("ROUNDTABLE_HTTP__BODIES_BYTES_MAX", "1000", "room for one body at least"),
            ("ROUNDTABLE_SHARDS__POSTS", "0", "shards.posts: "),
        ] {
            let message = error_of(Layers::new().environment(variables(&[(name, text)])));
            assert!(message.contains(expected), "{name}={text}: {message}");
        }
        let file = file("[score]\nlike = \"much\"\n");
        let expected = error_of(Layers::new().file(file.path()));
        assert!(
            expected.contains("score.like: ") && expected.contains("a whole number"),
            "{expected}"
        );
        assert!(expected.contains(&file.path().display().to_string()), "{expected}");
    }

    #[test]
    fn a_variable_that_is_no_setting_is_named() {
        let set = variables(&[
            ("ROUNDTABLE_HTTP_LISTEN", "0.0.0.0:2"),
            ("ROUNDTABLE_HTTP__BATCH_MAX", "4"),
            ("ROUNDTABLE_ROLE", "all"),
            ("HTTP_LISTEN", "another program's"),
        ]);
        let layers = Layers::new().environment(set).unwrap();
        assert_eq!(layers.unknown_variables(), ["ROUNDTABLE_HTTP_LISTEN"]);
    }

    #[test]
    fn a_limit_of_zero_is_refused_with_its_key_and_source() {
        for name in [
            "HTTP__CONNECTIONS_MAX",
            "HTTP__REQUEST_SECONDS",
            "GRAPHQL__DEPTH_MAX",
            "LIVE__SUBSCRIPTIONS_MAX",
            "LIVE__SLOW_SECONDS",
            "LOGIN__ACCOUNT_FAILURES_MAX",
            "LOGIN__HASHES_AT_ONCE",
            "RATES__WRITES_BURST",
            "RATES__SIGN_UPS_PER_HOUR",
            "SIGN_IN__KEY_DAYS",
            "SIGN_IN__TOKEN_SECONDS",
            "STORE__ARCHIVE_SECONDS",
            "SESSION_DAYS",
        ] {
            let name = format!("ROUNDTABLE_{name}");
            let error = error_of(Layers::new().environment(variables(&[(&name, "0")])));
            let expected =
                format!("expected 1 or more: with 0, nothing would get through (from {name})");
            assert!(error.ends_with(&expected), "{error}");
            let layers = Layers::new().environment(variables(&[(&name, "1000000")])).unwrap();
            assert!(layers.check_limits().is_ok(), "{name}");
        }
        let file = file("[live]\nsubscriptions-max = 0\n");
        let error = error_of(Layers::new().file(file.path()));
        assert!(error.starts_with("live.subscriptions-max: expected 1 or more"), "{error}");
        for key in ZERO_KEYS {
            let layers = Layers::new().flag("--flag", key, Some("0")).unwrap();
            assert!(Configuration::read(layers).is_ok(), "{key}");
        }
    }

    #[test]
    fn secrets_can_be_read_from_files_and_are_never_shown() {
        let secret = file(&format!("{}\n", "0123456789".repeat(4)));
        let path = secret.path().display().to_string();
        let layers = Layers::new().environment(variables(&[
            ("ROUNDTABLE_SIGN_IN__SECRET_FILE", &path),
            ("ROUNDTABLE_HOOK__SECRET", "0123456789"),
        ]));
        let Configuration { process, settings } = Configuration::read(layers.unwrap()).unwrap();
        assert_eq!(process.sign_in.secret.as_ref().unwrap().expose(), "0123456789".repeat(4));
        assert_eq!(settings.hook.secret.as_ref().unwrap().expose(), "0123456789");
        assert!(!format!("{process:?} {settings:?}").contains("0123"));
        let missing = variables(&[("ROUNDTABLE_SIGN_IN__SECRET_FILE", "/nowhere/at/all")]);
        assert!(error_of(Layers::new().environment(missing)).contains("/nowhere/at/all"));
    }
}
