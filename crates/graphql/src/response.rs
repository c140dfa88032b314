//! Answers as clients read them: every error has a code in its extensions and, as AppSync has it, an
//! `errorType` beside its message.

use async_graphql::{Response, ServerError, Value};
use roundtable_domain::Code;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::refusal::OUTCOME;

/// What the library says when something of ours is broken, before its own words.
const BROKEN: &str = "internal:";
/// What clients are told then.
const BROKEN_HERE: &str = "something went wrong here";
/// An answer that cannot be written, written.
const UNWRITTEN: &str = concat!(
    r#"{"errors":[{"message":"something went wrong here","errorType":"INTERNAL","#,
    r#""extensions":{"code":"INTERNAL"}}]}"#,
);

/// An answer to be written.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a>(pub &'a Response);

/// An error to be written.
#[derive(Clone, Copy, Debug)]
pub struct Fault<'a>(pub &'a ServerError);

/// Its extensions.
struct Extensions<'a>(&'a ServerError);

/// The code of an error. Whatever a resolver refuses has one; the library finds fault with documents and
/// values only.
pub fn code_of(error: &ServerError) -> &str {
    let own = error.extensions.as_ref().and_then(|extensions| extensions.get("code"));
    match own {
        Some(Value::String(code)) => code,
        _ if error.message.starts_with(BROKEN) => Code::Internal.as_str(),
        _ => Code::BadRequest.as_str(),
    }
}

/// Whether nothing of a request was done: its document was refused.
pub fn is_unasked(response: &Response) -> bool {
    let is_begun = |error: &ServerError| {
        let known = error.extensions.as_ref().and_then(|extensions| extensions.get(OUTCOME));
        !error.path.is_empty() || known.is_some()
    };
    response.data == Value::Null
        && !response.errors.is_empty()
        && !response.errors.iter().any(is_begun)
}

impl Answer<'_> {
    /// As clients are sent it.
    pub fn to_json(self) -> String {
        serde_json::to_string(&self).unwrap_or_else(|error| {
            tracing::error!(%error, "an answer cannot be written");
            UNWRITTEN.to_owned()
        })
    }
}

impl Serialize for Answer<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Response { data, errors, extensions, .. } = self.0;
        let mut map = to.serialize_map(None)?;
        // Where nothing was done there is no data, which is something else than null.
        if !is_unasked(self.0) {
            map.serialize_entry("data", data)?;
        }
        if !errors.is_empty() {
            let errors: Vec<Fault<'_>> = errors.iter().map(Fault).collect();
            map.serialize_entry("errors", &errors)?;
        }
        if !extensions.is_empty() {
            map.serialize_entry("extensions", extensions)?;
        }
        map.end()
    }
}

impl Serialize for Fault<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let ServerError { message, locations, path, .. } = self.0;
        let mut map = to.serialize_map(None)?;
        let is_broken = message.starts_with(BROKEN);
        map.serialize_entry("message", if is_broken { BROKEN_HERE } else { message })?;
        map.serialize_entry("errorType", code_of(self.0))?;
        if !locations.is_empty() {
            map.serialize_entry("locations", locations)?;
        }
        if !path.is_empty() {
            map.serialize_entry("path", path)?;
        }
        map.serialize_entry("extensions", &Extensions(self.0))?;
        map.end()
    }
}

impl Serialize for Extensions<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0.extensions {
            Some(own) if own.get("code").is_some() => own.serialize(to),
            own => {
                let mut own = own.clone().unwrap_or_default();
                own.set("code", code_of(self.0));
                own.serialize(to)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::{Error, Pos};

    use super::*;
    use crate::Refused;

    #[test]
    fn a_refusal_has_its_code_twice() {
        let error: Error = Refused::new(Code::NotFound, "there is no such post").into();
        let error = error.into_server_error(Pos { line: 1, column: 3 });
        let text = Answer(&Response::from_errors(vec![error])).to_json();
        let expected = concat!(
            r#"{"errors":[{"message":"there is no such post","errorType":"NOT_FOUND","#,
            r#""locations":[{"line":1,"column":3}],"extensions":{"code":"NOT_FOUND"}}]}"#,
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn a_whole_request_that_is_refused_has_no_data_and_no_place() {
        let text = Answer(&Refused::bad("that is wrong").into()).to_json();
        let expected = concat!(
            r#"{"errors":[{"message":"that is wrong","errorType":"BAD_REQUEST","#,
            r#""extensions":{"code":"BAD_REQUEST"}}]}"#,
        );
        assert_eq!(text, expected);
        assert!(serde_json::from_str::<serde_json::Value>(UNWRITTEN).is_ok());
    }

    /// What was given up half-way is no bad request: it was read, and may have been done.
    #[test]
    fn what_was_begun_and_given_up_was_asked() {
        let answer = Refused::new(Code::Internal, "this took too long").unfinished();
        assert!(!is_unasked(&answer));
        let expected = concat!(
            r#"{"data":null,"errors":[{"message":"this took too long","errorType":"INTERNAL","#,
            r#""extensions":{"code":"INTERNAL","outcome":"UNKNOWN"}}]}"#,
        );
        assert_eq!(Answer(&answer).to_json(), expected);
    }

    #[test]
    fn nobody_is_told_how_something_is_broken() {
        let broken = ServerError::new("internal: not an object: Widget", None);
        let text = Answer(&Response::from_errors(vec![broken])).to_json();
        assert!(text.contains(BROKEN_HERE) && !text.contains("Widget"), "{text}");
    }

    #[test]
    fn what_the_library_finds_fault_with_is_a_bad_request_and_what_it_breaks_is_ours() {
        let code = |message: &str| code_of(&ServerError::new(message, None)).to_owned();
        assert_eq!(code(r#"Unknown field "x" on type "Query"."#), "BAD_REQUEST");
        assert_eq!(code("internal: not an object"), "INTERNAL");
    }
}
