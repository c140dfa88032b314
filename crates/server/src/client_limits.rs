//! Limits on what one account, and one network, may have under way at the same time.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use roundtable_interface::ClientInfo;

use crate::client_key::ClientKey;

/// The most that an account and a network may have under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientMaxima {
    pub(crate) account: usize,
    pub(crate) network: usize,
}

/// Counts what each account and each network has under way.
#[derive(Clone, Debug)]
pub(crate) struct ClientLimits {
    maxima: ClientMaxima,
    counts: Arc<Mutex<HashMap<ClientKey, usize>>>,
}

/// Something under way; counted until it is dropped.
#[derive(Debug)]
pub(crate) struct ClientGuard {
    counts: Arc<Mutex<HashMap<ClientKey, usize>>>,
    keys: [Option<ClientKey>; 2],
}

/// The limit that a client has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientLimitReached {
    Account,
    Network,
}

impl ClientLimits {
    pub(crate) fn new(maxima: ClientMaxima) -> Self {
        Self { maxima, counts: Arc::default() }
    }

    /// Counts one more for the account and the network of a client, unless one of them has too many.
    pub(crate) fn enter(&self, client: &ClientInfo) -> Result<ClientGuard, ClientLimitReached> {
        let keys = ClientKey::both_of(client);
        let mut counts = self.counts.lock();
        for key in keys.iter().flatten() {
            let (max, reached) = match key {
                ClientKey::Account(_) => (self.maxima.account, ClientLimitReached::Account),
                ClientKey::Network(_) => (self.maxima.network, ClientLimitReached::Network),
            };
            if counts.get(key).copied().unwrap_or(0) >= max {
                return Err(reached);
            }
        }
        keys.iter().flatten().for_each(|key| *counts.entry(key.clone()).or_default() += 1);
        Ok(ClientGuard { counts: Arc::clone(&self.counts), keys })
    }
}

impl Drop for ClientGuard {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        for key in self.keys.iter_mut().filter_map(Option::take) {
            match counts.get_mut(&key) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(counts.remove(&key)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use roundtable_domain::Caller;

    use super::*;

    fn client(name: Option<&str>, address: &str) -> ClientInfo {
        let caller = name.map(|name| Caller::user(name.parse().unwrap()));
        ClientInfo { caller, address: Some(address.parse().unwrap()) }
    }

    #[test]
    fn an_account_and_a_network_have_limits_of_their_own() {
        let limits = ClientLimits::new(ClientMaxima { account: 1, network: 2 });
        let ana = client(Some("ana"), "192.0.2.1");
        let first = limits.enter(&ana).unwrap();
        assert_eq!(limits.enter(&ana).unwrap_err(), ClientLimitReached::Account);
        // Elsewhere it is the same account.
        let ana_elsewhere = client(Some("ana"), "192.0.2.2");
        assert_eq!(limits.enter(&ana_elsewhere).unwrap_err(), ClientLimitReached::Account);
        let second = limits.enter(&client(None, "192.0.2.1")).unwrap();
        let third = limits.enter(&client(Some("bo"), "192.0.2.1"));
        assert_eq!(third.unwrap_err(), ClientLimitReached::Network);
        drop((first, second));
        assert!(limits.counts.lock().is_empty(), "nothing is kept for clients that have left");
        assert!(limits.enter(&ana).is_ok());
    }
}
