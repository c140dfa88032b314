//! What a way of asking lets through: a GET changes nothing, only those who can be told may listen, and a
//! key for programs is for what its owner said. Asked once a document is read, before any of it is done.

use async_graphql::parser::types::OperationType;
use roundtable_domain::{Caller, Failure};
use roundtable_graphql::Refused;

use crate::identity::{READ_SCOPE, WRITE_SCOPE};

/// What a way of asking allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allows {
    /// To look.
    Queries,
    /// To look and to listen.
    Listening,
    /// To look and to change.
    Calls,
    /// To look, to change and to listen.
    Everything,
}

impl Allows {
    /// Lets somebody through who asks for this, or says why not.
    pub(crate) fn pass(self, caller: Option<&Caller>, kind: OperationType) -> Result<(), Refused> {
        let allowed = match kind {
            OperationType::Query => true,
            OperationType::Mutation => matches!(self, Self::Calls | Self::Everything),
            OperationType::Subscription => matches!(self, Self::Listening | Self::Everything),
        };
        if !allowed {
            return Err(Refused::bad(match kind {
                OperationType::Subscription => {
                    "subscriptions need a WebSocket, or `accept: text/event-stream`"
                }
                _ => "mutations need a POST",
            }));
        }
        if !is_in_scope(caller, kind) {
            return Err(Failure::Forbidden.into());
        }
        Ok(())
    }
}

/// Whether a key for programs is for this; people themselves are for everything.
fn is_in_scope(caller: Option<&Caller>, kind: OperationType) -> bool {
    caller.is_none_or(|caller| {
        let writes = caller.has_scope(WRITE_SCOPE);
        writes || kind != OperationType::Mutation && caller.has_scope(READ_SCOPE)
    })
}
