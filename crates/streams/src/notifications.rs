//! Tells people what concerns them (R38): who follows them or asks to, what others do with what they
//! wrote, who names them or writes to them, what becomes of their groups, quests and cases, and which of
//! their tasks is due.
//!
//! A change only tells where to look. What is written follows from the facts as they are now, under keys
//! that follow from the facts alone: changes may come again, late, or in any order, and a replay of them
//! all writes the same. A fact that is taken back takes its notification along. Only what somebody may
//! be told of is written; whether they still may is asked again at every read.
//!
//! - What stands for itself (a follow, a comment, a mention, an invitation, a quest, a decision) is one
//!   notification at the time it happened (`wishes`).
//! - What adds up (likes and shares of a post, messages of a person) is one for each hour, which names
//!   the latest, and is unread again when there is a later one (`crowds`, `messages`). Messages in a
//!   group's room are counted by the room, and told to nobody: one of them would be a write for each
//!   member.
//! - Reminders are jobs, due when the owner is to be reminded (`reminders`).

mod crowds;
mod messages;
mod reminders;
mod singles;
mod whom;
mod wishes;

use async_trait::async_trait;
use roundtable_domain::{Ground, Notifications};
use roundtable_model::entities::{
    Comment, Follow, GroupMember, Like, Message, ModerationCase, Notification, Post, Quest, Share,
    Task,
};
use roundtable_model::{At, Entity, NotificationId, Processor as Name, Queue, Time, UserId};

use crate::processor::{Batch, Effects, Processor};
use crate::{Delivery, Failure};

/// Where reminders wait.
const QUEUE: Queue = Queue::named("reminders");

/// Writes notifications.
#[derive(Clone, Debug)]
pub struct Notices {
    ground: Ground,
    notifications: Notifications,
}

/// Where a notification lies.
type Place = (UserId, Time, NotificationId);

impl Notices {
    /// What it is called.
    pub const NAME: Name = Name::named("notifications");

    /// The notices of this ground.
    pub fn new(ground: Ground) -> Self {
        Self { notifications: Notifications::new(ground.clone()), ground }
    }

    /// Whether it is too late to tell of something.
    fn is_over(&self, note: &Notification) -> bool {
        note.ttl.time() <= self.ground.now()
    }
}

#[async_trait]
impl Processor for Notices {
    fn name(&self) -> Name {
        Self::NAME
    }

    fn wants(&self) -> &'static [&'static str] {
        const {
            &[
                Follow::SHAPE.name,
                Like::SHAPE.name,
                Share::SHAPE.name,
                Comment::SHAPE.name,
                Post::SHAPE.name,
                Message::SHAPE.name,
                GroupMember::SHAPE.name,
                Quest::SHAPE.name,
                ModerationCase::SHAPE.name,
                Task::SHAPE.name,
            ]
        }
    }

    /// What is written follows from how things are.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let mut effects = Effects::none();
        if batch.delivery != Delivery::PassedOver {
            self.singles(batch.changes, &mut effects).await?;
            self.crowds::<Like>(batch.changes, &mut effects).await?;
            self.crowds::<Share>(batch.changes, &mut effects).await?;
            self.messages(batch.changes, &mut effects).await?;
        }
        Ok(effects)
    }
}

fn place_of(note: &Notification) -> Place {
    (note.user_id.clone(), note.created_at, note.id.clone())
}

fn at((user, time, id): &Place) -> At<Notification> {
    Notification::at(user, time, id)
}
