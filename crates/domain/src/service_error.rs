//! Errors common to all services.

use roundtable_model::{Error, InvalidValue, table};

use crate::{Code, Refusal};

/// A refusal or failure that is not specific to one service.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    #[error("sign in first")]
    Unauthenticated,
    #[error("this account is suspended")]
    Suspended,
    #[error("you are not allowed to do this")]
    Forbidden,
    #[error("API keys cannot do this; sign in with your password")]
    ApiKeyNotAllowed,
    #[error("{field}: {invalid}")]
    BadInput { field: &'static str, invalid: InvalidValue },
    #[error("this requestId was already used with other input")]
    IdempotencyMismatch,
    #[error("too many requests; try again in {retry_after_seconds} seconds")]
    RateLimited { retry_after_seconds: u64 },
    /// Concurrent changes to the same items kept winning.
    #[error("too many concurrent changes; try again")]
    Busy,
    #[error(transparent)]
    Store(#[from] Error),
    /// A bug: a state that should be impossible.
    #[error("{0}")]
    Internal(String),
}

impl ServiceError {
    pub fn bad_input(field: &'static str, invalid: InvalidValue) -> Self {
        Self::BadInput { field, invalid }
    }
}

impl From<table::Error> for ServiceError {
    fn from(error: table::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Refusal for ServiceError {
    fn code(&self) -> Code {
        match self {
            Self::Unauthenticated => Code::Unauthenticated,
            Self::Suspended | Self::Forbidden | Self::ApiKeyNotAllowed => Code::Forbidden,
            // Cursors and page sizes come from the client. All other storage errors are internal.
            Self::BadInput { .. }
            | Self::Store(Error::InvalidCursor { .. } | Error::InvalidLimit { .. }) => {
                Code::BadRequest
            }
            Self::IdempotencyMismatch => Code::IdempotencyMismatch,
            Self::RateLimited { .. } | Self::Store(Error::Table(table::Error::ReadPoolFull)) => {
                Code::RateLimited
            }
            Self::Busy => Code::Conflict,
            Self::Store(Error::Table(table::Error::ReadBudget { .. })) => Code::TooComplex,
            Self::Store(Error::Table(table::Error::WritesPaused { .. })) => Code::ReadOnly,
            Self::Store(_) | Self::Internal(_) => Code::Internal,
        }
    }
}
