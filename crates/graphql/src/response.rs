//! Responses as JSON: every error has a code in its extensions and, like AppSync, an `errorType` next to
//! its message.

use async_graphql::{Response, ServerError, Value};
use roundtable_domain::Code;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::errors::OUTCOME;

/// The prefix of async-graphql's own internal errors.
const INTERNAL_PREFIX: &str = "internal:";
/// The message that replaces them.
const INTERNAL_MESSAGE: &str = "internal error";
/// The response when the actual one cannot be serialized.
const SERIALIZATION_FAILED: &str = concat!(
    r#"{"errors":[{"message":"internal error","errorType":"INTERNAL","#,
    r#""extensions":{"code":"INTERNAL"}}]}"#,
);

/// A response in the JSON form sent to clients.
#[derive(Clone, Copy, Debug)]
pub struct GraphqlResponse<'a>(pub &'a Response);

/// An error in the JSON form sent to clients.
#[derive(Clone, Copy, Debug)]
pub struct GraphqlError<'a>(pub &'a ServerError);

struct ErrorExtensions<'a>(&'a ServerError);

/// Returns the code of an error. Errors without a code come from async-graphql, which only rejects
/// documents and values.
pub fn error_code(error: &ServerError) -> &str {
    let own = error.extensions.as_ref().and_then(|extensions| extensions.get("code"));
    match own {
        Some(Value::String(code)) => code,
        _ if error.message.starts_with(INTERNAL_PREFIX) => Code::Internal.as_str(),
        _ => Code::BadRequest.as_str(),
    }
}

/// Returns whether a request was rejected before any of it was executed.
pub fn is_request_error(response: &Response) -> bool {
    let was_started = |error: &ServerError| {
        let outcome = error.extensions.as_ref().and_then(|extensions| extensions.get(OUTCOME));
        !error.path.is_empty() || outcome.is_some()
    };
    response.data == Value::Null
        && !response.errors.is_empty()
        && !response.errors.iter().any(was_started)
}

impl GraphqlResponse<'_> {
    pub fn to_json(self) -> String {
        serde_json::to_string(&self).unwrap_or_else(|error| {
            tracing::error!(%error, "a response could not be serialized");
            SERIALIZATION_FAILED.to_owned()
        })
    }
}

impl Serialize for GraphqlResponse<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Response { data, errors, extensions, .. } = self.0;
        let mut map = serializer.serialize_map(None)?;
        // A request error has no `data` entry at all, which differs from null data.
        if !is_request_error(self.0) {
            map.serialize_entry("data", data)?;
        }
        if !errors.is_empty() {
            let errors: Vec<GraphqlError<'_>> = errors.iter().map(GraphqlError).collect();
            map.serialize_entry("errors", &errors)?;
        }
        if !extensions.is_empty() {
            map.serialize_entry("extensions", extensions)?;
        }
        map.end()
    }
}

impl Serialize for GraphqlError<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ServerError { message, locations, path, .. } = self.0;
        let mut map = serializer.serialize_map(None)?;
        let is_internal = message.starts_with(INTERNAL_PREFIX);
        map.serialize_entry("message", if is_internal { INTERNAL_MESSAGE } else { message })?;
        map.serialize_entry("errorType", error_code(self.0))?;
        if !locations.is_empty() {
            map.serialize_entry("locations", locations)?;
        }
        if !path.is_empty() {
            map.serialize_entry("path", path)?;
        }
        map.serialize_entry("extensions", &ErrorExtensions(self.0))?;
        map.end()
    }
}

impl Serialize for ErrorExtensions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.extensions {
            Some(own) if own.get("code").is_some() => own.serialize(serializer),
            own => {
                let mut own = own.clone().unwrap_or_default();
                own.set("code", error_code(self.0));
                own.serialize(serializer)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::{Error, Pos};

    use super::*;
    use crate::ApiError;

    #[test]
    fn an_error_carries_its_code_twice() {
        let error: Error = ApiError::new(Code::NotFound, "there is no such post").into();
        let error = error.into_server_error(Pos { line: 1, column: 3 });
        let text = GraphqlResponse(&Response::from_errors(vec![error])).to_json();
        let expected = concat!(
            r#"{"errors":[{"message":"there is no such post","errorType":"NOT_FOUND","#,
            r#""locations":[{"line":1,"column":3}],"extensions":{"code":"NOT_FOUND"}}]}"#,
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn a_rejected_request_has_no_data_and_no_location() {
        let text = GraphqlResponse(&ApiError::bad_request("that is wrong").into()).to_json();
        let expected = concat!(
            r#"{"errors":[{"message":"that is wrong","errorType":"BAD_REQUEST","#,
            r#""extensions":{"code":"BAD_REQUEST"}}]}"#,
        );
        assert_eq!(text, expected);
        assert!(serde_json::from_str::<serde_json::Value>(SERIALIZATION_FAILED).is_ok());
    }

    /// A request abandoned half-way is not a bad request: it was accepted, and may have taken effect.
    #[test]
    fn an_abandoned_request_is_not_a_request_error() {
        let response = ApiError::new(Code::Internal, "this took too long").into_unknown_outcome();
        assert!(!is_request_error(&response));
        let expected = concat!(
            r#"{"data":null,"errors":[{"message":"this took too long","errorType":"INTERNAL","#,
            r#""extensions":{"code":"INTERNAL","outcome":"UNKNOWN"}}]}"#,
        );
        assert_eq!(GraphqlResponse(&response).to_json(), expected);
    }

    #[test]
    fn internal_details_are_not_sent_to_clients() {
        let internal = ServerError::new("internal: not an object: Widget", None);
        let text = GraphqlResponse(&Response::from_errors(vec![internal])).to_json();
        assert!(text.contains(INTERNAL_MESSAGE) && !text.contains("Widget"), "{text}");
    }

    #[test]
    fn library_errors_are_bad_requests_unless_they_are_internal() {
        let code = |message: &str| error_code(&ServerError::new(message, None)).to_owned();
        assert_eq!(code(r#"Unknown field "x" on type "Query"."#), "BAD_REQUEST");
        assert_eq!(code("internal: not an object"), "INTERNAL");
    }
}
