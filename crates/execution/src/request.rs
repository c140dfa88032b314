//! Requests as clients send them.

use serde::Deserialize;

use crate::{JsonMap, JsonValue};

/// A GraphQL request: a document, the operation to execute, and its variables.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "RequestBody")]
pub struct Request {
    /// The text of the document; empty if the request only names it.
    pub query: String,
    pub operation_name: Option<String>,
    pub variables: JsonMap,
    /// The id of a document in the server's list.
    pub document_id: Option<String>,
    /// Of these, `persistedQuery` is read: the hash of a document.
    pub extensions: JsonMap,
}

/// Values of variables that are checked in less time than planning a small document takes.
const FEW_VALUES: usize = 500;

impl Request {
    /// Returns whether its variables have few values, those in lists and objects included.
    pub(crate) fn has_few_values(&self) -> bool {
        self.variables.values().try_fold(FEW_VALUES, left_after).is_some()
    }
}

/// Returns how many of `left` values remain after this one, if there are that many.
fn left_after(left: usize, value: &JsonValue) -> Option<usize> {
    let left = left.checked_sub(1)?;
    match value {
        JsonValue::Array(items) => items.iter().try_fold(left, left_after),
        JsonValue::Object(fields) => fields.values().try_fold(left, left_after),
        _ => Some(left),
    }
}

/// A request in JSON, with all names that clients have for its parts.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestBody {
    query: Option<String>,
    operation_name: Option<String>,
    variables: Option<JsonMap>,
    /// As the draft of GraphQL over HTTP calls it.
    document_id: Option<String>,
    /// As Relay's documentation calls it.
    #[serde(rename = "doc_id")]
    doc_id: Option<String>,
    /// Another name that Relay's documentation has for it. Some clients number their requests with it,
    /// so any other value is ignored.
    id: Option<JsonValue>,
    extensions: Option<JsonMap>,
}

impl From<RequestBody> for Request {
    fn from(body: RequestBody) -> Self {
        let RequestBody { query, operation_name, variables, document_id, doc_id, id, extensions } =
            body;
        let id = id.as_ref().and_then(JsonValue::as_str);
        Self {
            query: query.unwrap_or_default(),
            operation_name,
            variables: variables.unwrap_or_default(),
            document_id: document_id.or(doc_id).or_else(|| id.map(Into::into)),
            extensions: extensions.unwrap_or_default(),
        }
    }
}

impl From<&str> for Request {
    fn from(query: &str) -> Self {
        Self { query: query.into(), ..Self::default() }
    }
}
