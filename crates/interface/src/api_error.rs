//! Errors as clients read them: a stable code and a message that reveals nothing internal.

use roundtable_domain::{Code, Refusal, ServiceError};

/// An error with a code and a message for clients.
///
/// Deliberately not `Display`: clients must read no text that was not written for them, such as details of
/// the store.
#[derive(Clone, Debug)]
pub struct ApiError {
    code: Code,
    message: String,
}

/// The message of every internal error; its details are only logged.
pub const INTERNAL_MESSAGE: &str = "internal error; it was logged, please try again";

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
    pub const fn is_hidden(&self) -> bool {
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
        if code == Code::OutcomeUnknown {
            let error = std::error::Error::source(&refusal);
            tracing::error!(error, "the outcome of a mutation is unknown");
        }
        Self::new(code, refusal.to_string())
    }
}

/// Maps an error that hides something from the viewer to `None`: hidden and missing look the same.
pub fn none_if_hidden<T>(result: Result<T, ApiError>) -> Result<Option<T>, ApiError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_hidden() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The code and the message, in which interfaces without types of ours take errors.
impl From<ApiError> for (&'static str, String) {
    fn from(ApiError { code, message }: ApiError) -> Self {
        (code.as_str(), message)
    }
}
