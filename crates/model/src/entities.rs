//! The entities as plain data: one struct for each entity of the schema. They know their fields,
//! but no keys, stores or visibility rules.

mod accounts;
mod activities;
mod assistance;
mod chat;
mod follows;
mod goals;
mod groups;
mod media;
mod moderation;
mod notifications;
mod offers;
mod ops;
mod people;
mod posts;
mod quests;
mod reactions;

pub use accounts::{ApiKey, Credential, Device, Idempotency, Identity, Invitation, Session};
pub use activities::{
    Activity, ActorHead, FeedHorizon, FeedItem, Interval, ObjectRef, ProfileActivity, Promotion,
};
pub use assistance::{AssistHelper, AssistMsg, AssistThread};
pub use chat::{Message, Room, RoomHead, RoomMember};
pub use follows::{Block, Follow, Mute, PostWatch};
pub use goals::{Goal, Milestone, Task};
pub use groups::{Group, GroupCounter, GroupMember};
pub use media::{Holder, Media, Upload};
pub use moderation::{Audit, CaseReport, ModerationCase, Report};
pub use notifications::{Notification, NotificationPreferences};
pub use offers::{Company, Offer, TagRef};
pub use ops::{
    Checkpoint, DeadLetter, FeedRanking, Job, LoginAttempt, RankedActivity, SealedKey, Webhook,
};
pub use people::{EmailLock, HandleLock, NickLock, User, UserCounter};
pub use posts::{Post, PostCounter, PostSummary};
pub use quests::{Quest, QuestStep, XpEntry};
pub use reactions::{Comment, CommentCounter, CommentLike, Like, Share};
