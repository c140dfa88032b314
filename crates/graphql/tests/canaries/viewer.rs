//! A viewer who executes all documents and records the secret words in the responses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use roundtable_graphql::{
    Answer, JsonMap, PreparedRequest, QueryLimits, Request, RequestContext, Schema,
};
use roundtable_interface::{ClientInfo, Services};
use roundtable_model::table::Recorder;
use roundtable_testkit::SecretTown;
use serde_json::{Value, json};

use crate::documents::{Document, Documents};
use crate::services::{services, to_json};

/// The content of a viewer's responses.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// The secret words, each with the root fields that showed it.
    pub(crate) words: BTreeMap<String, BTreeSet<String>>,
    /// The fields that had a value.
    pub(crate) nonempty_fields: BTreeSet<String>,
    /// Internal errors and rejected documents.
    pub(crate) problems: Vec<String>,
}

impl Observed {
    /// Records a whole response, including errors and extensions.
    pub(crate) fn note(&mut self, field: &str, document: &str, response: &Value) {
        let text = response.to_string();
        if text.contains("INTERNAL") || response["errors"][0]["extensions"]["code"] == "TOO_COMPLEX"
        {
            self.problems.push(format!("{document}: {text}"));
        }
        // A rejected document would find nothing.
        if response.get("data").is_none() {
            self.problems.push(format!("{document} was rejected: {text}"));
        }
        for word in text.split("xq").filter(|word| is_word(word)) {
            self.note_word(word, field);
        }
        self.note_fields(response);
    }

    fn note_word(&mut self, word: &str, field: &str) {
        self.words.entry(word.to_owned()).or_default().insert(field.to_owned());
    }

    fn note_fields(&mut self, value: &Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.note_fields(value)),
            Value::Object(fields) => {
                let ty = fields.get("__typename").and_then(Value::as_str).unwrap_or_default();
                for (name, value) in fields {
                    if !value.is_null() && value.as_array().is_none_or(|all| !all.is_empty()) {
                        self.nonempty_fields.insert(format!("{ty}.{name}"));
                    }
                    self.note_fields(value);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a text can be a secret word, and not the text between two of them.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it == '-' || it.is_ascii_alphanumeric())
}

/// Counts the fields and objects of an answer.
fn count(value: &Value, fields: &mut u64, objects: &mut u64) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| count(value, fields, objects)),
        Value::Object(values) => {
            *objects += 1;
            *fields += values.len() as u64;
            values.values().for_each(|value| count(value, fields, objects));
        }
        _ => {}
    }
}

/// The schema of all viewers, so that each document is planned once. The documents are expensive on
/// purpose.
fn schema() -> Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        let limits = QueryLimits {
            cost_max: u64::MAX,
            operations_max: u64::MAX,
            aliases_max: usize::MAX,
            ..QueryLimits::default()
        };
        Schema::new(limits, true).unwrap()
    });
    SCHEMA.clone()
}

/// A viewer in a new process.
pub(crate) struct Viewer<'a> {
    pub(crate) hidden: &'a SecretTown,
    pub(crate) client: ClientInfo,
    pub(crate) services: Services,
    pub(crate) schema: Schema,
    pub(crate) observed: Observed,
}

impl<'a> Viewer<'a> {
    pub(crate) fn new(hidden: &'a SecretTown, name: &str) -> Self {
        let client = ClientInfo { caller: hidden.caller(name), ..ClientInfo::default() };
        let services = services(&hidden.town);
        Self { hidden, client, services, schema: schema(), observed: Observed::default() }
    }

    pub(crate) fn context(&self) -> RequestContext {
        RequestContext::new(self.client.clone(), self.services.clone())
    }

    /// Executes all queries that `is_wanted` accepts.
    pub(crate) async fn execute_all(
        &mut self,
        documents: &Documents,
        is_wanted: impl Fn(&Document) -> bool,
    ) {
        let mut found = BTreeMap::new();
        for document in documents.queries.iter().filter(|document| is_wanted(document)) {
            let items = if document.is_paged {
                self.execute_pages(document).await
            } else {
                let response = self.execute(document, JsonMap::new()).await;
                let found = documents
                    .relations
                    .iter()
                    .filter(|(_, id)| document.field == "node" && document.arguments.contains(id));
                for (word, _) in found.filter(|_| !response["data"]["node"].is_null()) {
                    self.observed.note_word(word, "node");
                }
                response["data"][document.field]["items"].as_array().map(Vec::len)
            };
            // Both paging styles and all page sizes show the same list.
            if let Some(items) = items {
                let before = found.insert((document.field, &document.arguments), items);
                assert_eq!(before.unwrap_or(items), items, "{}", document.text);
            }
        }
    }

    async fn execute(&mut self, document: &Document, variables: JsonMap) -> Value {
        let request = Request { variables, ..Request::from(document.text.as_str()) };
        let response = to_json(&match self.schema.prepare(request) {
            Ok(prepared) => self.execute_within_its_cost(&prepared, &document.text).await,
            Err(refused) => *refused,
        });
        self.observed.note(document.field, &document.text, &response);
        response
    }

    /// Executes a request, which takes no more than is known before.
    async fn execute_within_its_cost(&self, prepared: &PreparedRequest, document: &str) -> Answer {
        let recorder = Arc::new(Recorder::default());
        let observed = self.services.context.observed(Arc::clone(&recorder) as Arc<_>);
        let services = self.services.with_context(&observed);
        let context = RequestContext::new(self.client.clone(), services);
        let answer = self.schema.execute(prepared, &context).await;
        let (mut fields, mut objects) = (0, 0);
        count(&to_json(&answer)["data"], &mut fields, &mut objects);
        let cost = prepared.cost();
        for (what, found, most) in [
            ("operations", recorder.take().len() as u64, cost.operations),
            ("fields", fields, cost.fields),
            // The root is not read.
            ("objects", objects.saturating_sub(1), cost.items),
        ] {
            assert!(found <= most, "{found} {what}, at most {most}: {document}");
        }
        answer
    }

    /// Reads a list page by page and returns its length, if the viewer may see it.
    async fn execute_pages(&mut self, document: &Document) -> Option<usize> {
        let (mut count, mut after) = (0, Value::Null);
        loop {
            let variables = serde_json::from_value(json!({ "after": after })).unwrap();
            let response = self.execute(document, variables).await;
            let list = &response["data"][document.field];
            count += list["edges"].as_array()?.len();
            after = list["pageInfo"]["endCursor"].clone();
            if list["pageInfo"]["hasNextPage"] != true {
                return Some(count);
            }
        }
    }
}
