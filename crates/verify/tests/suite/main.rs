//! Every kind of fault, planted in a small town: found with its keys, and mended where it can be.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod counters;
mod expiry;
mod feeds;
mod indexes;
mod items;
mod lag;
mod life;
mod lively;
mod locks;
mod many;
mod rooms;
mod store;
mod stream;
mod tampered;
mod town;
