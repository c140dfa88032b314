//! Stable error codes of services. The API's contract has two more, of requests that name a document.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    BadRequest,
    /// The caller is not signed in, or not with sufficient credentials.
    Unauthenticated,
    Forbidden,
    /// The object does not exist, or the caller may not know that it does.
    NotFound,
    /// The object already exists, or changed concurrently.
    Conflict,
    /// The request's id was already used with other input.
    IdempotencyMismatch,
    RateLimited,
    /// The caller has used up a quota of their own.
    QuotaExceeded,
    /// The server has no space left for files.
    StorageFull,
    /// The request asks for more than one request may.
    TooComplex,
    /// The search index is not complete yet.
    IndexBuilding,
    /// The store takes no changes for now, and made none.
    ReadOnly,
    /// The change may or may not have been made, and repeating it with its request id is safe.
    OutcomeUnknown,
    /// An internal error. Its text is logged and never sent to a client.
    Internal,
}

impl Code {
    /// The code as sent to clients.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BadRequest => "BAD_REQUEST",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::NotFound => "NOT_FOUND",
            Self::Conflict => "CONFLICT",
            Self::IdempotencyMismatch => "IDEMPOTENCY_MISMATCH",
            Self::RateLimited => "RATE_LIMITED",
            Self::QuotaExceeded => "QUOTA_EXCEEDED",
            Self::StorageFull => "STORAGE_FULL",
            Self::TooComplex => "TOO_COMPLEX",
            Self::IndexBuilding => "INDEX_BUILDING",
            Self::ReadOnly => "READ_ONLY",
            Self::OutcomeUnknown => "OUTCOME_UNKNOWN",
            Self::Internal => "INTERNAL",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error of a service. Its text is meant for users, except with [`Code::Internal`], where it is
/// for the log only.
pub trait Refusal: std::error::Error + Send + Sync + 'static {
    fn code(&self) -> Code;
}

/// Defines a service's errors, each with its code and its text. Every service can also fail with a
/// [`crate::ServiceError`].
///
/// ```text
/// refusals! {
///     /// Errors of follows.
///     FollowError {
///         Yourself: BadRequest = "you cannot follow yourself",
///     }
/// }
/// ```
#[macro_export]
macro_rules! refusals {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$variant_doc:meta])* $variant:ident: $code:ident = $sentence:literal,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, thiserror::Error)]
        #[non_exhaustive]
        pub enum $name {
            $(
                $(#[$variant_doc])*
                #[doc = $sentence]
                #[error($sentence)]
                $variant,
            )*
            /// A failure common to all services.
            #[error(transparent)]
            Failed(#[from] $crate::ServiceError),
        }

        impl $crate::Refusal for $name {
            fn code(&self) -> $crate::Code {
                match self {
                    $(Self::$variant => $crate::Code::$code,)*
                    Self::Failed(failure) => $crate::Refusal::code(failure),
                }
            }
        }

        impl From<roundtable_model::Error> for $name {
            fn from(error: roundtable_model::Error) -> Self {
                Self::Failed(error.into())
            }
        }
    };
}
