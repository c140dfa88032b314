//! What a way of asking lets through: a GET changes nothing, only those who can be told may listen, and a
//! key for programs is for what its owner said. Asked once a document is read, before any of it is done.

use std::any::TypeId;
use std::sync::{Arc, OnceLock};

use async_graphql::extensions::{
    Extension, ExtensionContext, ExtensionFactory, NextPrepareRequest,
};
use async_graphql::parser::types::{ExecutableDocument, OperationType};
use async_graphql::{Request, ServerResult};
use async_trait::async_trait;
use roundtable_domain::{Caller, Failure};
use roundtable_graphql::Refused;

use crate::identity::{READ_SCOPE, WRITE_SCOPE};

/// What a way of asking allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allows {
    /// To look.
    Queries,
    /// To look and to change.
    Calls,
    /// To listen, too.
    Everything,
}

/// How a request came, and what it turned out to be.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) allows: Allows,
    pub(crate) caller: Option<Caller>,
    kind: OnceLock<OperationType>,
}

impl Way {
    pub(crate) fn new(allows: Allows, caller: Option<Caller>) -> Arc<Self> {
        Arc::new(Self { allows, caller, kind: OnceLock::new() })
    }

    /// Whether it came to listening.
    pub(crate) fn listens(&self) -> bool {
        self.kind.get() == Some(&OperationType::Subscription)
    }

    fn pass(&self, kind: OperationType) -> Result<(), Refused> {
        let allowed = match kind {
            OperationType::Query => true,
            OperationType::Mutation => self.allows != Allows::Queries,
            OperationType::Subscription => self.allows == Allows::Everything,
        };
        if !allowed {
            return Err(Refused::bad(match kind {
                OperationType::Subscription => {
                    "subscriptions need a WebSocket, or `accept: text/event-stream`"
                }
                _ => "mutations need a POST",
            }));
        }
        if !is_in_scope(self.caller.as_ref(), kind) {
            return Err(Failure::Forbidden.into());
        }
        let _ = self.kind.set(kind);
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

/// What the operation does that is meant; what is meant by none is for the library to say.
fn kind(document: &ExecutableDocument, name: Option<&str>) -> Option<OperationType> {
    let mut operations = document.operations.iter();
    let found = match name {
        Some(wanted) => {
            operations.find(|(name, _)| name.is_some_and(|name| name.as_str() == wanted))
        }
        None => operations.next(),
    };
    found.map(|(_, operation)| operation.node.ty)
}

/// Stands before everything that is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate;

impl ExtensionFactory for Gate {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(*self)
    }
}

#[async_trait]
impl Extension for Gate {
    async fn prepare_request(
        &self,
        ctx: &ExtensionContext<'_>,
        mut request: Request,
        next: NextPrepareRequest<'_>,
    ) -> ServerResult<Request> {
        let way = request.data.get(&TypeId::of::<Arc<Way>>());
        let way = way.and_then(|way| way.downcast_ref::<Arc<Way>>()).cloned();
        let name = request.operation_name.clone();
        let kind = kind(request.parsed_query()?, name.as_deref());
        if let (Some(way), Some(kind)) = (way, kind) {
            way.pass(kind).map_err(Refused::unasked)?;
        }
        next.run(ctx, request).await
    }
}
