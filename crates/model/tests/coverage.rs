//! For every question of every document: the document's own table and ours are given the same facts
//! and asked the same, and the answers are the same. Where our answer differs on purpose, the test says
//! how, and asserts what matters.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::wildcard_imports, reason = "these are the facts, and all our entities")]

#[path = "coverage/facts.rs"]
mod facts;
#[path = "coverage/ours.rs"]
mod ours;
#[path = "coverage/s0.rs"]
mod s0;
#[path = "coverage/s1.rs"]
mod s1;
#[path = "coverage/s2.rs"]
mod s2;
#[path = "coverage/sides.rs"]
mod sides;
