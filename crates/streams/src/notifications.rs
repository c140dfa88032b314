//! Writes notifications (R38): about followers and follow requests, reactions to a user's content,
//! mentions and messages, groups, quests and moderation cases, due tasks, new API keys, identities that
//! are linked, sign-ins from new devices, and requests for help.
//!
//! A change only says where to look. Notifications follow from the current facts, under keys
//! derived from the facts alone: changes may be delivered again, late, or in any order, and a
//! replay writes the same. A withdrawn fact removes its notification, except that of an API key,
//! an identity or a sign-in. A notification is written only if its recipient may see it; every read checks that again.
//!
//! - A single fact (a follow, a comment, a mention, an invitation, a quest, a decision) is one
//!   notification at the time it happened (`singles`).
//! - Facts that add up (likes and shares of a post, likes of a comment, messages of a user) are one notification for
//!   each hour, which names the latest and is unread again when there is a later one (`reactions`,
//!   `messages`). Messages in a group's room are counted by the room and cause no notifications:
//!   each would be a write for every member.
//! - New posts of followed users are notified of by a job for each post (`new_posts`).
//! - Reminders are jobs, due when the owner is to be reminded (`reminders`).

mod many;
mod messages;
mod new_posts;
mod pending;
mod reactions;
mod recipients;
mod reminders;
mod singles;

use async_trait::async_trait;
use roundtable_domain::{Context, Notifications};
use roundtable_model::entities::{
    ApiKey, AssistMsg, AssistThread, Comment, CommentLike, Device, Follow, GroupMember, Identity,
    Like, Message, ModerationCase, Notification, Post, Quest, Share, Task,
};
use roundtable_model::{Entity, EntityKey, NotificationId, ProcessorName, Queue, Time, UserId};

pub(crate) use self::many::{RECIPIENTS_AT_ONCE, notify_each};
pub use self::new_posts::PostNotifier;
use crate::processor::{Batch, Effects, Processor};
use crate::{Delivery, Result};

const QUEUE: Queue = Queue::from_static("reminders");

/// The processor that writes notifications, and the job handler for reminders.
#[derive(Clone, Debug)]
pub struct NotificationWriter {
    context: Context,
    notifications: Notifications,
}

/// The key of a notification.
type NotificationKey = (UserId, Time, NotificationId);

impl NotificationWriter {
    pub const NAME: ProcessorName = ProcessorName::from_static("notifications");

    pub fn new(context: Context) -> Self {
        Self { notifications: Notifications::new(context.clone()), context }
    }

    fn is_expired(&self, notification: &Notification) -> bool {
        notification.ttl.time() <= self.context.now()
    }
}

#[async_trait]
impl Processor for NotificationWriter {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const {
            &[
                Follow::SHAPE.name,
                Like::SHAPE.name,
                CommentLike::SHAPE.name,
                Share::SHAPE.name,
                Comment::SHAPE.name,
                Post::SHAPE.name,
                Message::SHAPE.name,
                GroupMember::SHAPE.name,
                Quest::SHAPE.name,
                ModerationCase::SHAPE.name,
                Task::SHAPE.name,
                ApiKey::SHAPE.name,
                Identity::SHAPE.name,
                Device::SHAPE.name,
                AssistThread::SHAPE.name,
                AssistMsg::SHAPE.name,
            ]
        }
    }

    /// Notifications follow from the current facts.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery != Delivery::Skipped {
            self.write_singles(batch.changes, &mut effects).await?;
            self.write_reactions::<Like>(batch.changes, &mut effects).await?;
            self.write_reactions::<Share>(batch.changes, &mut effects).await?;
            self.write_reactions::<CommentLike>(batch.changes, &mut effects).await?;
            self.write_messages(batch.changes, &mut effects).await?;
        }
        Ok(effects)
    }
}

fn notification_key(notification: &Notification) -> NotificationKey {
    (notification.user_id.clone(), notification.created_at, notification.id.clone())
}

fn entity_key((user, time, id): &NotificationKey) -> EntityKey<Notification> {
    Notification::at(user, time, id)
}
