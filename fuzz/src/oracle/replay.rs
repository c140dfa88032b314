//! Answers the documents of an oracle file one after the other. The oracle's commit builds this file, too,
//! with an `ApiTown` of its own, so it uses only what both commits have.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api_town::{ApiTown, schema};
use crate::document_writer::Document;
use crate::value_pool::ValuePool;

/// What the name of a cursor begins and ends with: `@cursor7@`.
pub(crate) const NAME_START: &str = "@cursor";
const NAME_END: char = '@';

/// A line of an oracle file: a document, and its answer.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct OracleEntry {
    /// The document goes to the writable town. All others go to a town that never changes.
    pub(crate) writes: bool,
    /// The writable town is replaced by a new one before the document.
    pub(crate) renews: bool,
    /// The processors of the writable town run after the document.
    pub(crate) settles: bool,
    /// Empty for an anonymous viewer.
    pub(crate) viewer: String,
    pub(crate) query: String,
    pub(crate) variables: Value,
    pub(crate) operation_name: Option<String>,
    /// The cursors that later documents use: their names, and where the answer has them. Cursors are
    /// encrypted, so that each side knows only its own.
    pub(crate) cursors: BTreeMap<String, String>,
    /// The answer; of a subscription, its first response, or null if that has to wait for an event.
    pub(crate) answer: Value,
    /// The documents of open subscriptions, and their responses once the processors have run.
    pub(crate) events: Vec<(String, Value)>,
}

/// The towns that answer the documents.
pub(crate) struct Replay {
    read_only: ApiTown,
    writable: ApiTown,
    /// The cursors of this side by their names.
    cursors: HashMap<String, String>,
}

impl Replay {
    /// Returns new towns and the ids of their objects.
    pub(crate) async fn new() -> (Self, ValuePool) {
        let (read_only, value_pool) = ApiTown::new(schema()).await;
        let (writable, _) = ApiTown::new(schema()).await;
        (Self { read_only, writable, cursors: HashMap::new() }, value_pool)
    }

    /// Answers a document and keeps the cursors that it names.
    pub(crate) async fn answer(&mut self, entry: &mut OracleEntry) {
        if entry.renews {
            (self.writable, _) = ApiTown::new(schema()).await;
        }
        let variables = self.with_cursors(&entry.variables.to_string());
        let document = Document {
            text: self.with_cursors(&entry.query),
            variables: serde_json::from_str(&variables).unwrap(),
            operation: entry.operation_name.clone(),
            ..Document::default()
        };
        let town = if entry.writes { &mut self.writable } else { &mut self.read_only };
        entry.answer = if entry.query.starts_with("subscription") {
            town.subscribe(&entry.viewer, &document).await.unwrap_or_default()
        } else {
            town.execute(&entry.viewer, &document).await
        };
        entry.events = if entry.settles { town.settle().await } else { Vec::new() };
        self.keep_cursors(entry);
    }

    /// Keeps the cursors of an answered document.
    pub(crate) fn keep_cursors(&mut self, entry: &OracleEntry) {
        for (name, place) in &entry.cursors {
            if let Some(Value::String(cursor)) = entry.answer.pointer(place) {
                self.cursors.insert(name.clone(), cursor.clone());
            }
        }
    }

    /// Replaces the names of cursors by this side's cursors.
    fn with_cursors(&self, text: &str) -> String {
        let mut parts = text.split(NAME_START);
        let mut replaced = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (number, rest) = part.split_once(NAME_END).unwrap_or((part, ""));
            let name = cursor_name(number);
            replaced.push_str(self.cursors.get(&name).unwrap_or(&name));
            replaced.push_str(rest);
        }
        replaced
    }
}

pub(crate) fn cursor_name(number: impl std::fmt::Display) -> String {
    format!("{NAME_START}{number}{NAME_END}")
}
