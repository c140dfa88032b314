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
mod audit;
mod caller;
mod circle;
pub mod codes;
mod commit;
mod failure;
mod follows;
mod ground;
pub mod limits;
mod once;
mod pages;
mod settings;
mod sight;

pub use caller::{Caller, Roles};
pub use codes::{Code, Refusal};
pub use failure::Failure;
pub use follows::{FollowError, Follows};
pub use ground::{Ground, Parts};
pub use pages::{PAGE_ITEMS, PAGE_ITEMS_MAX, Page, PageInput};
pub use settings::{
    Likes, LoginSettings, ModerationMode, RateSettings, Registration, ScoreSettings, Settings,
    ShardCount, ShardSettings, TableNames,
};
pub use sight::Sight;
