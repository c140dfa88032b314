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
mod audit;
mod blocks;
mod caller;
mod chance;
mod circle;
pub mod codes;
mod comments;
mod commit;
mod edit;
mod failure;
mod feeds;
mod follows;
mod ground;
mod groups;
mod likes;
pub mod limits;
mod moderation;
mod once;
mod pages;
mod posts;
mod promotions;
mod rates;
mod settings;
mod shares;
mod sight;

pub use accounts::{
    AccountError, Accounts, Counts, KeyHolder, NewKey, ProfileChange, STAFF_SCOPE, SignUp, SignedIn,
};
pub use activities::{Activities, ActivityError, NewActivity, NewMedia};
pub use blocks::{BlockError, Blocks};
pub use caller::{Caller, Roles};
pub use chance::Chance;
pub use codes::{Code, Refusal};
pub use comments::{CommentError, CommentMarks, Comments, NewComment};
pub use edit::Edit;
pub use failure::Failure;
pub use feeds::{
    FEED_ITEMS, FeedEntry, FeedError, FeedFigures, FeedSource, Feeds, LiveFeed, MemoryFigures,
};
pub use follows::{FollowError, Follows};
pub use ground::{Ground, Parts};
pub use groups::{GroupChange, GroupError, GroupView, Groups, NewGroup};
pub use likes::{LikeError, Liked, Likes};
pub use moderation::{
    Content, Judge, JudgeError, Judgement, Moderation, ModerationError, Subject, Verdict,
};
pub use pages::{PAGE_ITEMS, PAGE_ITEMS_MAX, Page, PageInput};
pub use posts::{NewPost, POPULAR_RUN_MAX, PostChange, PostError, PostMarks, Posts, Stats};
pub use promotions::{NewPromotion, PromotionError, Promotions};
pub use settings::{
    FeedMemory, FeedPolicy, FeedSettings, HookSettings, LikeMode, LoginSettings, ModerationMode,
    PromotionSettings, RateSettings, Registration, ScoreSettings, Settings, ShardCount,
    ShardSettings, TableNames,
};
pub use shares::{ShareError, Shared, Shares};
pub use sight::Sight;
