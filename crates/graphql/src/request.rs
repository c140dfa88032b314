//! One request: who asks, from where, with which services; what it has looked up it does not look up
//! again.

use std::net::IpAddr;
use std::sync::Arc;

use async_graphql::Context;
use roundtable_domain::Caller;
use roundtable_model::{RequestId, SessionId, UserId};

use crate::Refused;
use crate::cursors::Cursors;
use crate::loaders::Loaders;
use crate::scalars::Id;
use crate::services::Services;

/// Who asks, as far as it was proven, and from where.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// Somebody who is signed in.
    pub caller: Option<Caller>,
    /// The session that they are signed in with.
    pub session: Option<SessionId>,
    /// Where they are.
    pub address: Option<IpAddr>,
}

/// What the resolvers of a request share.
#[derive(Debug)]
pub struct Asked {
    client: Client,
    services: Services,
    pub(crate) load: Loaders,
}

impl Asked {
    /// A request of this client.
    pub fn new(client: Client, services: Services) -> Self {
        let load = Loaders::new(&services, client.caller.clone());
        Self { client, services, load }
    }

    /// The request that is being answered.
    pub(crate) fn of<'a>(ctx: &Context<'a>) -> Result<&'a Self, Refused> {
        let asked = ctx.data_opt::<Arc<Self>>().map(|asked| &**asked);
        asked.ok_or_else(Refused::unauthenticated)
    }

    /// Who looks; nobody in particular when nobody is signed in.
    pub(crate) const fn viewer(&self) -> Option<&Caller> {
        self.client.caller.as_ref()
    }

    /// Who acts.
    pub(crate) fn caller(&self) -> Result<&Caller, Refused> {
        self.viewer().ok_or_else(Refused::unauthenticated)
    }

    /// The person who is meant: the caller, unless it is somebody else.
    pub(crate) fn meant(&self, other: Option<Id<UserId>>) -> Result<UserId, Refused> {
        other.map_or_else(|| Ok(self.caller()?.user_id.clone()), |other| Ok(other.0))
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) const fn services(&self) -> &Services {
        &self.services
    }

    pub(crate) fn cursors(&self) -> &Cursors {
        &self.services.cursors
    }
}

/// The id that makes a mutation happen once.
pub(crate) type Once = Option<Id<RequestId>>;

/// As services take it.
pub(crate) fn once(request: &Once) -> Option<&RequestId> {
    request.as_ref().map(|id| &id.0)
}
