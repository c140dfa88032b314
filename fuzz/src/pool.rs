//! What was seen in answers and can be asked about again: ids and cursors.

use std::collections::VecDeque;

use serde_json::Value;

use crate::bytes::Bytes;

/// How many of each are kept: the latest.
const KEPT: usize = 200;

/// What can be asked about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    ids: VecDeque<String>,
    cursors: VecDeque<String>,
}

impl Pool {
    /// There is this to begin with.
    pub(crate) fn id(&mut self, id: impl Into<String>) {
        keep(&mut self.ids, id.into());
    }

    /// Keeps what an answer names.
    pub(crate) fn learn(&mut self, answer: &Value) {
        match answer {
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

    /// Something that is there.
    pub(crate) fn some_id(&self, bytes: &mut Bytes<'_>) -> Option<&str> {
        self.ids.get(bytes.pick(self.ids.len())).map(String::as_str)
    }

    /// A place in a list, hardly ever the one that is asked for.
    pub(crate) fn some_cursor(&self, bytes: &mut Bytes<'_>) -> Option<&str> {
        self.cursors.get(bytes.pick(self.cursors.len())).map(String::as_str)
    }
}

fn keep(all: &mut VecDeque<String>, one: String) {
    if all.contains(&one) {
        return;
    }
    if all.len() == KEPT {
        all.pop_front();
    }
    all.push_back(one);
}
