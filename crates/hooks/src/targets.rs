//! The targets that messages may reach: any, or public addresses alone. Checked when a name is
//! resolved, for every connection, because a name may point elsewhere the next time.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllowedTargets {
    /// Any address, for URLs that the operator configures.
    Any,
    /// Public addresses, for URLs that users configure.
    Public,
}

impl AllowedTargets {
    fn allows(self, address: IpAddr) -> bool {
        self == Self::Any || is_public(address)
    }

    /// Returns whether a literal IP address is allowed; names are checked when they are resolved.
    pub(crate) fn allows_literal(self, address: &Uri) -> bool {
        let host = address.host().unwrap_or_default();
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        host.parse().map_or(true, |address| self.allows(address))
    }
}

/// Resolves names with the system's resolver, and drops addresses that are not allowed.
#[derive(Clone, Debug)]
pub(crate) struct FilteringResolver {
    targets: AllowedTargets,
    system: GaiResolver,
}

impl FilteringResolver {
    pub(crate) fn new(targets: AllowedTargets) -> Self {
        Self { targets, system: GaiResolver::new() }
    }
}

impl Service<Name> for FilteringResolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.system.poll_ready(context)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (targets, resolved) = (self.targets, self.system.call(name));
        Box::pin(async move {
            let resolved = resolved.await?;
            let allowed = resolved.filter(|address| targets.allows(address.ip()));
            let allowed: Vec<SocketAddr> = allowed.collect();
            if allowed.is_empty() {
                let problem = "the name resolves to no address, or to this machine or its network";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
            }
            Ok(allowed.into_iter())
        })
    }
}
