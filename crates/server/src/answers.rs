//! Answers as text, and refusals of whole requests as answers.

use async_graphql::{Pos, Response};
use roundtable_graphql::{Answer, Refused};

/// An answer that is nothing but a refusal.
pub(crate) fn refusal(refused: Refused) -> Response {
    let error: async_graphql::Error = refused.into();
    let mut error = error.into_server_error(Pos::default());
    // There is no place in a document that was never read.
    error.locations.clear();
    Response::from_errors(vec![error])
}

/// What is said when not even a refusal can be.
const BROKEN: &str = concat!(
    r#"{"errors":[{"message":"something went wrong here","errorType":"INTERNAL","#,
    r#""extensions":{"code":"INTERNAL"}}]}"#,
);

/// An answer as text.
pub(crate) fn text(response: &Response) -> String {
    serde_json::to_string(&Answer(response)).unwrap_or_else(|error| {
        tracing::error!(%error, "an answer cannot be written");
        BROKEN.to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_its_code_and_no_data() {
        let text = text(&refusal(Refused::bad("that is wrong")));
        let expected = concat!(
            r#"{"errors":[{"message":"that is wrong","errorType":"BAD_REQUEST","#,
            r#""extensions":{"code":"BAD_REQUEST"}}]}"#,
        );
        assert_eq!(text, expected);
        assert!(serde_json::from_str::<serde_json::Value>(BROKEN).is_ok());
    }
}
