//! Automatic moderation by a service behind a URL. Its answer is parsed strictly; anything invalid
//! decides nothing.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hyper::StatusCode;
use hyper::header::CONTENT_TYPE;
use roundtable_domain::{
    AutoModerator, AutoModeratorError, HookSettings, ModerationSubject, Verdict,
};
use roundtable_model::table::Clock;
use serde::Deserialize;

use crate::webhook_client::{HookReply, WebhookClient};
use crate::{HookConfigError, case_message};

/// Length of quotations from invalid answers.
const QUOTE_CHARS_MAX: usize = 100;

#[derive(Clone, Debug)]
pub struct WebhookModerator {
    client: WebhookClient,
}

/// Unknown fields are ignored: a service may say more than we need.
#[derive(Debug, Deserialize)]
struct ModeratorAnswer {
    decision: String,
    reason: Option<String>,
}

impl WebhookModerator {
    pub const fn new(client: WebhookClient) -> Self {
        Self { client }
    }

    /// The configured moderator, if there is one.
    pub fn configured(
        settings: &HookSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Option<Self>, HookConfigError> {
        let Some(url) = &settings.url else { return Ok(None) };
        let limit = Duration::from_millis(settings.timeout_ms);
        let client = WebhookClient::new(url, settings.secret.as_ref(), limit, clock)?;
        Ok(Some(Self::new(client)))
    }
}

#[async_trait]
impl AutoModerator for WebhookModerator {
    async fn review(&self, subject: &ModerationSubject) -> Result<Verdict, AutoModeratorError> {
        let message = case_message::case_message(subject)
            .map_err(|error| AutoModeratorError(error.to_string()))?;
        let reply = self.client.send(&message).await;
        parse_verdict(&reply.map_err(|error| AutoModeratorError(error.to_string()))?)
            .map_err(AutoModeratorError)
    }
}

fn parse_verdict(reply: &HookReply) -> Result<Verdict, String> {
    if reply.status != StatusCode::OK {
        return Err(format!("the hook responded with {}", reply.status));
    }
    if !is_json(reply) {
        return Err("the hook's answer is not application/json".to_owned());
    }
    let answer: ModeratorAnswer = serde_json::from_slice(&reply.body)
        .map_err(|error| format!("the hook's answer is invalid: {}", quote(&error.to_string())))?;
    let reason = answer.reason.filter(|reason| !reason.trim().is_empty());
    match (answer.decision.as_str(), reason) {
        ("approve", _) => Ok(Verdict::Approve),
        ("undecided", _) => Ok(Verdict::Undecided),
        ("reject", Some(reason)) => Ok(Verdict::Reject(reason)),
        ("flag", Some(reason)) => Ok(Verdict::Flag(reason)),
        (decision @ ("reject" | "flag"), None) => {
            Err(format!("the hook gave no reason for its decision to {decision}"))
        }
        (other, _) => Err(format!(
            "the hook decided {:?}, expected approve, reject, flag or undecided",
            quote(other)
        )),
    }
}

fn is_json(reply: &HookReply) -> bool {
    let kind = reply.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

/// The beginning of a foreign text, for logs and dead letters.
fn quote(text: &str) -> String {
    text.chars().take(QUOTE_CHARS_MAX).collect()
}
