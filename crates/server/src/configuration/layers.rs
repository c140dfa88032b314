//! The layers of a configuration, one over the other, and where each value comes from.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::Misconfigured;
use super::value::Value;

/// How variables begin that are meant for us.
const PREFIX: &str = "ROUNDTABLE_";
/// What stands between the parts of a key in a variable's name.
const BETWEEN: &str = "__";
/// What a key of a secret ends in when it names the file to read it from.
const FILE: &str = "-file";
/// The keys that can be in a file of their own.
const SECRETS: [&str; 3] = ["sign-in.secret", "hook.secret", "media.s3.secret-access-key"];

/// The keys that are in no table.
const SINGLE: [&str; 6] =
    ["role", "registration", "likes", "moderation", "session-days", "timeline-days"];

/// Values by their keys, the later over the earlier.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    values: BTreeMap<String, Value>,
    /// Where the value of a key comes from.
    sources: BTreeMap<String, String>,
}

impl Layers {
    /// Nothing but defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Over them, this file of TOML.
    pub fn file(mut self, path: &Path) -> Result<Self, Misconfigured> {
        let text = fs::read_to_string(path).map_err(Misconfigured::file(path))?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = 1 + before.matches('\n').count();
            Misconfigured::Syntax {
                path: path.to_owned(),
                line,
                problem: error.message().to_owned(),
            }
        })?;
        let source = path.display().to_string();
        for (key, value) in flat(table) {
            self.lay(&key, Value::Typed(value), &source)?;
        }
        Ok(self)
    }

    /// Over them, these variables of the environment.
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, Misconfigured> {
        let mut variables: Vec<_> = variables.into_iter().collect();
        variables.sort();
        for (name, text) in variables {
            let Some(key) = name.strip_prefix(PREFIX) else { continue };
            let key = key.to_ascii_lowercase().replace(BETWEEN, ".").replace('_', "-");
            // Tests and scripts have variables of their own.
            if !key.contains('.') && !SINGLE.contains(&key.as_str()) {
                continue;
            }
            self.lay(&key, Value::Text(text), &name)?;
        }
        Ok(self)
    }

    /// Over them, a flag of the command line.
    pub fn flag(
        mut self,
        name: &str,
        key: &str,
        value: Option<impl Into<String>>,
    ) -> Result<Self, Misconfigured> {
        if let Some(value) = value {
            self.lay(key, Value::Text(value.into()), name)?;
        }
        Ok(self)
    }

    fn lay(&mut self, key: &str, value: Value, source: &str) -> Result<(), Misconfigured> {
        let secret = key.strip_suffix(FILE).filter(|key| SECRETS.contains(key));
        let (key, value) = match (secret, value) {
            (Some(secret), Value::Text(path) | Value::Typed(toml::Value::String(path))) => {
                let path = PathBuf::from(path);
                let text = fs::read_to_string(&path).map_err(Misconfigured::file(&path))?;
                (secret, Value::Text(text.trim_end_matches(['\r', '\n']).to_owned()))
            }
            (_, value) => (key, value),
        };
        self.sources.insert(key.to_owned(), source.to_owned());
        let mut parts: Vec<&str> = key.split('.').collect();
        let Some(last) = parts.pop() else { return Ok(()) };
        let mut at = &mut self.values;
        for part in parts {
            let table = || Value::Table(BTreeMap::new());
            let next = at.entry(part.to_owned()).or_insert_with(table);
            if !matches!(next, Value::Table(_)) {
                *next = table();
            }
            let Value::Table(next) = next else { return Ok(()) };
            at = next;
        }
        at.insert(last.to_owned(), value);
        Ok(())
    }

    /// The values of these keys, and all others.
    pub(super) fn split(mut self, keys: &[&str]) -> (Self, Self) {
        let of = |key: &String| keys.contains(&key.as_str());
        let (mut these, sources) = (BTreeMap::new(), self.sources.clone());
        for key in self.values.keys().filter(|key| of(key)).cloned().collect::<Vec<_>>() {
            if let Some(value) = self.values.remove(&key) {
                these.insert(key, value);
            }
        }
        (Self { values: these, sources }, self)
    }

    /// What they come to.
    pub(super) fn read<T: DeserializeOwned>(self) -> Result<T, Misconfigured> {
        let Self { values, sources } = self;
        serde_path_to_error::deserialize(Value::Table(values)).map_err(|error| {
            let key = error.path().to_string();
            let is_above = |from: &&String| {
                **from == key || from.starts_with(&format!("{key}.")) || key == "."
            };
            let from = sources.keys().find(is_above).and_then(|from| sources.get(from));
            Misconfigured::Value {
                source_name: from.cloned().unwrap_or_else(|| String::from("the configuration")),
                problem: in_words(&error.inner().to_string()),
                key,
            }
        })
    }
}

/// The values of a table that are no tables, by their keys with dots.
fn flat(table: toml::Table) -> Vec<(String, toml::Value)> {
    let mut all = Vec::new();
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => {
                let inner = flat(inner);
                all.extend(inner.into_iter().map(|(rest, value)| (format!("{key}.{rest}"), value)));
            }
            value => all.push((key, value)),
        }
    }
    all
}

/// The names that a compiler has for numbers are nobody's words.
fn in_words(problem: &str) -> String {
    let mut text = problem.to_owned();
    for name in ["usize", "u64", "u32", "u16", "u8"] {
        text = text.replace(&format!("expected {name}"), "expected a whole number from 0 on");
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

    fn refused(layers: Result<Layers, Misconfigured>) -> String {
        layers.and_then(Configuration::read).unwrap_err().to_string()
    }

    #[test]
    fn flags_are_over_the_environment_over_a_file_over_defaults() {
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
    fn a_bad_value_is_refused_by_its_key_with_what_was_expected_and_where_it_is_from() {
        for (name, text, said) in [
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
            let said_in = refused(Layers::new().environment(variables(&[(name, text)])));
            assert!(said_in.contains(said), "{name}={text}: {said_in}");
        }
        let file = file("[score]\nlike = \"much\"\n");
        let said = refused(Layers::new().file(file.path()));
        assert!(said.contains("score.like: ") && said.contains("a whole number"), "{said}");
        assert!(said.contains(&file.path().display().to_string()), "{said}");
    }

    #[test]
    fn secrets_can_be_in_files_of_their_own_and_are_shown_nowhere() {
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
        assert!(refused(Layers::new().environment(missing)).contains("/nowhere/at/all"));
    }
}
