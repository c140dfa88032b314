//! Slots for connections. The anonymous ones of a network have a part of them. When all are taken, a new
//! connection gets the slot of an anonymous one, or else of the account that has most, but never the only one
//! of an account: so neither strangers nor a few accounts shut out users.
//!
//! A new connection is anonymous as well, until it has shown a credential. It is the last to be displaced.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use roundtable_model::UserId;
use tokio::sync::watch;

use crate::client_key::ClientNetwork;

/// The anonymous connections of a network may have this part of the slots at most, whatever is configured.
const NETWORK_SHARE: usize = 2;
/// The connections of one account, on all its networks, are this part of all, at least and at most so many;
/// further ones count as anonymous.
const ACCOUNT_SHARE: usize = 128;
const ACCOUNT_CONNECTIONS_MIN: usize = 8;
const ACCOUNT_CONNECTIONS_MAX: usize = 64;
/// So many of the oldest slots are searched for one with nothing under way: others wait meanwhile.
const SEARCHED_MAX: usize = 256;

/// The most slots that are taken, in total and by one client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotMaxima {
    pub(crate) all: usize,
    /// Anonymous ones of one network. A school has many accounts on one.
    pub(crate) network: usize,
    /// Of one account.
    pub(crate) account: usize,
}

/// Returns how many of all connections one account may have.
pub(crate) fn account_connections_max(connections_max: usize) -> usize {
    (connections_max / ACCOUNT_SHARE).clamp(ACCOUNT_CONNECTIONS_MIN, ACCOUNT_CONNECTIONS_MAX)
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
    /// All but those of other processes of the installation. The oldest has the lowest number.
    slots: HashMap<u64, DisplaceableSlot>,
    groups: HashMap<SlotGroup, BTreeSet<u64>>,
}

#[derive(Debug)]
struct DisplaceableSlot {
    network: Option<ClientNetwork>,
    /// `None` while it is anonymous.
    account: Option<UserId>,
    under_way: Arc<AtomicUsize>,
    displaced: watch::Sender<bool>,
}

/// Slots of which one is given to a new connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum SlotGroup {
    Anonymous,
    AnonymousNetwork(ClientNetwork),
    Account(UserId),
}

/// The slot of one connection, until this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    slots: ConnectionSlots,
    number: u64,
    under_way: Arc<AtomicUsize>,
    displaced: watch::Receiver<bool>,
}

/// Something under way on a connection, until this is dropped: others are displaced before it.
#[derive(Debug)]
pub(crate) struct SlotWork(Arc<AtomicUsize>);

/// The limit that leaves no slot for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotLimitReached {
    /// Accounts with one connection each have all slots.
    All,
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
        let of_network = network.map(SlotGroup::AnonymousNetwork);
        let full_network =
            of_network.filter(|network| state.slots_of(network) >= self.maxima.network);
        if full_network.is_some() || state.taken >= self.maxima.all {
            let group = full_network.or_else(|| state.group_to_displace());
            group.and_then(|group| state.displace(&group)).ok_or(SlotLimitReached::All)?;
        }
        let (sender, displaced) = watch::channel(false);
        let (number, under_way) = (state.opened, Arc::<AtomicUsize>::default());
        state.opened += 1;
        state.taken += 1;
        let (account, of_slot) = (None, Arc::clone(&under_way));
        let slot = DisplaceableSlot { network, account, under_way: of_slot, displaced: sender };
        state.insert(number, slot);
        drop(state);
        Ok(ConnectionSlot { slots: self.clone(), number, under_way, displaced })
    }
}

impl SlotState {
    fn slots_of(&self, group: &SlotGroup) -> usize {
        self.groups.get(group).map_or(0, BTreeSet::len)
    }

    fn insert(&mut self, number: u64, slot: DisplaceableSlot) {
        for group in slot.groups() {
            self.groups.entry(group).or_default().insert(number);
        }
        self.slots.insert(number, slot);
    }

    fn remove(&mut self, number: u64) -> Option<DisplaceableSlot> {
        let slot = self.slots.remove(&number)?;
        for group in slot.groups() {
            let Some(numbers) = self.groups.get_mut(&group) else { continue };
            numbers.remove(&number);
            if numbers.is_empty() {
                self.groups.remove(&group);
            }
        }
        Some(slot)
    }

    /// Returns the anonymous slots, or else those of the account that has most, if it has several.
    fn group_to_displace(&self) -> Option<SlotGroup> {
        if self.groups.contains_key(&SlotGroup::Anonymous) {
            return Some(SlotGroup::Anonymous);
        }
        // All are looked at once for each connection that signs in: before it does, it is anonymous.
        let several = self.groups.iter().filter(|(_, numbers)| numbers.len() > 1);
        let most = several.max_by_key(|(_, numbers)| (numbers.len(), Reverse(numbers.first())));
        most.map(|(group, _)| group.clone())
    }

    /// Frees the oldest slot of a group that has nothing under way, or else the oldest.
    fn displace(&mut self, group: &SlotGroup) -> Option<()> {
        let numbers = self.groups.get(group)?;
        let mut searched = numbers.iter().take(SEARCHED_MAX);
        let is_idle = |number: &&u64| self.slots.get(number).is_some_and(DisplaceableSlot::is_idle);
        let number = *searched.find(is_idle).or_else(|| numbers.first())?;
        let slot = self.remove(number)?;
        self.taken -= 1;
        slot.displaced.send_replace(true);
        Some(())
    }
}

impl DisplaceableSlot {
    fn groups(&self) -> impl Iterator<Item = SlotGroup> + use<> {
        let groups = match &self.account {
            Some(account) => [Some(SlotGroup::Account(account.clone())), None],
            None => [Some(SlotGroup::Anonymous), self.network.map(SlotGroup::AnonymousNetwork)],
        };
        groups.into_iter().flatten()
    }

    fn is_idle(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) == 0
    }
}

impl ConnectionSlot {
    /// Keeps the slot for an account, unless the account has too many.
    pub(crate) fn keep_for(&self, account: &UserId) -> Result<(), SlotLimitReached> {
        let mut state = self.slots.state.lock();
        // Displaced, or kept already: one connection may carry several accounts.
        if state.slots.get(&self.number).is_none_or(|slot| slot.account.is_some()) {
            return Ok(());
        }
        if state.slots_of(&SlotGroup::Account(account.clone())) >= self.slots.maxima.account {
            return Err(SlotLimitReached::Account);
        }
        if let Some(slot) = state.remove(self.number) {
            let account = Some(account.clone());
            state.insert(self.number, DisplaceableSlot { account, ..slot });
        }
        Ok(())
    }

    /// Keeps the slot for another process of the installation. It is never displaced.
    pub(crate) fn keep(&self) {
        drop(self.slots.state.lock().remove(self.number));
    }

    /// Ends when another connection has got this slot.
    pub(crate) async fn displaced(&self) {
        // The sender is dropped when the slot is kept for another process.
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
        drop(state.remove(self.number));
        if !*self.displaced.borrow() {
            state.taken -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn slots(all: usize, network: usize, account: usize) -> ConnectionSlots {
        ConnectionSlots::new(SlotMaxima { all, network, account })
    }

    #[expect(clippy::unnecessary_wraps, reason = "some connections have none")]
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
        let left = (state.taken, state.slots.len(), state.groups.len());
        assert_eq!(left, (0, 0, 0), "nothing is kept for connections that have ended");
    }

    #[test]
    fn the_only_connection_of_an_account_is_not_displaced() {
        let slots = slots(2, 9, 9);
        let open = |last| slots.enter(network(last));
        let [ana, bo] = [1, 2].map(|last| open(last).unwrap());
        ana.keep_for(&user("ana")).unwrap();
        bo.keep_for(&user("bo")).unwrap();
        assert_eq!(open(3).unwrap_err(), SlotLimitReached::All);
        drop(bo);
        assert!(open(3).is_ok());
    }

    /// 40 accounts once held all connections for as long as they liked.
    #[test]
    fn the_account_that_has_most_makes_room() {
        let slots = slots(6, 9, 9);
        let open = |account: &str| {
            let slot = slots.enter(None).unwrap();
            slot.keep_for(&user(account)).unwrap();
            slot
        };
        let held = ["ana", "bo", "bo", "cy", "cy", "cy"].map(open);
        let displaced = || held.each_ref().map(is_displaced);
        let work = [held[3].work(), held[4].work()];
        let _first = open("di");
        assert_eq!(displaced(), [false, false, false, false, false, true], "the idle one");
        drop(work);
        let _second = open("ed");
        assert_eq!(displaced(), [false, true, false, false, false, true], "the oldest of two each");
        let _busy = [held[3].work(), held[4].work()];
        let _third = open("flo");
        assert_eq!(displaced(), [false, true, false, true, false, true], "they are all busy");
        assert_eq!(slots.enter(None).unwrap_err(), SlotLimitReached::All, "each has one");
    }

    #[test]
    fn other_processes_of_the_installation_are_not_displaced() {
        let slots = slots(2, 9, 9);
        let workers = [(); 2].map(|()| slots.enter(None).unwrap());
        workers.iter().for_each(ConnectionSlot::keep);
        assert_eq!(slots.enter(None).unwrap_err(), SlotLimitReached::All);
        assert!(!workers.iter().any(is_displaced));
        drop(workers);
        assert_eq!(slots.state.lock().taken, 0);
    }

    #[test]
    fn a_network_displaces_its_own() {
        let slots = slots(10, 2, 9);
        let other = slots.enter(network(2)).unwrap();
        let [first, second] = [(); 2].map(|()| slots.enter(network(1)).unwrap());
        let third = slots.enter(network(1)).unwrap();
        assert!(is_displaced(&first) && !is_displaced(&other));
        let proxies = [(); 3].map(|()| slots.enter(None).unwrap());
        assert!(![&other, &second, &third].into_iter().chain(&proxies).any(is_displaced));
    }

    /// 8 accounts once shut out all others of their school.
    #[test]
    fn the_accounts_of_a_network_do_not_count_for_it() {
        let slots = slots(10, 2, 9);
        let pupils = ["ana", "bo", "cy", "di"].map(|account| {
            let slot = slots.enter(network(1)).unwrap();
            slot.keep_for(&user(account)).unwrap();
            slot
        });
        let [first, second] = [(); 2].map(|()| slots.enter(network(1)).unwrap());
        assert!(![&first, &second].into_iter().chain(&pupils).any(is_displaced));
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
    fn an_account_has_a_small_part_of_the_connections() {
        assert_eq!([768, 4_000, 10_000].map(account_connections_max), [8, 31, 64]);
    }

    #[test]
    fn one_network_never_has_all_slots() {
        let slots = slots(4, 9, 9);
        let held = [(); 3].map(|()| slots.enter(network(1)).unwrap());
        assert!(is_displaced(&held[0]) && !is_displaced(&held[1]));
    }
}
