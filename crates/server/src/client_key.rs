//! The clients among which the server shares its capacity: accounts, and networks of anonymous clients.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use roundtable_interface::ClientInfo;
use roundtable_model::UserId;

/// The network of an address: an IPv4 address, or the first 64 bits of an IPv6 address, because one
/// client usually owns all addresses of such a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClientNetwork(IpAddr);

impl ClientNetwork {
    pub(crate) fn of(address: Option<IpAddr>) -> Self {
        // Clients without an address call from the same process.
        let address = address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        match address.to_canonical() {
            IpAddr::V4(address) => Self(IpAddr::V4(address)),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Self(IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)))
            }
        }
    }
}

/// A client that gets a share of the server: an account, or the network of an anonymous client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ClientKey {
    Account(UserId),
    Network(ClientNetwork),
}

impl ClientKey {
    pub(crate) fn of(client: &ClientInfo) -> Self {
        match &client.caller {
            Some(caller) => Self::Account(caller.user_id.clone()),
            None => Self::Network(ClientNetwork::of(client.address)),
        }
    }

    /// Returns the account of a client, if it has one, and its network: both have shares and limits, so that
    /// neither many networks of an account nor many accounts of a network get more.
    pub(crate) fn both_of(client: &ClientInfo) -> [Option<Self>; 2] {
        let account = client.caller.as_ref().map(|caller| Self::Account(caller.user_id.clone()));
        [account, Some(Self::Network(ClientNetwork::of(client.address)))]
    }

    pub(crate) const fn is_signed_in(&self) -> bool {
        matches!(self, Self::Account(_))
    }
}

/// The part of a resource that a client may take, as a divisor of the whole.
pub(crate) const CLIENT_SHARE: usize = 4;
/// The part that a client may take together with others.
pub(crate) const GROUP_SHARE: usize = 2;

/// Clients that have a share of a resource together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ShareKey {
    Account(UserId),
    /// The anonymous clients of a network.
    AnonymousNetwork(ClientNetwork),
    /// The accounts of a network. Its anonymous clients, who may be about to sign in, do not suffer from them.
    NetworkAccounts(ClientNetwork),
    AllAnonymous,
    /// All pages that are no answers, such as the metrics, whoever asks for them.
    Pages,
}

/// The two shares of a client: so neither many networks of an account nor many accounts of a network get more.
#[derive(Clone, Debug)]
pub(crate) struct ClientShares {
    pub(crate) own: ShareKey,
    pub(crate) group: ShareKey,
}

impl ClientShares {
    pub(crate) fn of(client: &ClientInfo) -> Self {
        let network = ClientNetwork::of(client.address);
        let (own, group) = match &client.caller {
            Some(caller) => {
                (ShareKey::Account(caller.user_id.clone()), ShareKey::NetworkAccounts(network))
            }
            None => (ShareKey::AnonymousNetwork(network), ShareKey::AllAnonymous),
        };
        Self { own, group }
    }

    pub(crate) const fn both(&self) -> [&ShareKey; 2] {
        [&self.own, &self.group]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(address: &str) -> ClientNetwork {
        ClientNetwork::of(Some(address.parse().unwrap()))
    }

    #[test]
    fn an_ipv6_client_is_its_network_of_64_bits() {
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::9"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
        assert_eq!(network("192.0.2.1"), network("::ffff:192.0.2.1"));
    }
}
