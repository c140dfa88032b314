//! For every question of every document: the document's own table and ours are given the same facts
//! and asked the same, and the answers are the same. Where our answer differs on purpose, the test says
//! how, and asserts what matters.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_imports,
    reason = "a test fails by panicking, and speaks of all entities"
)]

#[path = "coverage/ours.rs"]
mod ours;
#[path = "coverage/s0.rs"]
mod s0;
#[path = "coverage/sides.rs"]
mod sides;
