//! Ids and cursors from earlier responses, for use in later documents.

use std::collections::VecDeque;

use serde_json::Value;

use crate::choices::ByteChoices;

/// The latest ids, and as many cursors.
const KEPT_MAX: usize = 200;

#[derive(Clone, Debug, Default)]
pub(crate) struct ValuePool {
    ids: VecDeque<String>,
    cursors: VecDeque<String>,
}

impl ValuePool {
    pub(crate) fn add_id(&mut self, id: impl Into<String>) {
        keep(&mut self.ids, id.into());
    }

    /// Adds all ids and cursors of a response.
    pub(crate) fn learn(&mut self, response: &Value) {
        match response {
            Value::Array(all) => all.iter().for_each(|one| self.learn(one)),
            Value::Object(fields) => fields.iter().for_each(|(name, value)| match value {
                Value::String(text) if matches!(&**name, "nextToken" | "cursor" | "endCursor") => {
                    keep(&mut self.cursors, text.clone());
                }
                Value::String(text) if name == "id" || name.ends_with("Id") => {
                    keep(&mut self.ids, text.clone());
                }
                other => self.learn(other),
            }),
            _ => {}
        }
    }

    pub(crate) fn some_id(&self, bytes: &mut ByteChoices<'_>) -> Option<&str> {
        self.ids.get(bytes.pick(self.ids.len())).map(String::as_str)
    }

    /// Returns a cursor, which rarely belongs to the list that it is used for.
    pub(crate) fn some_cursor(&self, bytes: &mut ByteChoices<'_>) -> Option<&str> {
        self.cursors.get(bytes.pick(self.cursors.len())).map(String::as_str)
    }
}

fn keep(all: &mut VecDeque<String>, one: String) {
    if all.contains(&one) {
        return;
    }
    if all.len() == KEPT_MAX {
        all.pop_front();
    }
    all.push_back(one);
}
