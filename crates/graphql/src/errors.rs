//! Errors as clients read them: a stable code and a message that reveals nothing internal.

use roundtable_domain::{Code, Refusal, ServiceError};
use roundtable_execution::{FieldError, INTERNAL_MESSAGE, RequestError};

/// An error with a code and a message for clients.
///
/// Deliberately not `Display`: clients must read no text that was not written for them, such as details of
/// the store.
#[derive(Clone, Debug)]
pub struct ApiError {
    code: Code,
    message: String,
}

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

impl From<ApiError> for FieldError {
    fn from(ApiError { code, message }: ApiError) -> Self {
        Self { code: code.as_str(), message }
    }
}

impl From<ApiError> for RequestError {
    fn from(ApiError { code, message }: ApiError) -> Self {
        Self { code: code.as_str(), message, location: None }
    }
}
