//! Errors as clients read them: a stable code and a message that reveals nothing internal.

use async_graphql::{Error, ErrorExtensionValues, Pos, Response, ServerError};
use roundtable_domain::{Code, Refusal, ServiceError};

/// An error with a code and a message for clients.
///
/// Deliberately not `Display`: async-graphql would turn any `Display` error into client-visible text, and
/// leak details of the store with it.
#[derive(Clone, Debug)]
pub struct ApiError {
    code: Code,
    message: String,
}

/// The message of every internal error; its details are only logged.
const INTERNAL_MESSAGE: &str = "internal error; it was logged, please try again";

/// The extension of an error whose request may or may not have taken effect.
pub(crate) const OUTCOME: &str = "outcome";

impl ApiError {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, message)
    }

    pub fn unauthenticated() -> Self {
        ServiceError::Unauthenticated.into()
    }

    /// Returns whether the error only says that there is nothing the viewer may see.
    pub(crate) const fn is_hidden(&self) -> bool {
        matches!(self.code, Code::NotFound | Code::Forbidden | Code::Unauthenticated)
    }

    pub const fn code(&self) -> Code {
        self.code
    }

    /// Converts into the error of a request that was never executed. It has no location, because the
    /// document may not have been parsed.
    pub fn into_request_error(self) -> ServerError {
        let error: Error = self.into();
        ServerError { locations: Vec::new(), ..error.into_server_error(Pos::default()) }
    }

    /// Converts into the response to a request that was started and abandoned: it may have taken effect.
    pub fn into_unknown_outcome(self) -> Response {
        let mut error = self.into_request_error();
        error.extensions.get_or_insert_default().set(OUTCOME, "UNKNOWN");
        Response::from_errors(vec![error])
    }
}

impl<R: Refusal> From<R> for ApiError {
    fn from(refusal: R) -> Self {
        let code = refusal.code();
        if code == Code::Internal {
            tracing::error!(error = %refusal, "a request failed");
            return Self::new(code, INTERNAL_MESSAGE);
        }
        Self::new(code, refusal.to_string())
    }
}

/// Maps an error that hides something from the viewer to `None`: hidden and missing look the same.
pub(crate) fn none_if_hidden<T>(result: Result<T, ApiError>) -> Result<Option<T>, ApiError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_hidden() => Ok(None),
        Err(error) => Err(error),
    }
}

impl From<ApiError> for Response {
    fn from(error: ApiError) -> Self {
        Self::from_errors(vec![error.into_request_error()])
    }
}

impl From<ApiError> for Error {
    fn from(error: ApiError) -> Self {
        let mut extensions = ErrorExtensionValues::default();
        extensions.set("code", error.code.as_str());
        Self { message: error.message, source: None, extensions: Some(extensions) }
    }
}
