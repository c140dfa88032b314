//! The SDK's errors in the contract's words, told apart by code and never by English text.

use std::error::Error as StdError;
use std::fmt::Debug;

use aws_sdk_dynamodb::error::{BuildError, DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::error::ConditionalCheckFailedException;
use roundtable_table::{Error, Invalid};

/// The codes this backend acts on.
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
}

/// The code of a service error.
pub(crate) fn code_of<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> Option<&str> {
    error.as_service_error().and_then(ProvideErrorMetadata::code)
}

/// The contract's error for one that needs no closer look.
pub(crate) fn refusal<E, R>(error: &SdkError<E, R>, table: &str) -> Error
where
    E: ProvideErrorMetadata + StdError + 'static,
    R: Debug,
{
    let detail = || DisplayErrorContext(error).to_string();
    match code_of(error) {
        Some(code::TABLE_MISSING) => Error::TableMissing { table: table.to_owned() },
        Some(code::TOKEN_MISMATCH) => Error::TokenReused,
        Some(code::VALIDATION) => Invalid::Refused { detail: message(error) }.into(),
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

/// A request that lacks a part the SDK demands: a fault of this crate.
#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
pub(crate) fn unbuilt(error: BuildError) -> Error {
    Error::Unexpected { detail: error.to_string() }
}

/// The errors of single writes.
pub(crate) trait WriteError:
    ProvideErrorMetadata + StdError + Send + Sync + 'static
{
    /// What is known when the condition did not hold: the item there was, if it was asked for.
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
