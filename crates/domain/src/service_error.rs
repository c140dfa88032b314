//! Errors common to all services.

use roundtable_model::{Error, InvalidValue, Tier, table};

use crate::{Code, Refusal};

/// The advice to the client of a mutation that may or may not have been made.
pub const OUTCOME_UNKNOWN: &str = "the change may or may not have been made: repeat it with the same requestId, \
                                   and it takes effect once; without one, look before you repeat it";

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
    /// A write to a group that was archived for lack of activity.
    #[error(
        "this group is archived and cannot be changed; its owner can revive it with reviveGroup"
    )]
    GroupArchived,
    #[error("too many requests; try again in {retry_after_seconds} seconds")]
    RateLimited { retry_after_seconds: u64 },
    #[error(
        "too many changes: the tier `{tier}` allows {per_minute} a minute; try again in {retry_after_seconds} \
         seconds"
    )]
    TooManyWrites { tier: Tier, per_minute: u32, retry_after_seconds: u64 },
    #[error("the tier `{tier}` allows at most {max} {limit}; {advice}")]
    TierLimitReached { tier: Tier, max: u64, limit: &'static str, advice: &'static str },
    /// Concurrent changes to the same items kept winning.
    #[error("too many concurrent changes; try again")]
    Busy,
    /// The store rejected a write for lack of throughput, also when it was repeated.
    #[error("the store is overloaded; try again in a second, with the same requestId")]
    Throttled,
    /// A write had no answer, or the time of the mutation ended before it.
    #[error("{}", OUTCOME_UNKNOWN)]
    OutcomeUnknown { source: table::Error },
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

    /// Returns the error of a mutation that has been made, or may have been, before the store failed.
    pub(crate) fn with_outcome_unknown(self) -> Self {
        match self {
            Self::Store(Error::Table(source)) => Self::OutcomeUnknown { source },
            other => other,
        }
    }

    /// Returns the error of a write, which may have happened even if the store did not say so.
    pub(crate) fn of_write(error: table::Error) -> Self {
        if error.leaves_outcome_unknown() {
            Self::OutcomeUnknown { source: error }
        } else {
            error.into()
        }
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
            Self::RateLimited { .. }
            | Self::TooManyWrites { .. }
            | Self::Throttled
            | Self::Store(Error::Table(table::Error::ReadPoolFull)) => Code::RateLimited,
            Self::TierLimitReached { .. } => Code::QuotaExceeded,
            Self::Busy | Self::GroupArchived => Code::Conflict,
            Self::OutcomeUnknown { .. } => Code::OutcomeUnknown,
            Self::Store(Error::Table(table::Error::ReadBudget { .. })) => Code::TooComplex,
            Self::Store(Error::Table(table::Error::WritesPaused { .. })) => Code::ReadOnly,
            Self::Store(_) | Self::Internal(_) => Code::Internal,
        }
    }
}
