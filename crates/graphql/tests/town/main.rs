//! The town's half of the API, and everything that can be listened to: documents in, JSON out.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop"
)]
#![expect(clippy::indexing_slicing, reason = "JSON answers null where there is nothing")]

mod accounts;
mod goals;
mod help;
mod listening;
mod loads;
mod notifications;
mod resuming;
mod rooms;
mod slow;
mod stage;
mod trade;
mod uploads;
