//! A budget for what clients have sent of unfinished requests: heads, and what a client of HTTP/2 may send
//! of bodies before the server asks for more. Half a request costs its sender nothing; so it must not cost
//! the server more than this budget, however many connections there are.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::client_key::ClientNetwork;

/// Bytes of the head of one request.
pub(crate) const HEAD_BYTES_MAX: usize = 32 << 10;
/// Bytes that an HTTP/2 client may send of all bodies on a connection before they are asked for.
pub(crate) const HTTP2_WINDOW_BYTES: usize = 128 << 10;
/// Bytes that a connection has without a charge, enough for ordinary requests: its buffer is as long.
const FREE_BYTES: usize = 8 << 10;
/// A network may have this part of the budget.
const NETWORK_SHARE: usize = 4;
/// All connections that have shown no credential may have this part.
const ANONYMOUS_SHARE: usize = 2;

#[derive(Clone, Debug)]
pub(crate) struct ReceiveBudget(Arc<Mutex<ChargedBytes>>);

#[derive(Debug)]
struct ChargedBytes {
    max: usize,
    used: usize,
    anonymous: usize,
    by_network: HashMap<ClientNetwork, usize>,
    refused: u64,
}

/// The bytes that one connection has received of unfinished requests.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedBytes(Arc<Mutex<ConnectionBytes>>);

#[derive(Debug)]
struct ConnectionBytes {
    budget: ReceiveBudget,
    network: Option<ClientNetwork>,
    is_anonymous: bool,
    /// Of the next request, or of the next message on a WebSocket.
    unfinished: usize,
    /// Of requests under way.
    heads: usize,
    bodies: usize,
    under_way: usize,
    idle_since: Instant,
    charge: BytesCharge,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct BytesCharge {
    bytes: usize,
    is_anonymous: bool,
}

/// A request under way, until this is dropped.
#[derive(Debug)]
pub(crate) struct ReceivedRequest {
    connection: ReceivedBytes,
    head: usize,
    body: usize,
}

/// Unfinished requests have all of the budget that the connection may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoomToReceive;

impl ReceiveBudget {
    pub(crate) fn new(max: usize) -> Self {
        let (used, anonymous, by_network, refused) = (0, 0, HashMap::new(), 0);
        Self(Arc::new(Mutex::new(ChargedBytes { max, used, anonymous, by_network, refused })))
    }

    pub(crate) fn used(&self) -> usize {
        self.0.lock().used
    }

    /// Returns how often there was no room.
    pub(crate) fn refused(&self) -> u64 {
        self.0.lock().refused
    }

    /// Starts with a connection, of a network without a share if `network` is `None`.
    pub(crate) fn open(&self, network: Option<ClientNetwork>) -> ReceivedBytes {
        ReceivedBytes(Arc::new(Mutex::new(ConnectionBytes {
            budget: self.clone(),
            network,
            is_anonymous: true,
            unfinished: 0,
            heads: 0,
            bodies: 0,
            under_way: 0,
            idle_since: Instant::now(),
            charge: BytesCharge::default(),
        })))
    }
}

impl ChargedBytes {
    /// Replaces a charge by another, if there is room for that.
    fn replace(
        &mut self,
        network: Option<ClientNetwork>,
        old: BytesCharge,
        new: BytesCharge,
    ) -> Result<(), NoRoomToReceive> {
        let anonymous = |charge: BytesCharge| if charge.is_anonymous { charge.bytes } else { 0 };
        let used = self.used - old.bytes + new.bytes;
        let of_anonymous = self.anonymous - anonymous(old) + anonymous(new);
        let own = network.and_then(|network| self.by_network.get(&network)).copied().unwrap_or(0);
        let own = (own + new.bytes).saturating_sub(old.bytes);
        let fits = used <= self.max
            && (network.is_none() || own <= self.max / NETWORK_SHARE)
            && (!new.is_anonymous || of_anonymous <= self.max / ANONYMOUS_SHARE);
        if new.bytes > old.bytes && !fits {
            self.refused += 1;
            return Err(NoRoomToReceive);
        }
        (self.used, self.anonymous) = (used, of_anonymous);
        match network {
            Some(network) if own > 0 => drop(self.by_network.insert(network, own)),
            Some(network) => drop(self.by_network.remove(&network)),
            None => {}
        }
        Ok(())
    }
}

impl ConnectionBytes {
    fn update_charge(&mut self) -> Result<(), NoRoomToReceive> {
        let bodies = self.bodies.min(HTTP2_WINDOW_BYTES);
        let bytes = (self.unfinished + self.heads + bodies).saturating_sub(FREE_BYTES);
        let new = BytesCharge { bytes, is_anonymous: self.is_anonymous && bytes > 0 };
        if new != self.charge {
            self.budget.0.lock().replace(self.network, self.charge, new)?;
            self.charge = new;
        }
        Ok(())
    }
}

impl ReceivedBytes {
    /// Counts bytes that belong to no request yet. While one is under way there may be one more head, which
    /// is not counted: nor are then the bytes of a body, or what keeps an HTTP/2 connection going.
    pub(crate) fn receive(&self, bytes: usize) -> Result<(), NoRoomToReceive> {
        let mut state = self.0.lock();
        if state.under_way > 0 {
            return Ok(());
        }
        state.unfinished += bytes;
        state.update_charge()
    }

    /// Forgets the bytes of a message that has arrived.
    pub(crate) fn finish_message(&self) {
        let mut state = self.0.lock();
        state.unfinished = 0;
        // Fewer bytes always fit.
        let _ = state.update_charge();
    }

    /// Counts a request whose head has arrived, and what may arrive of its body unasked.
    pub(crate) fn start(
        &self,
        head: usize,
        body: usize,
    ) -> Result<ReceivedRequest, NoRoomToReceive> {
        let mut state = self.0.lock();
        state.unfinished = 0;
        state.heads += head;
        state.bodies += body;
        state.under_way += 1;
        let charged = state.update_charge();
        drop(state);
        // Returned by `drop`, also if there is no room.
        let request = ReceivedRequest { connection: self.clone(), head, body };
        charged.map(|()| request)
    }

    /// Takes the connection out of the share of anonymous ones.
    pub(crate) fn trust(&self) {
        let mut state = self.0.lock();
        state.is_anonymous = false;
        let _ = state.update_charge();
    }

    /// Ends when no request has been under way for this long.
    pub(crate) async fn idle(&self, limit: Duration) {
        loop {
            let now = Instant::now();
            let since = {
                let state = self.0.lock();
                if state.under_way > 0 { now } else { state.idle_since }
            };
            if now.duration_since(since) >= limit {
                return;
            }
            tokio::time::sleep_until(since + limit).await;
        }
    }
}

impl Drop for ReceivedRequest {
    fn drop(&mut self) {
        let mut state = self.connection.0.lock();
        state.heads -= self.head;
        state.bodies -= self.body;
        state.under_way -= 1;
        state.idle_since = Instant::now();
        let _ = state.update_charge();
    }
}

impl Drop for ConnectionBytes {
    fn drop(&mut self) {
        let nothing = BytesCharge::default();
        let _ = self.budget.0.lock().replace(self.network, self.charge, nothing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 80 << 10;
    const SHARE: usize = 20 << 10;

    #[expect(clippy::unnecessary_wraps, reason = "some connections have none")]
    fn network(last: u8) -> Option<ClientNetwork> {
        Some(ClientNetwork::of(Some([192, 0, 2, last].into())))
    }

    #[test]
    fn an_ordinary_request_is_free() {
        let budget = ReceiveBudget::new(MAX);
        let connection = budget.open(network(1));
        connection.receive(FREE_BYTES).unwrap();
        assert_eq!(budget.used(), 0);
        connection.receive(1).unwrap();
        assert_eq!(budget.used(), 1);
        let request = connection.start(FREE_BYTES, 0).unwrap();
        assert_eq!(budget.used(), 0);
        let other = connection.start(7, 5).unwrap();
        assert_eq!(budget.used(), 12);
        drop((request, other));
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn half_a_head_is_charged_until_its_connection_ends() {
        let budget = ReceiveBudget::new(MAX);
        let connection = budget.open(network(1));
        assert_eq!(connection.receive(FREE_BYTES + SHARE), Ok(()));
        assert_eq!(connection.receive(1), Err(NoRoomToReceive));
        assert_eq!(budget.open(network(1)).receive(FREE_BYTES + 1), Err(NoRoomToReceive));
        assert_eq!(budget.open(network(2)).receive(FREE_BYTES + 1), Ok(()));
        assert_eq!(budget.used(), SHARE);
        drop(connection);
        assert_eq!(budget.used(), 0);
        assert!(budget.0.lock().by_network.is_empty());
    }

    #[test]
    fn anonymous_connections_leave_half_to_the_others() {
        let budget = ReceiveBudget::new(MAX);
        let open = |last| {
            let connection = budget.open(network(last));
            (connection.receive(FREE_BYTES + SHARE), connection)
        };
        let held = [1, 2, 3].map(open);
        assert_eq!(held.each_ref().map(|(done, _)| done.is_ok()), [true, true, false]);
        let known = budget.open(network(4));
        known.trust();
        assert_eq!(known.receive(FREE_BYTES + SHARE), Ok(()));
        // What one of them holds already no longer counts as anonymous once it has signed in.
        held[0].1.trust();
        assert_eq!(budget.open(network(5)).receive(FREE_BYTES + SHARE), Ok(()));
    }

    #[test]
    fn the_bodies_of_a_connection_are_charged_up_to_its_window() {
        let budget = ReceiveBudget::new(1 << 20);
        let connection = budget.open(None);
        let requests = [(); 3].map(|()| connection.start(0, HTTP2_WINDOW_BYTES).unwrap());
        assert_eq!(budget.used(), HTTP2_WINDOW_BYTES - FREE_BYTES);
        drop(requests);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_request_without_room_leaves_nothing_behind() {
        let budget = ReceiveBudget::new(MAX);
        let connection = budget.open(network(1));
        assert!(connection.start(FREE_BYTES + SHARE + 1, 0).is_err());
        assert_eq!(budget.used(), 0);
        assert!(connection.start(FREE_BYTES + SHARE, 0).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_when_nothing_is_under_way() {
        let (budget, limit) = (ReceiveBudget::new(MAX), Duration::from_secs(10));
        let connection = budget.open(None);
        let request = connection.start(1, 0).unwrap();
        let started = Instant::now();
        let ending = async {
            tokio::time::sleep(limit * 3).await;
            drop(request);
        };
        futures::future::join(connection.idle(limit), ending).await;
        assert_eq!(started.elapsed(), limit * 4);
    }
}
