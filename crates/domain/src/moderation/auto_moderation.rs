//! Automatic moderation: an external service is asked first, and cases it cannot decide in time
//! wait for moderators.

use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain_macros::boxed;
use roundtable_model::{CaseId, ModerationStatus};
use tokio::time::timeout;

use super::decisions::ModerationDecision;
use super::{Moderation, ModerationError, ModerationSubject, is_decided};
use crate::limits::REASON_CHARS_MAX;
use crate::mutation::AttemptOutcome;

/// A service that decides cases automatically.
#[async_trait]
pub trait AutoModerator: Send + Sync {
    async fn review(&self, subject: &ModerationSubject) -> Result<Verdict, AutoModeratorError>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Approve,
    Reject(String),
    /// Hidden until a moderator has decided; with the reason.
    Flag(String),
    /// Left to a moderator.
    Undecided,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AutoModeratorError(pub String);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AutoModerationOutcome {
    Decided(ModerationStatus),
    /// The case waits for a moderator.
    Undecided,
    /// The service failed or timed out; the case waits for a moderator.
    Failed(AutoModeratorError),
    /// A moderator was faster, or the content was changed or deleted.
    Overtaken,
}

#[boxed]
impl Moderation {
    /// Asks the service about an undecided case and carries its verdict out as the system. A
    /// moderator's decision takes precedence.
    pub async fn decide_automatically(
        &self,
        case: &CaseId,
        moderator: &dyn AutoModerator,
    ) -> Result<AutoModerationOutcome, ModerationError> {
        let Some(subject) = self.undecided(case).await? else {
            return Ok(AutoModerationOutcome::Overtaken);
        };
        let time_limit = Duration::from_millis(self.context.settings().hook.timeout_ms);
        let (status, reason) = match timeout(time_limit, moderator.review(&subject)).await {
            Ok(Ok(Verdict::Approve)) => (ModerationStatus::Approved, None),
            Ok(Ok(Verdict::Reject(reason))) => (ModerationStatus::Rejected, Some(reason)),
            Ok(Ok(Verdict::Flag(reason))) => (ModerationStatus::Flagged, Some(reason)),
            Ok(Ok(Verdict::Undecided)) => return Ok(AutoModerationOutcome::Undecided),
            Ok(Err(error)) => return Ok(Self::no_verdict(case, error)),
            Err(_) => {
                let late = AutoModeratorError(format!("no answer within {time_limit:?}"));
                return Ok(Self::no_verdict(case, late));
            }
        };
        // The stored reason has a maximum length.
        let reason: Option<String> =
            reason.map(|reason| reason.chars().take(REASON_CHARS_MAX).collect());
        let decision = ModerationDecision { status, reason: reason.as_deref(), by: None };
        self.context
            .retry(async |attempt| {
                let now = self.undecided(case).await?;
                let Some(now) = now.filter(|now| now.content.has_same_text(&subject.content))
                else {
                    return Ok(AttemptOutcome::Done(AutoModerationOutcome::Overtaken));
                };
                let target = now.content.target();
                let decided = self.decide(&target, now.content, Some(now.case), decision, attempt);
                Ok(decided.await?.map(|_| AutoModerationOutcome::Decided(status)))
            })
            .await
    }

    fn no_verdict(case: &CaseId, error: AutoModeratorError) -> AutoModerationOutcome {
        tracing::warn!(%case, %error, "no automatic verdict: the case waits for a moderator");
        AutoModerationOutcome::Failed(error)
    }

    /// Returns an undecided case with its content; `None` if it is decided or the content is gone.
    async fn undecided(&self, case: &CaseId) -> Result<Option<ModerationSubject>, ModerationError> {
        let case = self.find_case(case).await?.filter(|case| !is_decided(case));
        let Some(case) = case else { return Ok(None) };
        Ok(self.subjects(vec![case]).await?.into_iter().flatten().next())
    }
}
