//! Calls to other services: what they receive, and what their answers lead to.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::indexing_slicing, reason = "a test that cannot go on should stop")]

mod answers;
mod configuration;
mod delivering;
mod loopback;
mod questions;
mod sending;
mod story;
