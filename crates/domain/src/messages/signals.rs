//! Wake-ups for subscribers of rooms. A signal carries no data: messages are read from the table,
//! so a spurious signal is harmless.

use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use roundtable_model::RoomId;
use tokio::sync::watch;

/// The signals of all rooms with a subscriber.
#[derive(Debug, Default)]
pub(super) struct RoomSignals {
    rooms: Mutex<HashMap<RoomId, watch::Sender<()>>>,
}

/// A subscriber's receiver of a room's signal. The signal is removed with its last receiver.
#[derive(Debug)]
pub(super) struct RoomListener {
    signals: Arc<RoomSignals>,
    room: RoomId,
    receiver: watch::Receiver<()>,
}

impl RoomSignals {
    pub(super) fn notify(&self, room: &RoomId) {
        if let Some(signal) = self.rooms.lock().get(room) {
            signal.send_replace(());
        }
    }

    pub(super) fn listen(self: &Arc<Self>, room: &RoomId) -> RoomListener {
        let mut rooms = self.rooms.lock();
        let signal = rooms.entry(room.clone()).or_insert_with(|| watch::Sender::new(()));
        RoomListener { signals: Arc::clone(self), room: room.clone(), receiver: signal.subscribe() }
    }
}

impl RoomListener {
    /// Discards signals sent before this call.
    pub(super) fn clear(&mut self) {
        self.receiver.borrow_and_update();
    }

    pub(super) async fn wait(&mut self) {
        // The sender lives as long as this receiver.
        let _ = self.receiver.changed().await;
    }
}

impl Drop for RoomListener {
    fn drop(&mut self) {
        let mut rooms = self.signals.rooms.lock();
        // This receiver is still counted.
        if rooms.get(&self.room).is_some_and(|signal| signal.receiver_count() <= 1) {
            rooms.remove(&self.room);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn only_listeners_of_the_room_are_woken() {
        let (signals, room, other): (Arc<RoomSignals>, RoomId, RoomId) =
            (Arc::default(), "runners".parse().unwrap(), "readers".parse().unwrap());
        let (mut here, mut there) = (signals.listen(&room), signals.listen(&other));
        signals.notify(&room);
        assert!(here.wait().now_or_never().is_some());
        assert!(here.wait().now_or_never().is_none(), "once");
        assert!(there.wait().now_or_never().is_none());
    }

    #[test]
    fn a_signal_is_removed_with_its_last_listener() {
        let (signals, room): (Arc<RoomSignals>, RoomId) =
            (Arc::default(), "runners".parse().unwrap());
        let (one, other) = (signals.listen(&room), signals.listen(&room));
        drop(one);
        assert_eq!(signals.rooms.lock().len(), 1);
        drop(other);
        assert!(signals.rooms.lock().is_empty());
        signals.notify(&room);
    }
}
