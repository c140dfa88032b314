//! How refusals are named: nine codes, as the API's contract has them.

use std::fmt;

/// The stable name of a kind of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The request makes no sense as it is.
    BadRequest,
    /// Nobody is signed in, or not as far as this needs.
    Unauthenticated,
    /// Signed in, and not allowed.
    Forbidden,
    /// There is no such thing, as far as the caller may know.
    NotFound,
    /// Something else was there first, or changed meanwhile.
    Conflict,
    /// The request's id was used with other input.
    IdempotencyMismatch,
    /// Too much in too short a time.
    RateLimited,
    /// More than one request may ask for.
    TooComplex,
    /// Our fault; nothing about it leaves the process.
    Internal,
}

impl Code {
    /// As clients read it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BadRequest => "BAD_REQUEST",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::NotFound => "NOT_FOUND",
            Self::Conflict => "CONFLICT",
            Self::IdempotencyMismatch => "IDEMPOTENCY_MISMATCH",
            Self::RateLimited => "RATE_LIMITED",
            Self::TooComplex => "TOO_COMPLEX",
            Self::Internal => "INTERNAL",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error of a service: its text is a sentence for people, except for [`Code::Internal`], whose text
/// is for the log only.
pub trait Refusal: std::error::Error + Send + Sync + 'static {
    /// Its code.
    fn code(&self) -> Code;
}

/// Defines the refusals of a service, each with its code and its sentence. Every service can also fail
/// as any other does, with a [`crate::Failure`].
///
/// ```text
/// refusals! {
///     /// Why a follow did not happen.
///     FollowError {
///         Yourself: BadRequest = "nobody can follow themselves",
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
            /// What can happen to every request.
            #[error(transparent)]
            Failed(#[from] $crate::Failure),
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
