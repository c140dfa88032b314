//! A bell in each room that somebody listens to, rung when something has been said there. It says only
//! that: what was said is read from the table, so a bell that rings once too often does no harm.

use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use roundtable_model::RoomId;
use tokio::sync::watch;

/// The bells of all rooms.
#[derive(Debug, Default)]
pub(super) struct Bells {
    rooms: Mutex<HashMap<RoomId, watch::Sender<()>>>,
}

/// One listener's ear for a bell, which is taken down when nobody listens any more.
#[derive(Debug)]
pub(super) struct Ear {
    bells: Arc<Bells>,
    room: RoomId,
    heard: watch::Receiver<()>,
}

impl Bells {
    /// Rings in a room.
    pub(super) fn ring(&self, room: &RoomId) {
        if let Some(bell) = self.rooms.lock().get(room) {
            bell.send_replace(());
        }
    }

    /// Listens in a room from now on.
    pub(super) fn listen(self: &Arc<Self>, room: &RoomId) -> Ear {
        let mut rooms = self.rooms.lock();
        let bell = rooms.entry(room.clone()).or_insert_with(|| watch::Sender::new(()));
        Ear { bells: Arc::clone(self), room: room.clone(), heard: bell.subscribe() }
    }
}

impl Ear {
    /// What was rung before this does not count.
    pub(super) fn clear(&mut self) {
        self.heard.borrow_and_update();
    }

    /// Waits for the bell.
    pub(super) async fn hear(&mut self) {
        // The sender stays as long as this listens.
        let _ = self.heard.changed().await;
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        let mut rooms = self.bells.rooms.lock();
        // This one is still counted.
        if rooms.get(&self.room).is_some_and(|bell| bell.receiver_count() <= 1) {
            rooms.remove(&self.room);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn those_in_the_room_hear_it_and_nobody_else() {
        let (bells, room, other): (Arc<Bells>, RoomId, RoomId) =
            (Arc::default(), "runners".parse().unwrap(), "readers".parse().unwrap());
        let (mut here, mut there) = (bells.listen(&room), bells.listen(&other));
        bells.ring(&room);
        assert!(here.hear().now_or_never().is_some());
        assert!(here.hear().now_or_never().is_none(), "once");
        assert!(there.hear().now_or_never().is_none());
    }

    #[test]
    fn a_bell_is_taken_down_when_the_last_one_leaves() {
        let (bells, room): (Arc<Bells>, RoomId) = (Arc::default(), "runners".parse().unwrap());
        let (one, other) = (bells.listen(&room), bells.listen(&room));
        drop(one);
        assert_eq!(bells.rooms.lock().len(), 1);
        drop(other);
        assert!(bells.rooms.lock().is_empty());
        bells.ring(&room);
    }
}
