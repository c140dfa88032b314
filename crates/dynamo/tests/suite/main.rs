//! The backend against an in-process server. One binary, so that the SDK is linked only once.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may panic, too"
)]

mod canned;
mod expiry;
mod items;
mod merges;
mod pages;
mod retries;
mod server;
mod streams;
mod tables;
mod transactions;
