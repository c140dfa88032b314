//! The client of a request.

use std::net::IpAddr;

use roundtable_domain::Caller;

/// The authenticated identity and network address of a client.
#[derive(Clone, Debug, Default)]
pub struct ClientInfo {
    /// `None` for anonymous clients.
    pub caller: Option<Caller>,
    pub address: Option<IpAddr>,
}
