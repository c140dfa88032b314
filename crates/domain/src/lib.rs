//! What people may do: one service for each noun, behind every API.
//!
//! A service takes an authenticated [caller](Caller) and plain values. Its methods read the same: refuse,
//! load, write the fact, in one transaction. What is derived from facts (counters, feeds,
//! notifications) is written by the processors of `streams`, never here.
//!
//! It knows no HTTP, no GraphQL and no backend. Who may do what is one table, [`access`]; how refusals
//! are named is [`codes`]; how much of anything is allowed, [`limits`] and [`Settings`].

pub mod access;
mod account;
mod accounts;
mod activities;
mod assistance;
mod audit;
mod blocks;
mod caller;
mod census;
mod chance;
mod circle;
pub mod codes;
mod comments;
mod commit;
mod companies;
mod edit;
mod failure;
mod feeds;
mod follower;
mod follows;
mod goals;
mod ground;
mod groups;
mod likes;
pub mod limits;
mod live;
mod media;
mod messages;
mod milestones;
mod moderation;
mod notifications;
mod offers;
mod once;
mod pages;
mod posts;
mod promotions;
mod quests;
mod rates;
mod rooms;
mod rounds;
mod settings;
mod shares;
mod sight;
mod tags;
mod tasks;
mod timelines;
mod turns;
mod webhooks;

pub use accounts::{
    AccountError, Accounts, Counts, KeyHolder, NewKey, ProfileChange, STAFF_SCOPE, SignUp, SignedIn,
};
pub use activities::{Activities, ActivityError, NewActivity, NewMedia};
pub use assistance::{AssistError, Assistance};
pub use blocks::{BlockError, Blocks};
pub use caller::{Caller, Roles};
pub use census::{Census, CensusError, Totals};
pub use chance::Chance;
pub use codes::{Code, Refusal};
pub use comments::{CommentError, CommentMarks, Comments, NewComment};
pub use companies::{Companies, CompanyError};
pub use edit::Edit;
pub use failure::Failure;
pub use feeds::{
    FEED_ITEMS, FeedEntry, FeedError, FeedFigures, FeedSource, Feeds, LiveFeed, MemoryFigures,
};
pub use follows::{FollowError, Follows};
pub use goals::{GoalChange, GoalError, Goals, NewGoal};
pub use ground::{Ground, Parts};
pub use groups::{GroupChange, GroupError, GroupView, Groups, NewGroup};
pub use likes::{LikeError, Liked, Likes};
pub use live::{Event, Listener, Live, LiveError, Matter};
pub use media::{
    Declared, MEDIA_TYPES, MediaError, MediaFiles, MediaStore, MediaStoreError, MediaUrl,
    NewUpload, SignedUpload, UploadTicket,
};
pub use messages::{LiveRoom, MESSAGE_ITEMS, Messages, NewMessage};
pub use milestones::{MilestoneChange, MilestoneError, Milestones, NewMilestone};
pub use moderation::{
    Content, Judge, JudgeError, Judgement, Moderation, ModerationError, Subject, Verdict,
};
pub use notifications::{
    About, CROWD_MS, Cause, Latest, LiveNotifications, Notice, NotificationError, Notifications,
    adds_up, hour_of,
};
pub use offers::{NewOffer, OfferError, Offers};
pub use pages::{PAGE_ITEMS, PAGE_ITEMS_MAX, Page, PageInput};
pub use posts::{NewPost, POPULAR_RUN_MAX, PostChange, PostError, PostMarks, Posts, Stats};
pub use promotions::{NewPromotion, PromotionError, Promotions};
pub use quests::{NewQuest, QuestError, QuestFilter, QuestSubject, Quests};
pub use rooms::{NewRoom, RoomError, RoomView, Rooms, room_of_two};
pub use settings::{
    FeedMemory, FeedPolicy, FeedSettings, HookSettings, LikeMode, LoginSettings, MediaSettings,
    ModerationMode, NotificationSettings, PromotionSettings, QuestSettings, RateSettings,
    Registration, S3Settings, ScoreSettings, Settings, ShardCount, ShardSettings, TableNames,
    WebhookSettings,
};
pub use shares::{ShareError, Shared, Shares};
pub use sight::Sight;
pub use tags::{TagError, Tagged, Tags};
pub use tasks::{NewTask, TaskChange, TaskError, Tasks};
pub use timelines::{TimelineError, Timelines};
pub use webhooks::{
    ALL_EVENTS, Deliver, EVENTS, Errand, EventType, Happening, NewWebhook, Outgoing, Undelivered,
    WebhookError, Webhooks, is_public,
};
