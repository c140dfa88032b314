//! One viewer who asks everything, and notes every word of what they are told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_graphql::{Request, ValidationMode, Variables};
use roundtable_graphql::{Asked, Client, Limits, Schema, Services};
use roundtable_testkit::Hidden;
use serde_json::{Value, json};

use crate::documents::{Document, Documents};
use crate::services::{services, shown};

/// What somebody was told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The secret words, each with the documents that showed them.
    pub(crate) words: BTreeMap<String, BTreeSet<String>>,
    /// The fields of types that something was told of.
    pub(crate) answered: BTreeSet<String>,
    /// What must never be said.
    pub(crate) wrong: Vec<String>,
}

impl Told {
    /// Notes an answer: all of it, with its errors and extensions.
    pub(crate) fn note(&mut self, field: &str, document: &str, answer: &Value) {
        let text = answer.to_string();
        if text.contains("INTERNAL") || answer["errors"][0]["extensions"]["code"] == "TOO_COMPLEX" {
            self.wrong.push(format!("{document}: {text}"));
        }
        // Whatever is no question at all would find nothing.
        if answer.get("data").is_none() {
            self.wrong.push(format!("{document} was not even asked: {text}"));
        }
        for word in text.split("xq").filter(|word| is_word(word)) {
            self.note_word(word, field);
        }
        self.note_fields(answer);
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
                        self.answered.insert(format!("{ty}.{name}"));
                    }
                    self.note_fields(value);
                }
            }
            _ => {}
        }
    }
}

/// Whether this can be the inside of a secret, and not what is between two.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it == '-' || it.is_ascii_alphanumeric())
}

/// A viewer, in a process of their own that remembers nothing yet.
pub(crate) struct Viewer<'a> {
    pub(crate) hidden: &'a Hidden,
    pub(crate) client: Client,
    pub(crate) services: Services,
    pub(crate) schema: Schema,
    pub(crate) told: Told,
}

impl<'a> Viewer<'a> {
    pub(crate) fn new(hidden: &'a Hidden, name: &str) -> Self {
        let client = Client { caller: hidden.caller(name), ..Client::default() };
        // What is asked is made from the schema: it need not be checked against it for everybody. It is as
        // much as there is, on purpose.
        let schema = roundtable_graphql::schema().validation_mode(ValidationMode::Fast);
        let schema = Limits { cost_max: u64::MAX, ..Limits::default() }.on(schema);
        let services = services(&hidden.town);
        Self { hidden, client, services, schema, told: Told::default() }
    }

    pub(crate) fn request(&self, document: &Document) -> Request {
        let asked = Asked::new(self.client.clone(), self.services.clone());
        document.request().data(Arc::new(asked))
    }

    /// Asks everything that there is to ask, and that is wanted.
    pub(crate) async fn ask_all(
        &mut self,
        documents: &Documents,
        is_wanted: impl Fn(&Document) -> bool,
    ) {
        let mut found = BTreeMap::new();
        for document in documents.queries.iter().filter(|document| is_wanted(document)) {
            let items = if document.is_paged {
                self.ask_pages(document).await
            } else {
                let answer = self.ask(document, Value::Null).await;
                let found = documents
                    .ties
                    .iter()
                    .filter(|(_, id)| document.field == "node" && document.arguments.contains(id));
                for (word, _) in found.filter(|_| !answer["data"]["node"].is_null()) {
                    self.told.note_word(word, "node");
                }
                answer["data"][document.field]["items"].as_array().map(Vec::len)
            };
            // Both ways of paging, and pages of every size, show the same list.
            if let Some(items) = items {
                let before = found.insert((document.field, &document.arguments), items);
                assert_eq!(before.unwrap_or(items), items, "{}", document.text);
            }
        }
    }

    async fn ask(&mut self, document: &Document, variables: Value) -> Value {
        let request = self.request(document).variables(Variables::from_json(variables));
        let answer = shown(&self.schema.execute(request).await);
        self.told.note(document.field, &document.text, &answer);
        answer
    }

    /// Asks for a list page by page; how long it is, if it is shown at all.
    async fn ask_pages(&mut self, document: &Document) -> Option<usize> {
        let (mut count, mut after) = (0, Value::Null);
        loop {
            let answer = self.ask(document, json!({ "after": after })).await;
            let list = &answer["data"][document.field];
            count += list["edges"].as_array()?.len();
            after = list["pageInfo"]["endCursor"].clone();
            if list["pageInfo"]["hasNextPage"] != true {
                return Some(count);
            }
        }
    }
}
