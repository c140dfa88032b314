//! Business rules: one service per noun, shared by every API.
//!
//! A service takes an authenticated [caller](Caller) and plain values. Each method authorizes,
//! loads, and writes the fact in one transaction, with the counters that must never lag behind it:
//! followers, following, posts, members and XP. The processors of `streams` write everything else
//! that is derived from facts.
//!
//! This crate knows no HTTP, no GraphQL and no storage backend. Permissions are one table,
//! [`access`]; error codes are in [`codes`]; limits are in [`limits`] and [`Settings`].

pub mod access;
mod account;
mod accounts;
mod activities;
mod assistance;
mod audit;
mod blocks;
mod bus;
mod caller;
mod circle;
pub mod codes;
mod comments;
mod commit;
mod companies;
mod contact;
mod context;
mod dead_letters;
mod edit;
mod entropy;
mod feeds;
mod follows;
mod goals;
mod groups;
mod head_locks;
mod idempotency;
mod likes;
pub mod limits;
mod live;
mod media;
mod memory;
mod messages;
mod milestones;
mod moderation;
mod mutation;
mod mutes;
mod notifications;
mod offers;
mod pages;
mod posts;
mod promotions;
mod quests;
mod rate_limiter;
mod rooms;
mod search;
mod service_error;
mod settings;
mod shares;
mod statistics;
mod tags;
mod tasks;
mod text_references;
mod timelines;
mod viewer_access;
mod webhooks;

pub use accounts::{
    AccountError, Accounts, DeviceInput, ExternalIdentity, KeysOnSignOut, NewApiKey, ProfileChange,
    STAFF_SCOPE, SignInName, SignUp, SignedInUser, UserCounts,
};
pub use activities::{Activities, ActivityError, NewActivity, NewMedia};
pub use assistance::{AssistError, Assistance};
pub use blocks::{BlockError, Blocks};
pub use bus::{BusId, DocumentChange, DocumentChangeQueue, DocumentChanges, LiveBus, ResumePoint};
pub use caller::{Caller, CallerCredential, Roles, SignInBasis};
pub use codes::{Code, Refusal};
pub use comments::{CommentEngagement, CommentError, Comments, NewComment};
pub use companies::{Companies, CompanyError};
pub use context::{Context, ContextParts};
pub use dead_letters::{DeadLetterError, DeadLetterName, DeadLetterService};
pub use edit::Edit;
pub use entropy::Entropy;
pub use feeds::{
    FEED_ITEMS, FeedEntry, FeedError, FeedMemoryStats, FeedOrder, FeedSource, FeedStats, Feeds,
    LiveFeed, feed_rank,
};
pub use follows::{FollowError, Follows};
pub use goals::{GoalChange, GoalError, Goals, NewGoal};
pub use groups::{
    ARCHIVAL_NOTICE_MS, ArchivalStep, GroupChange, GroupError, GroupView, Groups, NewGroup,
    archival_due_at,
};
pub use likes::{LikeError, LikeState, Likes};
pub use live::{LiveError, LiveEvent, LiveSource, LiveUpdates, Topic, TopicSubscription};
pub use media::{
    DeclaredFile, MEDIA_TYPES, MediaError, MediaFiles, MediaStore, MediaStoreError,
    MediaStoreProblem, MediaUrl, NewUpload, SignedUpload, UploadInstructions,
};
pub use memory::{CacheStats, EntityMemoryStats};
pub use messages::{LiveRoom, MESSAGE_ITEMS, Messages, NewMessage};
pub use milestones::{MilestoneChange, MilestoneError, Milestones, NewMilestone};
pub use moderation::{
    AutoModerationOutcome, AutoModerator, AutoModeratorError, CaseSubject, ModeratedContent,
    Moderation, ModerationError, ModerationSubject, ReviewedCase, Verdict,
};
pub use mutes::{MuteError, Mutes};
pub use notifications::{
    COLLAPSE_MS, Cause, CauseObject, LatestActor, LiveNotifications, NotificationError,
    NotificationPreference, NotificationView, Notifications, collapse_hour, collapses,
};
pub use offers::{NewOffer, OfferChange, OfferError, Offers};
pub use pages::{PAGE_ITEMS, PAGE_ITEMS_MAX, Page, PageInput};
pub use posts::{
    NewPost, POPULAR_RUN_MAX, PostChange, PostError, PostSummaryStats, PostViewerState, Posts,
};
pub use promotions::{NewPromotion, PromotionError, Promotions};
pub use quests::{NewQuest, QuestError, QuestFilter, QuestSubject, Quests};
pub use rooms::{NewRoom, RoomError, RoomView, Rooms, room_of_two};
pub use search::{
    DOCUMENT_TYPES, DocumentKey, DocumentState, HitPosition, HitRequest, IndexHit,
    IndexUnavailable, MatchClass, NoSearchIndex, Phrase, QueryWord, RestrictedAccess, Search,
    SearchDocument, SearchError, SearchIndex, SearchQuery, SearchResult, SearchType, TagClass,
    TagRequest, TaggedKey, TaggedRequest, Word, joined_name, match_class, typos_max, words,
};
pub use service_error::{OUTCOME_UNKNOWN, ServiceError};
pub use settings::{
    FeedMemorySettings, FeedPolicy, FeedSettings, FeedVerbs, GroupSettings, HookSettings, IdleDays,
    InvitationSettings, LikeMode, LoginSettings, MediaSettings, ModerationMode,
    NotificationSettings, PromotionSettings, QuestSettings, RateSettings, Registration, S3Settings,
    ScoreSettings, Settings, ShardCount, ShardSettings, TableNames, TierLimits, TierOverrides,
    TierSettings, WebhookSettings,
};
pub use shares::{ShareError, ShareState, Shares};
pub use statistics::{Statistics, StatisticsError, Totals};
pub use tags::{TagError, TaggedItem, Tags};
pub use tasks::{NewTask, TaskChange, TaskError, Tasks};
pub use timelines::{TimelineError, Timelines};
pub use viewer_access::ViewerAccess;
pub use webhooks::{
    ALL_EVENTS, DeliveryError, DeliveryProgress, DomainEvent, EVENTS, EventType, NewWebhook,
    WebhookDelivery, WebhookError, WebhookJob, WebhookMessage, WebhookSender, Webhooks, is_public,
    outbox_queue,
};
