//! Broadcast channels by key, for subscribers that resume from nothing: topics and rooms.

use std::hash::Hash;
use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// A channel for each key with a subscriber.
#[derive(Debug)]
pub(crate) struct Channels<K: Eq + Hash, E> {
    senders: Mutex<HashMap<K, broadcast::Sender<E>>>,
}

/// One receiver of a channel. The channel is removed with its last receiver.
#[derive(Debug)]
pub(crate) struct Subscriber<K: Eq + Hash, E> {
    // Declared first, because it has to be dropped before the channel's receivers are counted.
    receiver: broadcast::Receiver<E>,
    _remover: ChannelRemover<K, E>,
}

/// Removes the channel from its map on drop, unless it has receivers.
#[derive(Debug)]
struct ChannelRemover<K: Eq + Hash, E> {
    channels: Arc<Channels<K, E>>,
    key: K,
}

impl<K: Eq + Hash, E> Default for Channels<K, E> {
    fn default() -> Self {
        Self { senders: Mutex::default() }
    }
}

impl<K: Clone + Eq + Hash, E: Clone> Channels<K, E> {
    pub(crate) fn len(&self) -> usize {
        self.senders.lock().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.senders.lock().is_empty()
    }

    /// Subscribes to a key. `capacity` is the number of events that a subscriber may lag behind.
    pub(crate) fn subscribe(self: &Arc<Self>, key: K, capacity: usize) -> Subscriber<K, E> {
        let mut senders = self.senders.lock();
        let sender = senders.entry(key.clone()).or_insert_with(|| broadcast::Sender::new(capacity));
        let receiver = sender.subscribe();
        Subscriber { receiver, _remover: ChannelRemover { channels: Arc::clone(self), key } }
    }

    /// Sends an event to the subscribers of these keys, without waiting for any.
    pub(crate) fn send<'k>(&self, keys: impl IntoIterator<Item = &'k K>, event: &E)
    where
        K: 'k,
    {
        let senders = self.senders.lock();
        for sender in keys.into_iter().filter_map(|key| senders.get(key)) {
            // The last receiver may be gone by now.
            let _ = sender.send(event.clone());
        }
    }

    pub(crate) fn send_to_all(&self, event: &E) {
        for sender in self.senders.lock().values() {
            let _ = sender.send(event.clone());
        }
    }

    /// Disconnects all subscribers.
    pub(crate) fn close_all(&self) {
        self.senders.lock().clear();
    }
}

impl<K: Eq + Hash, E: Clone> Subscriber<K, E> {
    pub(crate) async fn next(&mut self) -> Result<E, RecvError> {
        self.receiver.recv().await
    }

    /// Discards events sent before this call.
    pub(crate) fn clear(&mut self) {
        self.receiver = self.receiver.resubscribe();
    }
}

impl<K: Eq + Hash, E> Drop for ChannelRemover<K, E> {
    fn drop(&mut self) {
        let mut senders = self.channels.senders.lock();
        if senders.get(&self.key).is_some_and(|sender| sender.receiver_count() == 0) {
            senders.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn next(subscriber: &mut Subscriber<&'static str, u8>) -> Option<Result<u8, RecvError>> {
        subscriber.next().now_or_never()
    }

    #[test]
    fn only_subscribers_of_the_key_receive_an_event() {
        let channels: Arc<Channels<&str, u8>> = Arc::default();
        let (mut here, mut there) = (channels.subscribe("a", 2), channels.subscribe("b", 2));
        channels.send([&"a", &"c"], &1);
        assert_eq!((next(&mut here), next(&mut there)), (Some(Ok(1)), None));
        channels.send_to_all(&2);
        here.clear();
        assert_eq!((next(&mut here), next(&mut there)), (None, Some(Ok(2))));
    }

    #[test]
    fn a_channel_is_removed_with_its_last_subscriber() {
        let channels: Arc<Channels<&str, u8>> = Arc::default();
        let (one, other) = (channels.subscribe("a", 1), channels.subscribe("a", 1));
        drop(one);
        assert_eq!(channels.len(), 1);
        drop(other);
        assert!(channels.is_empty());
    }

    #[test]
    fn a_disconnected_subscriber_does_not_remove_a_later_channel() {
        let channels: Arc<Channels<&str, u8>> = Arc::default();
        let mut before = channels.subscribe("a", 1);
        channels.close_all();
        assert_eq!(next(&mut before), Some(Err(RecvError::Closed)));
        let mut after = channels.subscribe("a", 1);
        drop(before);
        channels.send([&"a"], &1);
        assert_eq!(next(&mut after), Some(Ok(1)));
    }
}
