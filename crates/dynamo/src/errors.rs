//! Maps the SDK's errors to the contract's, by code and never by English text.

use std::error::Error as StdError;
use std::fmt::Debug;

use aws_sdk_dynamodb::error::{BuildError, DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::error::ConditionalCheckFailedException;
use roundtable_table::{Error, Invalid};

pub(crate) mod code {
    pub(crate) const TABLE_MISSING: &str = "ResourceNotFoundException";
    pub(crate) const TABLE_IN_USE: &str = "ResourceInUseException";
    pub(crate) const VALIDATION: &str = "ValidationException";
    pub(crate) const THROTTLED: &str = "ThrottlingException";
    pub(crate) const OVER_THROUGHPUT: &str = "ProvisionedThroughputExceededException";
    pub(crate) const OVER_REQUESTS: &str = "RequestLimitExceeded";
    pub(crate) const CONFLICT: &str = "TransactionConflictException";
    pub(crate) const IN_PROGRESS: &str = "TransactionInProgressException";
    pub(crate) const TOKEN_MISMATCH: &str = "IdempotentParameterMismatchException";
    pub(crate) const ITERATOR_EXPIRED: &str = "ExpiredIteratorException";
    pub(crate) const TRIMMED: &str = "TrimmedDataAccessException";
    /// Credentials that are missing, unknown or expired, or lack a permission.
    pub(crate) const DENIED: [&str; 7] = [
        "AccessDeniedException",
        "ExpiredTokenException",
        "IncompleteSignatureException",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "UnrecognizedClientException",
    ];
}

pub(crate) fn code_of<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> Option<&str> {
    error.as_service_error().and_then(ProvideErrorMetadata::code)
}

/// Maps an error that needs no special handling.
pub(crate) fn to_error<E, R>(error: &SdkError<E, R>, table: &str) -> Error
where
    E: ProvideErrorMetadata + StdError + 'static,
    R: Debug,
{
    let detail = || DisplayErrorContext(error).to_string();
    match code_of(error) {
        Some(code::TABLE_MISSING) => Error::TableNotFound { table: table.to_owned() },
        Some(code::TOKEN_MISMATCH) => Error::TokenReused,
        Some(code::VALIDATION) => Invalid::Rejected { detail: message(error) }.into(),
        Some(code) if code::DENIED.contains(&code) => {
            let detail = format!("{code}: {}", message(error));
            Error::Denied { table: table.to_owned(), detail }
        }
        Some(code) => Error::Unavailable { detail: format!("{code}: {}", message(error)) },
        None => match error {
            SdkError::ConstructionFailure(_) => Error::Unexpected { detail: detail() },
            _ => Error::Unavailable { detail: detail() },
        },
    }
}

fn message<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> String {
    let message = error.as_service_error().and_then(ProvideErrorMetadata::message);
    message.unwrap_or("no reason given").to_owned()
}

/// Maps the error for a request that lacks a required part, which is a bug in this crate.
#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
pub(crate) fn build_error(error: BuildError) -> Error {
    Error::Unexpected { detail: error.to_string() }
}

pub(crate) trait WriteError:
    ProvideErrorMetadata + StdError + Send + Sync + 'static
{
    /// Returns the failed condition check, with the existing item if it was requested.
    fn condition_failed(&self) -> Option<&ConditionalCheckFailedException>;
}

macro_rules! write_errors {
    ($($error:ident)*) => {$(
        impl WriteError for $error {
            fn condition_failed(&self) -> Option<&ConditionalCheckFailedException> {
                match self {
                    Self::ConditionalCheckFailedException(failed) => Some(failed),
                    _ => None,
                }
            }
        }
    )*};
}

write_errors! { PutItemError UpdateItemError DeleteItemError }
