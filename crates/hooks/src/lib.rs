//! Calls to other services, over HTTP and signed: [`Courier`]. Who decides about moderation cases
//! before moderators do: [`WebhookJudge`]. Who is told of what happens: [`Deliverer`].
//!
//! It stores nothing, and tries nothing again: that is its callers' business.
#![doc = ""]
#![doc = include_str!("../../../docs/HOOKS.md")]

mod client;
mod courier;
mod deliverer;
mod judge;
mod misconfigured;
mod question;
mod reach;
mod signature;

pub use courier::{Courier, Message, REPLY_BYTES_MAX, Reply, SendError};
pub use deliverer::{Deliverer, PATIENCE};
pub use judge::WebhookJudge;
pub use misconfigured::Misconfigured;
