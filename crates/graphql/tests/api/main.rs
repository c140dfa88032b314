//! Tests of the API: documents in, JSON out, over a town in memory.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a failed setup should stop the test")]
#![expect(clippy::indexing_slicing, reason = "JSON yields null for missing values")]

mod accounts;
mod api_town;
mod assistance;
mod batching;
mod errors;
mod feeds;
mod follows;
mod goals;
mod groups;
mod hidden;
mod idempotency;
mod limits;
mod media;
mod moderation;
mod nodes;
mod notifications;
mod paging;
mod posts;
mod resumed_subscriptions;
mod rooms;
mod search;
#[path = "../support/services.rs"]
mod services;
mod slow_subscribers;
mod subscriptions;
mod trade;
mod uploads;
