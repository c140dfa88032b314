//! The context of one request: its client, the services it may call, and the loaders that cache its reads.

use std::net::IpAddr;
use std::sync::Arc;

use async_graphql::Context;
use roundtable_domain::Caller;
use roundtable_model::{RequestId, SessionId, UserId};

use crate::ApiError;
use crate::cursors::CursorCipher;
use crate::loaders::Loaders;
use crate::scalars::ApiId;
use crate::services::Services;

/// The authenticated identity and network address of a client.
#[derive(Clone, Debug, Default)]
pub struct ClientInfo {
    /// `None` for anonymous clients.
    pub caller: Option<Caller>,
    /// The session of the access token; API keys have none.
    pub session: Option<SessionId>,
    pub address: Option<IpAddr>,
}

/// State shared by the resolvers of one request.
#[derive(Debug)]
pub struct RequestContext {
    client: ClientInfo,
    services: Services,
    pub(crate) loaders: Loaders,
}

impl RequestContext {
    pub fn new(client: ClientInfo, services: Services) -> Self {
        let loaders = Loaders::new(&services, client.caller.clone());
        Self { client, services, loaders }
    }

    pub(crate) fn of<'a>(ctx: &Context<'a>) -> Result<&'a Self, ApiError> {
        let context = ctx.data_opt::<Arc<Self>>().map(|context| &**context);
        context.ok_or_else(ApiError::unauthenticated)
    }

    /// Returns the caller, or `None` for anonymous clients.
    pub(crate) const fn viewer(&self) -> Option<&Caller> {
        self.client.caller.as_ref()
    }

    /// Returns the caller, or an error for anonymous clients.
    pub(crate) fn caller(&self) -> Result<&Caller, ApiError> {
        self.viewer().ok_or_else(ApiError::unauthenticated)
    }

    pub(crate) fn user_or_caller(&self, user: Option<ApiId<UserId>>) -> Result<UserId, ApiError> {
        user.map_or_else(|| Ok(self.caller()?.user_id.clone()), |user| Ok(user.0))
    }

    pub(crate) const fn client(&self) -> &ClientInfo {
        &self.client
    }

    pub(crate) const fn services(&self) -> &Services {
        &self.services
    }

    pub(crate) fn cursors(&self) -> &CursorCipher {
        &self.services.cursors
    }
}

/// The `requestId` argument that makes a mutation idempotent.
pub(crate) type RequestIdArg = Option<ApiId<RequestId>>;

pub(crate) fn id_ref(request: &RequestIdArg) -> Option<&RequestId> {
    request.as_ref().map(|id| &id.0)
}
