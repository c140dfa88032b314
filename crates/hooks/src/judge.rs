//! A judge behind a URL: it is sent a case, and what it answers is read strictly. Whatever is not an
//! answer decides nothing.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hyper::StatusCode;
use hyper::header::CONTENT_TYPE;
use roundtable_domain::{HookSettings, Judge, JudgeError, Subject, Verdict};
use roundtable_model::table::Clock;
use serde::Deserialize;

use crate::courier::{Courier, Reply};
use crate::{Misconfigured, question};

/// How much of what a hook said is repeated where it makes no sense.
const QUOTE_CHARS_MAX: usize = 100;

/// Asks a service of the installation's own.
#[derive(Clone, Debug)]
pub struct WebhookJudge {
    courier: Courier,
}

/// What a hook answers. What else it says is passed over: hooks may know more than we ask.
#[derive(Debug, Deserialize)]
struct Answer {
    decision: String,
    reason: Option<String>,
}

impl WebhookJudge {
    /// The judge that this courier leads to.
    pub const fn new(courier: Courier) -> Self {
        Self { courier }
    }

    /// The judge that is configured, if one is.
    pub fn configured(
        settings: &HookSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Option<Self>, Misconfigured> {
        let Some(url) = &settings.url else { return Ok(None) };
        let patience = Duration::from_millis(settings.timeout_ms);
        let courier = Courier::new(url, settings.secret.as_ref(), patience, clock)?;
        Ok(Some(Self::new(courier)))
    }
}

#[async_trait]
impl Judge for WebhookJudge {
    async fn judge(&self, subject: &Subject) -> Result<Verdict, JudgeError> {
        let question = question::about(subject).map_err(|error| JudgeError(error.to_string()))?;
        let reply = self.courier.send(&question).await;
        verdict(&reply.map_err(|error| JudgeError(error.to_string()))?).map_err(JudgeError)
    }
}

fn verdict(reply: &Reply) -> Result<Verdict, String> {
    if reply.status != StatusCode::OK {
        return Err(format!("the hook answered {}", reply.status));
    }
    if !is_json(reply) {
        return Err("the hook's answer is not application/json".to_owned());
    }
    let answer: Answer = serde_json::from_slice(&reply.body).map_err(|error| {
        format!("the hook's answer makes no sense: {}", quote(&error.to_string()))
    })?;
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
            "the hook decided {:?}, which is none of approve, reject, flag and undecided",
            quote(other)
        )),
    }
}

fn is_json(reply: &Reply) -> bool {
    let kind = reply.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

/// The beginning of what somebody else said, for logs and dead letters.
fn quote(text: &str) -> String {
    text.chars().take(QUOTE_CHARS_MAX).collect()
}
