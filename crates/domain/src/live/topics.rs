//! The topics of live updates: a channel for each topic with a subscription.

use std::sync::Arc;

use roundtable_model::FromItem as _;
use roundtable_model::entities::{
    Activity, Comment, Follow, GroupMember, Like, Post, ProfileActivity, Quest,
};
use roundtable_model::table::Change;

use super::Topic;
use super::topic_events::{TopicEvent, topic_events};
use crate::bus::{Channels, Sink, Subscriber};

/// Buffered events of a topic about one object.
const NARROW_TOPIC_EVENTS: usize = 64;
/// Buffered events of a topic about all objects of a kind.
const WIDE_TOPIC_EVENTS: usize = 1_024;

#[derive(Debug, Default)]
pub(crate) struct Topics(Arc<Channels<Topic, Arc<TopicEvent>>>);

pub(super) type TopicSubscriber = Subscriber<Topic, Arc<TopicEvent>>;

impl Topics {
    pub(crate) const ENTITY_TYPES: &[&str] = &[
        Activity::ENTITY.name,
        ProfileActivity::ENTITY.name,
        Post::ENTITY.name,
        Like::ENTITY.name,
        Comment::ENTITY.name,
        Follow::ENTITY.name,
        GroupMember::ENTITY.name,
        Quest::ENTITY.name,
    ];

    /// The number of topics with a subscription.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn subscribe(&self, topic: Topic) -> TopicSubscriber {
        let capacity = match &topic {
            Topic::Activities(None) | Topic::NewPosts(_) | Topic::Decisions(None) => {
                WIDE_TOPIC_EVENTS
            }
            _ => NARROW_TOPIC_EVENTS,
        };
        self.0.subscribe(topic, capacity)
    }
}

impl Sink for Topics {
    /// A subscriber whose buffer is full gets an error.
    fn apply(&self, changes: &[Change]) {
        for change in changes {
            // Checked for every change, because most have no subscribers.
            if self.0.is_empty() {
                return;
            }
            for (topics, event) in topic_events(change) {
                self.0.send(&topics, &Arc::new(event));
            }
        }
    }

    /// Disconnects all subscribers; they have to subscribe again.
    fn reset(&self, _is_complete: bool) {
        self.0.close_all();
    }
}
