//! The event bus: one channel per subscribed topic.

use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use roundtable_model::table::Change;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::topic_events::{TopicEvent, topic_events};
use super::{LiveError, Topic};
use crate::stream_reader::{ChangeSink, StreamReader};

/// Buffered events of a topic about one object.
const NARROW_TOPIC_EVENTS: usize = 64;
/// Buffered events of a topic about all objects of a kind.
const WIDE_TOPIC_EVENTS: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct Bus {
    channels: Mutex<HashMap<Topic, broadcast::Sender<Arc<TopicEvent>>>>,
    stream_reader: StreamReader,
}

/// One receiver of a channel. The channel is removed with its last receiver.
#[derive(Debug)]
pub(super) struct Subscriber {
    bus: Arc<Bus>,
    pub(super) topic: Topic,
    /// The receiver, or the reason why there will be no more events.
    receiver: Result<broadcast::Receiver<Arc<TopicEvent>>, LiveError>,
}

impl Bus {
    pub(super) fn topics(&self) -> usize {
        self.channels.lock().len()
    }

    pub(super) fn subscribe(self: &Arc<Self>, topic: Topic) -> Subscriber {
        let mut channels = self.channels.lock();
        let capacity = match &topic {
            Topic::Activities(None) | Topic::NewPosts(_) | Topic::Decisions(None) => {
                WIDE_TOPIC_EVENTS
            }
            _ => NARROW_TOPIC_EVENTS,
        };
        let channel =
            channels.entry(topic.clone()).or_insert_with(|| broadcast::Sender::new(capacity));
        Subscriber { bus: Arc::clone(self), topic, receiver: Ok(channel.subscribe()) }
    }

    /// Disconnects all subscribers after a gap; they have to subscribe again.
    pub(super) fn disconnect_all(&self) {
        self.channels.lock().clear();
    }

    /// Publishes changes. It never waits: a subscriber whose buffer is full gets an error.
    pub(super) fn publish(&self, changes: &[Change]) {
        for change in changes {
            // Checked for every change, because most have no subscribers.
            if self.channels.lock().is_empty() {
                return;
            }
            for (topics, event) in topic_events(change) {
                let event = Arc::new(event);
                let channels = self.channels.lock();
                for channel in topics.iter().filter_map(|topic| channels.get(topic)) {
                    // The last receiver may be gone by now.
                    let _ = channel.send(Arc::clone(&event));
                }
            }
        }
    }
}

impl ChangeSink for Bus {
    fn stream_reader(&self) -> &StreamReader {
        &self.stream_reader
    }

    fn receive(&self, changes: &[Change]) {
        self.publish(changes);
    }

    fn start(&self, is_gap: bool) {
        if is_gap {
            self.disconnect_all();
        }
    }
}

impl Subscriber {
    /// Waits for the next event. After an error it returns the same error.
    pub(super) async fn next(&mut self) -> Result<Arc<TopicEvent>, LiveError> {
        let receiver = self.receiver.as_mut().map_err(|error| error.clone())?;
        let error = match receiver.recv().await {
            Ok(event) => return Ok(event),
            Err(RecvError::Lagged(_)) => LiveError::TooSlow,
            // Disconnected by a gap, which is not the subscriber's fault.
            Err(RecvError::Closed) => LiveError::Missed,
        };
        self.receiver = Err(error.clone());
        Err(error)
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.receiver = Err(LiveError::Missed);
        let mut channels = self.bus.channels.lock();
        if channels.get(&self.topic).is_some_and(|channel| channel.receiver_count() == 0) {
            channels.remove(&self.topic);
        }
    }
}
