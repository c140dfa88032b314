//! The documents that a server answers, where it does not answer all: those of its own apps, which their
//! build tools have listed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use crate::error::RequestError;
use crate::persisted::DocumentHash;

/// The `format` of the files that Apollo's tool writes.
const APOLLO_FORMAT: &str = "apollo-persisted-query-manifest";
/// The prefix of an id that is the SHA-256 of the text, in the draft of GraphQL over HTTP.
const SHA256_PREFIX: &str = "sha256:";

/// Documents by id. A document is also known by its SHA-256 and by its text.
#[derive(Debug, Default)]
pub struct AllowedDocuments {
    by_id: HashMap<String, Arc<str>>,
    texts: HashSet<Arc<str>>,
    /// Ids and texts as listed, for error messages.
    listed: Vec<(String, Arc<str>)>,
}

impl AllowedDocuments {
    /// Reads a JSON object of texts by id, which the client preset of graphql-codegen and relay-compiler
    /// write, or a manifest of Apollo's tool.
    pub fn parse(json: &[u8]) -> Result<Self, String> {
        let list = serde_json::from_slice(json).map_err(|error| format!("not JSON: {error}"))?;
        let Value::Object(list) = list else {
            return Err(String::from("expected a JSON object of documents by id"));
        };
        let mut all = Self::default();
        if list.get("format").and_then(Value::as_str) == Some(APOLLO_FORMAT) {
            let operations = list.get("operations").and_then(Value::as_array);
            let operations = operations.ok_or("expected a list under `operations`")?;
            for operation in operations {
                let text = |key: &str| operation.get(key).and_then(Value::as_str);
                let (id, body) = text("id")
                    .zip(text("body"))
                    .ok_or_else(|| format!("expected an `id` and a `body`, found {operation}"))?;
                all.add(id, body)?;
            }
        } else {
            for (id, text) in &list {
                let problem = || format!("the document `{id}`: expected its text");
                all.add(id, text.as_str().ok_or_else(problem)?)?;
            }
        }
        if all.listed.is_empty() {
            return Err(String::from("the list has no documents, so no request could be answered"));
        }
        Ok(all)
    }

    fn add(&mut self, id: &str, text: &str) -> Result<(), String> {
        let text: Arc<str> = text.into();
        let known = self.by_id.insert(id.to_owned(), Arc::clone(&text));
        if known.is_some_and(|known| known != text) {
            return Err(format!("the id `{id}` has two different documents"));
        }
        self.by_id.insert(DocumentHash::of(&text).to_hex(), Arc::clone(&text));
        self.texts.insert(Arc::clone(&text));
        self.listed.push((id.to_owned(), text));
        Ok(())
    }

    /// Returns all documents with their ids, in the order of the list.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Arc<str>)> {
        self.listed.iter().map(|(id, text)| (id.as_str(), text))
    }

    /// Returns the document that a request names, or sends, or both.
    pub(crate) fn find(&self, id: Option<&str>, text: &str) -> Result<Arc<str>, RequestError> {
        let Some(id) = id else {
            return self.texts.get(text).cloned().ok_or_else(not_allowed);
        };
        let found = self.by_id.get(id).or_else(|| self.by_id.get(id.strip_prefix(SHA256_PREFIX)?));
        let found = found.ok_or_else(not_allowed)?;
        if !text.is_empty() && **found != *text {
            return Err(RequestError::new(
                "the id or hash is that of another document: send the right one, or the text alone",
            ));
        }
        Ok(Arc::clone(found))
    }
}

fn not_allowed() -> RequestError {
    RequestError {
        code: RequestError::DOCUMENT_NOT_ALLOWED,
        ..RequestError::new(
            "this server answers only the documents of its list, and this is none of them",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_any_tool_is_read() {
        let plain = br#"{"a": "{ me { id } }", "b": "{ me { nickname } }"}"#;
        let apollo =
            br#"{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [
            {"id": "a", "name": "A", "type": "query", "body": "{ me { id } }"},
            {"id": "b", "name": "B", "type": "query", "body": "{ me { nickname } }"}
        ]}"#;
        for json in [&plain[..], &apollo[..]] {
            let all = AllowedDocuments::parse(json).unwrap();
            assert_eq!(all.iter().count(), 2);
            let text = "{ me { nickname } }";
            let hash = DocumentHash::of(text).to_hex();
            for id in ["b", &hash, &format!("sha256:{hash}")] {
                assert_eq!(&*all.find(Some(id), "").unwrap(), text, "{id}");
                assert_eq!(&*all.find(Some(id), text).unwrap(), text, "{id}");
                assert_eq!(all.find(Some(id), "{ me { id } }").unwrap_err().code, "BAD_REQUEST");
            }
            assert_eq!(&*all.find(None, text).unwrap(), text);
            for (id, text) in [(Some("c"), ""), (Some("c"), text), (None, ""), (None, "{ me }")] {
                assert_eq!(all.find(id, text).unwrap_err().code, "DOCUMENT_NOT_ALLOWED");
            }
        }
    }

    #[test]
    fn a_wrong_list_is_refused_with_the_reason() {
        for (json, expected) in [
            ("{", "not JSON"),
            ("[]", "expected a JSON object"),
            ("{}", "no documents"),
            (r#"{"a": 1}"#, "`a`: expected its text"),
            (r#"{"format": "apollo-persisted-query-manifest"}"#, "`operations`"),
            (
                r#"{"format": "apollo-persisted-query-manifest", "operations": [{"id": "a"}]}"#,
                "a `body`",
            ),
        ] {
            let problem = AllowedDocuments::parse(json.as_bytes()).unwrap_err();
            assert!(problem.contains(expected), "{json}: {problem}");
        }
    }
}
