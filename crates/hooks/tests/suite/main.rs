//! Calls to other services: the requests they receive, and the effect of their replies.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::indexing_slicing, reason = "a test that cannot go on should stop")]

mod answers;
mod case_messages;
mod configuration;
mod delivering;
mod loopback;
mod sending;
mod story;
