//! The client of a request.

use std::net::IpAddr;

use roundtable_domain::Caller;
use roundtable_model::SessionId;

/// The authenticated identity and network address of a client.
#[derive(Clone, Debug, Default)]
pub struct ClientInfo {
    /// `None` for anonymous clients.
    pub caller: Option<Caller>,
    /// The session of the access token; API keys have none.
    pub session: Option<SessionId>,
    pub address: Option<IpAddr>,
}
