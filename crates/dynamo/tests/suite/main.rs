//! The backend against an in-process server. One binary, so that the SDK is linked once.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "these are tests, also outside of their test functions"
)]

mod canned;
mod expiry;
mod items;
mod leases;
mod merges;
mod pages;
mod patience;
mod server;
mod streams;
mod tables;
mod transactions;
