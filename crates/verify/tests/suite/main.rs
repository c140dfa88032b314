//! Plants faults of every kind in a small store: each is found with its keys, and repaired if
//! possible.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod counters;
mod expiry;
mod features;
mod feeds;
mod indexes;
mod items;
mod lag;
mod lively;
mod locks;
mod many;
mod owners;
mod rooms;
mod store;
mod stream;
mod tampered;
mod town;
mod uploads;
