//! Slots for connections. One network has a part of them. Connections of signed-in clients keep theirs; when
//! all are taken, a new connection gets that of an anonymous one, so that strangers never shut out users.
//!
//! A new connection is anonymous as well, until it has shown a credential. It is the last to be displaced.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use roundtable_model::UserId;
use tokio::sync::watch;

use crate::client_key::ClientNetwork;

/// A network may have this part of the slots at most, whatever is configured.
const NETWORK_SHARE: usize = 2;

/// The most slots that are taken, in total and by one client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotMaxima {
    pub(crate) all: usize,
    /// Of one network; those of its accounts included.
    pub(crate) network: usize,
    /// Of one account.
    pub(crate) account: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct ConnectionSlots {
    maxima: SlotMaxima,
    state: Arc<Mutex<SlotState>>,
}

#[derive(Debug, Default)]
struct SlotState {
    taken: usize,
    opened: u64,
    networks: HashMap<ClientNetwork, usize>,
    accounts: HashMap<UserId, usize>,
    /// Those that may be displaced, oldest first.
    anonymous: BTreeMap<u64, AnonymousSlot>,
    /// Those that are kept; without an account, it is another process of the installation.
    kept: HashMap<u64, Option<UserId>>,
}

#[derive(Debug)]
struct AnonymousSlot {
    network: Option<ClientNetwork>,
    under_way: Arc<AtomicUsize>,
    displaced: watch::Sender<bool>,
}

/// The slot of one connection, until this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    slots: ConnectionSlots,
    number: u64,
    network: Option<ClientNetwork>,
    under_way: Arc<AtomicUsize>,
    displaced: watch::Receiver<bool>,
}

/// Something under way on a connection, until this is dropped: others are displaced before it.
#[derive(Debug)]
pub(crate) struct SlotWork(Arc<AtomicUsize>);

/// The limit that leaves no slot for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotLimitReached {
    /// Signed-in clients have all slots.
    All,
    /// Those of the network have all slots of it.
    Network,
    Account,
}

impl ConnectionSlots {
    pub(crate) fn new(maxima: SlotMaxima) -> Self {
        let all = maxima.all.max(1);
        let network = maxima.network.min(all / NETWORK_SHARE).max(1);
        Self { maxima: SlotMaxima { all, network, ..maxima }, state: Arc::default() }
    }

    /// Takes a slot; of a connection from a network without a limit if `network` is `None`.
    pub(crate) fn enter(
        &self,
        network: Option<ClientNetwork>,
    ) -> Result<ConnectionSlot, SlotLimitReached> {
        let mut state = self.state.lock();
        let of_network = network.and_then(|network| state.networks.get(&network).copied());
        if of_network.unwrap_or(0) >= self.maxima.network {
            state.displace(|slot| slot.network == network).ok_or(SlotLimitReached::Network)?;
        } else if state.taken >= self.maxima.all {
            state.displace(|_| true).ok_or(SlotLimitReached::All)?;
        }
        let (sender, displaced) = watch::channel(false);
        let (number, under_way) = (state.opened, Arc::<AtomicUsize>::default());
        state.opened += 1;
        state.taken += 1;
        if let Some(network) = network {
            *state.networks.entry(network).or_default() += 1;
        }
        let slot = AnonymousSlot { network, under_way: Arc::clone(&under_way), displaced: sender };
        state.anonymous.insert(number, slot);
        drop(state);
        Ok(ConnectionSlot { slots: self.clone(), number, network, under_way, displaced })
    }
}

impl SlotState {
    /// Frees the slot of the oldest anonymous connection that has nothing under way, or else of the oldest.
    fn displace(&mut self, is_candidate: impl Fn(&AnonymousSlot) -> bool) -> Option<()> {
        let candidates = || self.anonymous.iter().filter(|(_, slot)| is_candidate(slot));
        let mut idle = candidates().filter(|(_, slot)| slot.under_way.load(Ordering::Relaxed) == 0);
        let number = *idle.next().or_else(|| candidates().next())?.0;
        let slot = self.anonymous.remove(&number)?;
        self.free(slot.network);
        slot.displaced.send_replace(true);
        Some(())
    }

    fn free(&mut self, network: Option<ClientNetwork>) {
        self.taken -= 1;
        if let Some(network) = network {
            decrement(&mut self.networks, &network);
        }
    }
}

fn decrement<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    match counts.get_mut(key) {
        Some(count) if *count > 1 => *count -= 1,
        _ => drop(counts.remove(key)),
    }
}

impl ConnectionSlot {
    /// Keeps the slot for an account, unless the account has too many.
    pub(crate) fn keep_for(&self, account: &UserId) -> Result<(), SlotLimitReached> {
        let mut state = self.slots.state.lock();
        // Displaced, or kept already: one connection may carry several accounts.
        if !state.anonymous.contains_key(&self.number) {
            return Ok(());
        }
        let own = state.accounts.get(account).copied().unwrap_or(0);
        if own >= self.slots.maxima.account {
            return Err(SlotLimitReached::Account);
        }
        state.accounts.insert(account.clone(), own + 1);
        state.anonymous.remove(&self.number);
        state.kept.insert(self.number, Some(account.clone()));
        Ok(())
    }

    /// Keeps the slot for another process of the installation.
    pub(crate) fn keep(&self) {
        let mut state = self.slots.state.lock();
        if state.anonymous.remove(&self.number).is_some() {
            state.kept.insert(self.number, None);
        }
    }

    /// Ends when another connection has got this slot.
    pub(crate) async fn displaced(&self) {
        // The sender is dropped when the slot is kept.
        if self.displaced.clone().wait_for(|displaced| *displaced).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    pub(crate) fn work(&self) -> SlotWork {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        SlotWork(Arc::clone(&self.under_way))
    }
}

impl Drop for SlotWork {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut state = self.slots.state.lock();
        if let Some(account) = state.kept.remove(&self.number) {
            if let Some(account) = account {
                decrement(&mut state.accounts, &account);
            }
        } else if state.anonymous.remove(&self.number).is_none() {
            return;
        }
        state.free(self.network);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn slots(all: usize, network: usize, account: usize) -> ConnectionSlots {
        ConnectionSlots::new(SlotMaxima { all, network, account })
    }

    fn network(last: u8) -> Option<ClientNetwork> {
        Some(ClientNetwork::of(Some([192, 0, 2, last].into())))
    }

    fn user(name: &str) -> UserId {
        name.parse().unwrap()
    }

    fn is_displaced(slot: &ConnectionSlot) -> bool {
        slot.displaced().now_or_never().is_some()
    }

    #[test]
    fn a_new_connection_displaces_the_oldest_anonymous_one() {
        let slots = slots(4, 9, 9);
        let ana = slots.enter(network(1)).unwrap();
        ana.keep_for(&user("ana")).unwrap();
        let [first, second, third] = [2, 3, 4].map(|last| slots.enter(network(last)).unwrap());
        let _work = first.work();
        let new = slots.enter(network(5)).unwrap();
        assert!(is_displaced(&second), "the oldest one with nothing under way");
        assert!(![&ana, &first, &third, &new].into_iter().any(is_displaced));
        drop((ana, first, second, third, new));
        let state = slots.state.lock();
        let left = (state.taken, state.networks.len(), state.accounts.len(), state.kept.len());
        assert_eq!(left, (0, 0, 0, 0), "nothing is kept for connections that have ended");
    }

    #[test]
    fn signed_in_connections_are_not_displaced() {
        let slots = slots(2, 9, 9);
        let open = |last| slots.enter(network(last));
        let [ana, bo] = [1, 2].map(|last| open(last).unwrap());
        ana.keep_for(&user("ana")).unwrap();
        bo.keep_for(&user("bo")).unwrap();
        assert_eq!(open(3).unwrap_err(), SlotLimitReached::All);
        drop(bo);
        assert!(open(3).is_ok());
    }

    #[test]
    fn a_network_displaces_its_own() {
        let slots = slots(10, 2, 9);
        let other = slots.enter(network(2)).unwrap();
        let [first, second] = [(); 2].map(|()| slots.enter(network(1)).unwrap());
        let third = slots.enter(network(1)).unwrap();
        assert!(is_displaced(&first) && !is_displaced(&other));
        second.keep_for(&user("ana")).unwrap();
        third.keep_for(&user("bo")).unwrap();
        assert_eq!(slots.enter(network(1)).unwrap_err(), SlotLimitReached::Network);
        assert!(slots.enter(None).is_ok(), "a proxy of the installation");
    }

    #[test]
    fn an_account_keeps_only_its_share() {
        let slots = slots(10, 9, 1);
        let [first, second] = [1, 2].map(|last| slots.enter(network(last)).unwrap());
        first.keep_for(&user("ana")).unwrap();
        assert_eq!(second.keep_for(&user("ana")).unwrap_err(), SlotLimitReached::Account);
        assert!(first.keep_for(&user("ana")).is_ok(), "it has its slot already");
        drop(first);
        assert!(second.keep_for(&user("ana")).is_ok());
    }

    #[test]
    fn one_network_never_has_all_slots() {
        let slots = slots(4, 9, 9);
        let held = [(); 3].map(|()| slots.enter(network(1)).unwrap());
        assert!(is_displaced(&held[0]) && !is_displaced(&held[1]));
    }
}
