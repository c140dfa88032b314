//! Signed HTTP calls to other services: [`WebhookClient`], moderation by [`WebhookModerator`], and
//! event delivery by [`HttpWebhookSender`].
//!
//! It stores nothing and retries nothing: that is the caller's job.
#![doc = ""]
#![doc = include_str!("../../../docs/HOOKS.md")]

mod case_message;
mod config_error;
mod moderator;
mod sender;
mod signature;
mod targets;
mod transport;
mod webhook_client;

pub use config_error::HookConfigError;
pub use moderator::WebhookModerator;
pub use sender::{DELIVERY_TIMEOUT, HttpWebhookSender};
pub use webhook_client::{HookMessage, HookReply, REPLY_BYTES_MAX, SendError, WebhookClient};
