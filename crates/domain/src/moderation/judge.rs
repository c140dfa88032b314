//! Deciding without a moderator: a judge is asked, and what it cannot tell in time waits for people.

use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain_macros::boxed;
use roundtable_model::{CaseId, ModerationStatus};
use tokio::time::timeout;

use super::decisions::Decision;
use super::{Moderation, ModerationError, Subject, is_decided};
use crate::limits::REASON_CHARS_MAX;
use crate::once::Tried;

/// Somebody, or something, that decides about cases on its own.
#[async_trait]
pub trait Judge: Send + Sync {
    /// What is to become of it.
    async fn judge(&self, subject: &Subject) -> Result<Verdict, JudgeError>;
}

/// What a judge thinks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may be seen.
    Approve,
    /// It may not, for this reason.
    Reject(String),
    /// A moderator should look at it before anybody else does, for this reason.
    Flag(String),
    /// It cannot tell; a moderator has to.
    Undecided,
}

/// Why a judge gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JudgeError(pub String);

/// What came of asking a judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Its verdict was carried out.
    Decided(ModerationStatus),
    /// It did not want to decide: the case waits for a moderator.
    Undecided,
    /// It failed, or took too long: the case waits for a moderator.
    Failed(JudgeError),
    /// There was nothing left to decide: a moderator was faster, or the text changed, or it is gone.
    Overtaken,
}

#[boxed]
impl Moderation {
    /// Asks a judge about a case that waits, and carries its verdict out as the system's own. A
    /// moderator's decision always stands.
    pub async fn decide_automatically(
        &self,
        case: &CaseId,
        judge: &dyn Judge,
    ) -> Result<Judgement, ModerationError> {
        let Some(subject) = self.waiting(case).await? else { return Ok(Judgement::Overtaken) };
        let patience = Duration::from_millis(self.ground.settings().hook.timeout_ms);
        let (status, reason) = match timeout(patience, judge.judge(&subject)).await {
            Ok(Ok(Verdict::Approve)) => (ModerationStatus::Approved, None),
            Ok(Ok(Verdict::Reject(reason))) => (ModerationStatus::Rejected, Some(reason)),
            Ok(Ok(Verdict::Flag(reason))) => (ModerationStatus::Flagged, Some(reason)),
            Ok(Ok(Verdict::Undecided)) => return Ok(Judgement::Undecided),
            Ok(Err(error)) => return Ok(Self::no_verdict(case, error)),
            Err(_) => {
                let late = JudgeError(format!("no answer within {patience:?}"));
                return Ok(Self::no_verdict(case, late));
            }
        };
        // Whatever a judge has to say about it, a case has room for so much.
        let reason: Option<String> =
            reason.map(|reason| reason.chars().take(REASON_CHARS_MAX).collect());
        let decision = Decision { status, reason: reason.as_deref(), by: None };
        self.ground
            .once(
                None,
                async |()| Ok(Judgement::Overtaken),
                async || {
                    let now = self.waiting(case).await?;
                    let Some(now) = now.filter(|now| now.content.says_the_same(&subject.content))
                    else {
                        return Ok(Tried::Done(Judgement::Overtaken));
                    };
                    let target = now.content.target();
                    let decided = self.decide(&target, now.content, Some(now.case), decision, None);
                    Ok(match decided.await? {
                        Tried::Done(_) => Tried::Done(Judgement::Decided(status)),
                        Tried::Again => Tried::Again,
                    })
                },
            )
            .await
    }

    fn no_verdict(case: &CaseId, error: JudgeError) -> Judgement {
        tracing::warn!(%case, %error, "no verdict: the case waits for a moderator");
        Judgement::Failed(error)
    }

    /// A case that is not decided, with what it is about; `None` when there is no such thing.
    async fn waiting(&self, case: &CaseId) -> Result<Option<Subject>, ModerationError> {
        let case = self.case_about(case).await?.filter(|case| !is_decided(case));
        let Some(case) = case else { return Ok(None) };
        Ok(self.subjects(vec![case]).await?.into_iter().flatten().next())
    }
}
