//! How far messages go: anywhere, or only to what is somebody's on the internet. Looked at where names
//! become addresses, for every connection: a name may lead elsewhere the next time.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec;

use hyper::Uri;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use roundtable_domain::is_public;
use tower_service::Service;

/// How far messages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Anywhere, also to this machine: where whoever runs it says where to.
    Everything,
    /// To addresses of the internet: where others say where to.
    Public,
}

impl Reach {
    fn allows(self, address: IpAddr) -> bool {
        self == Self::Everything || is_public(address)
    }

    /// Whether an address with numbers instead of a name is within reach; one with a name may be.
    pub(crate) fn allows_literal(self, address: &Uri) -> bool {
        let host = address.host().unwrap_or_default();
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        host.parse().map_or(true, |address| self.allows(address))
    }
}

/// Looks up names as the system does, and passes on what is within reach.
#[derive(Clone, Debug)]
pub(crate) struct Resolver {
    reach: Reach,
    system: GaiResolver,
}

impl Resolver {
    pub(crate) fn new(reach: Reach) -> Self {
        Self { reach, system: GaiResolver::new() }
    }
}

impl Service<Name> for Resolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.system.poll_ready(context)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (reach, found) = (self.reach, self.system.call(name));
        Box::pin(async move {
            let found = found.await?;
            let within = found.filter(|address| reach.allows(address.ip()));
            let within: Vec<SocketAddr> = within.collect();
            if within.is_empty() {
                let why = "the name leads to this machine or its network, or nowhere";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
            }
            Ok(within.into_iter())
        })
    }
}
