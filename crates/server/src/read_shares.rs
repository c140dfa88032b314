//! Shares of what all requests under way may read together, so that no client refuses the reads of others.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use roundtable_table::{ReadBudget, ReadPool};

use crate::client_key::{CLIENT_SHARE, ClientShares, GROUP_SHARE, ShareKey};

/// The number of shares at which those that nobody uses any more are removed for the first time.
const SHARES_MIN: usize = 64;

/// The pool of all reads, and a pool for each share of it.
#[derive(Clone, Debug)]
pub(crate) struct ReadShares {
    request_max: usize,
    bytes_max: usize,
    all: Arc<ReadPool>,
    shares: Arc<Mutex<OpenShares>>,
}

#[derive(Debug)]
struct OpenShares {
    pools: HashMap<ShareKey, Weak<ReadPool>>,
    /// The number at which unused ones are removed: the cost of that is spread over as many new ones.
    clean_at: usize,
}

impl ReadShares {
    /// Shares of `bytes_max`, each of which has room for the longest request.
    pub(crate) fn new(bytes_max: usize, request_max: usize) -> Self {
        let shares = OpenShares { pools: HashMap::new(), clean_at: SHARES_MIN };
        let (all, shares) = (Arc::new(ReadPool::new(bytes_max)), Arc::new(Mutex::new(shares)));
        Self { request_max, bytes_max, all, shares }
    }

    /// Returns what one request of a client may read.
    pub(crate) fn budget(&self, client: &ClientShares) -> ReadBudget {
        let share = |parts: usize| (self.bytes_max / parts).max(self.request_max);
        let mut shares = self.shares.lock();
        let own = shares.pool(&client.own, share(CLIENT_SHARE));
        let group = shares.pool(&client.group, share(GROUP_SHARE));
        drop(shares);
        ReadBudget::new(self.request_max, vec![own, group, Arc::clone(&self.all)])
    }
}

impl OpenShares {
    fn pool(&mut self, key: &ShareKey, bytes_max: usize) -> Arc<ReadPool> {
        if let Some(pool) = self.pools.get(key).and_then(Weak::upgrade) {
            return pool;
        }
        if self.pools.len() >= self.clean_at {
            self.pools.retain(|_, pool| pool.strong_count() > 0);
            self.clean_at = (self.pools.len() * 2).max(SHARES_MIN);
        }
        let pool = Arc::new(ReadPool::new(bytes_max));
        self.pools.insert(key.clone(), Arc::downgrade(&pool));
        pool
    }
}

#[cfg(test)]
mod tests {
    use roundtable_domain::Caller;
    use roundtable_interface::ClientInfo;

    use super::*;

    #[test]
    fn nothing_is_kept_for_clients_that_have_left() {
        let shares = ReadShares::new(1 << 20, 1 << 10);
        let client = |number: usize| {
            let caller = Some(Caller::user(format!("user-{number}").parse().unwrap()));
            ClientShares::of(&ClientInfo { caller, ..ClientInfo::default() })
        };
        let _open = shares.budget(&client(0));
        for number in 1..10 * SHARES_MIN {
            drop(shares.budget(&client(number)));
        }
        let state = shares.shares.lock();
        assert!(state.pools.len() <= SHARES_MIN, "{}", state.pools.len());
        assert!(state.pools.contains_key(&client(0).own));
    }
}
