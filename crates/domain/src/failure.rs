//! What can happen to every request, whichever service it goes to.

use roundtable_model::{Error, Misfit, table};

use crate::{Code, Refusal};

/// A refusal or failure that is no service's own.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// Nobody is signed in.
    #[error("sign in first")]
    Unauthenticated,
    /// The account can no longer be used.
    #[error("this account is suspended")]
    Suspended,
    /// The caller may not do this.
    #[error("you are not allowed to do this")]
    Forbidden,
    /// An input is not what it must be.
    #[error("{field}: {misfit}")]
    BadInput {
        /// Which input.
        field: &'static str,
        /// What is wrong with it.
        misfit: Misfit,
    },
    /// The same request id came with other input.
    #[error("this requestId was used for another request")]
    IdempotencyMismatch,
    /// Too much in too short a time.
    #[error("too many requests; try again in {retry_after_seconds} seconds")]
    RateLimited {
        /// When it makes sense to try again.
        retry_after_seconds: u64,
    },
    /// Others kept changing the same thing.
    #[error("others are changing this at the moment; try again")]
    Busy,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Error),
    /// Something that cannot be happened.
    #[error("{0}")]
    Internal(String),
}

impl Failure {
    /// An input that does not fit.
    pub fn bad(field: &'static str, misfit: Misfit) -> Self {
        Self::BadInput { field, misfit }
    }
}

impl From<table::Error> for Failure {
    fn from(error: table::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Refusal for Failure {
    fn code(&self) -> Code {
        match self {
            Self::Unauthenticated => Code::Unauthenticated,
            Self::Suspended | Self::Forbidden => Code::Forbidden,
            // A cursor or a page size comes from the client; everything else of the store is ours.
            Self::BadInput { .. }
            | Self::Store(Error::BadCursor { .. } | Error::BadLimit { .. }) => Code::BadRequest,
            Self::IdempotencyMismatch => Code::IdempotencyMismatch,
            Self::RateLimited { .. } => Code::RateLimited,
            Self::Busy => Code::Conflict,
            Self::Store(_) | Self::Internal(_) => Code::Internal,
        }
    }
}
