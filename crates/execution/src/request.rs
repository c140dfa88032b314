//! Requests as clients send them.

use serde::{Deserialize, Deserializer};

use crate::JsonMap;

/// A GraphQL request: a document, the operation to execute, and its variables.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    #[serde(default)]
    pub query: String,
    #[serde(default)]
    pub operation_name: Option<String>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub variables: JsonMap,
}

fn null_is_empty<'de, D: Deserializer<'de>>(value: D) -> Result<JsonMap, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or_default())
}

impl From<&str> for Request {
    fn from(query: &str) -> Self {
        Self { query: query.into(), ..Self::default() }
    }
}
