//! The API, as far as it can be asked and listened to: documents in, JSON out, over a town in memory.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop"
)]
#![expect(clippy::indexing_slicing, reason = "JSON answers null where there is nothing")]

mod accounts;
mod errors;
mod feeds;
mod follows;
mod goals;
mod groups;
mod help;
mod hidden;
mod limits;
mod listening;
mod loads;
mod media;
mod moderation;
mod nodes;
mod notifications;
mod once;
mod paging;
mod posts;
mod resuming;
mod rooms;
#[path = "../props/services.rs"]
mod services;
mod slow;
mod stage;
mod trade;
mod uploads;
