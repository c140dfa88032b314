//! Bytes of memory that clients share: an account and a network have a share each, and anonymous clients
//! together leave a part to the others.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use roundtable_interface::ClientInfo;
use tokio::sync::{AcquireError, Semaphore};

use crate::client_key::ClientKey;

/// An account, and a network, may have this part of a pool.
const CLIENT_SHARE: usize = 4;
/// All anonymous clients together may have this part.
const ANONYMOUS_SHARE: usize = 2;

#[derive(Clone, Debug)]
pub(super) struct BytePool {
    bytes_max: usize,
    client_max: usize,
    all: Arc<Semaphore>,
    anonymous: Arc<Semaphore>,
    /// Of accounts and networks that have something in the pool.
    clients: Arc<Mutex<HashMap<ClientKey, Arc<Semaphore>>>>,
}

/// Bytes of a pool that one client has, until this is dropped.
#[derive(Debug)]
pub(super) struct PoolBytes {
    pool: BytePool,
    keys: [Option<ClientKey>; 2],
    /// The client's own shares come first: its requests wait for each other and for no others.
    semaphores: Vec<Arc<Semaphore>>,
    bytes: usize,
}

impl BytePool {
    /// A pool in which every share has room for `bytes_min`.
    pub(super) fn new(bytes_max: usize, bytes_min: usize) -> Self {
        let bytes_max = bytes_max.min(Semaphore::MAX_PERMITS);
        let share = |share: usize| (bytes_max / share).max(bytes_min).min(bytes_max);
        Self {
            bytes_max,
            client_max: share(CLIENT_SHARE),
            all: Arc::new(Semaphore::new(bytes_max)),
            anonymous: Arc::new(Semaphore::new(share(ANONYMOUS_SHARE))),
            clients: Arc::default(),
        }
    }

    pub(super) fn used(&self) -> usize {
        self.bytes_max.saturating_sub(self.all.available_permits())
    }

    /// Returns no bytes yet, in the name of this client.
    pub(super) fn open(&self, client: &ClientInfo) -> PoolBytes {
        let is_anonymous = client.caller.is_none();
        let keys = ClientKey::both_of(client);
        let mut clients = self.clients.lock();
        let own = keys.iter().flatten().map(|key| {
            let share = || Arc::new(Semaphore::new(self.client_max));
            Arc::clone(clients.entry(key.clone()).or_insert_with(share))
        });
        let mut semaphores: Vec<_> = own.collect();
        drop(clients);
        if is_anonymous {
            semaphores.push(Arc::clone(&self.anonymous));
        }
        semaphores.push(Arc::clone(&self.all));
        PoolBytes { pool: self.clone(), keys, semaphores, bytes: 0 }
    }
}

impl PoolBytes {
    pub(super) const fn len(&self) -> usize {
        self.bytes
    }

    /// Returns how many more bytes fit if the client has no others.
    pub(super) const fn room(&self) -> usize {
        self.pool.client_max.saturating_sub(self.bytes)
    }

    /// Takes more bytes; waits until there are so many.
    pub(super) async fn add(&mut self, bytes: u32) -> Result<(), AcquireError> {
        let mut permits = Vec::with_capacity(self.semaphores.len());
        for semaphore in &self.semaphores {
            permits.push(semaphore.acquire_many(bytes).await?);
        }
        // Returned by `drop`.
        permits.into_iter().for_each(tokio::sync::SemaphorePermit::forget);
        self.bytes += bytes as usize;
        Ok(())
    }
}

impl Drop for PoolBytes {
    fn drop(&mut self) {
        self.semaphores.iter().for_each(|semaphore| semaphore.add_permits(self.bytes));
        let mut clients = self.pool.clients.lock();
        self.semaphores.clear();
        for key in self.keys.iter().flatten() {
            if clients.get(key).is_some_and(|share| Arc::strong_count(share) == 1) {
                clients.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use roundtable_domain::Caller;

    use super::*;

    fn client(name: Option<&str>, last: u8) -> ClientInfo {
        let caller = name.map(|name| Caller::user(name.parse().unwrap()));
        ClientInfo { caller, address: Some([192, 0, 2, last].into()) }
    }

    /// Takes bytes if that is possible without waiting.
    fn take(pool: &BytePool, client: &ClientInfo, bytes: u32) -> Option<PoolBytes> {
        let mut taken = pool.open(client);
        taken.add(bytes).now_or_never()?.unwrap();
        Some(taken)
    }

    #[test]
    fn an_account_and_a_network_have_a_share_each() {
        let pool = BytePool::new(80, 0);
        let ana = client(Some("ana"), 1);
        let first = take(&pool, &ana, 20).unwrap();
        assert!(take(&pool, &ana, 1).is_none());
        assert!(take(&pool, &client(Some("ana"), 2), 1).is_none(), "the same account");
        assert!(take(&pool, &client(None, 1), 1).is_none(), "the same network");
        let other = take(&pool, &client(Some("bo"), 2), 20).unwrap();
        assert_eq!(pool.used(), 40);
        drop(first);
        assert!(take(&pool, &ana, 20).is_some());
        drop(other);
        assert_eq!(pool.used(), 0);
        assert!(pool.clients.lock().is_empty(), "nothing is kept for clients that have left");
    }

    #[test]
    fn anonymous_clients_leave_half_to_the_others() {
        let pool = BytePool::new(80, 0);
        let taken = [1, 2].map(|last| take(&pool, &client(None, last), 20).unwrap());
        assert!(take(&pool, &client(None, 3), 1).is_none());
        assert!(take(&pool, &client(Some("ana"), 3), 20).is_some());
        drop(taken);
        assert!(take(&pool, &client(None, 3), 1).is_some());
    }

    #[test]
    fn a_share_of_a_small_pool_has_room_for_the_longest() {
        let pool = BytePool::new(10, 8);
        assert!(take(&pool, &client(None, 1), 8).is_some());
        assert!(take(&pool, &client(None, 1), 9).is_none());
    }
}
