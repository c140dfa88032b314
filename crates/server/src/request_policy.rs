//! The operations that a transport and a credential permit: a GET never mutates, subscriptions need a
//! streaming transport, and API keys are limited to their scopes. Checked after parsing and before
//! execution.

use roundtable_domain::{Caller, ServiceError};
use roundtable_graphql::OperationType;
use roundtable_interface::ApiError;

use crate::authentication::{READ_SCOPE, WRITE_SCOPE};

/// Operations that a transport permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllowedOperations {
    QueriesOnly,
    QueriesAndSubscriptions,
    QueriesAndMutations,
    All,
}

impl AllowedOperations {
    /// Returns an error if the transport or the caller's scopes do not permit the operation.
    pub(crate) fn check(
        self,
        caller: Option<&Caller>,
        operation: OperationType,
    ) -> Result<(), ApiError> {
        let is_allowed = match operation {
            OperationType::Query => true,
            OperationType::Mutation => matches!(self, Self::QueriesAndMutations | Self::All),
            OperationType::Subscription => {
                matches!(self, Self::QueriesAndSubscriptions | Self::All)
            }
        };
        if !is_allowed {
            return Err(ApiError::bad_request(match operation {
                OperationType::Subscription => {
                    "subscriptions need a WebSocket, or `accept: text/event-stream`"
                }
                _ => "mutations need a POST",
            }));
        }
        if !is_in_scope(caller, operation) {
            return Err(ServiceError::Forbidden.into());
        }
        Ok(())
    }
}

/// Returns whether an API key's scopes cover the operation; other callers have no scopes.
fn is_in_scope(caller: Option<&Caller>, operation: OperationType) -> bool {
    caller.is_none_or(|caller| {
        let may_write = caller.has_scope(WRITE_SCOPE);
        may_write || operation != OperationType::Mutation && caller.has_scope(READ_SCOPE)
    })
}
