//! Sends the requests of a user, and repeats those whose outcome is unknown.

use roundtable_domain::Code;
use roundtable_model::{RequestId, UserStatus};

use super::super::record_action::record_action;
use super::{StormOutcome, StormStep, StormUser};
use crate::user_actions::{refused, refused_or_lost};
use crate::{ActionOutcome, UserAction};

/// Times that a request is repeated without getting an answer.
const REPEATED_MAX: usize = 100;

impl StormUser {
    /// Sends a request.
    pub(super) async fn take(
        &self,
        step: &StormStep,
        request: Option<&RequestId>,
    ) -> Result<StormOutcome, Code> {
        let answer = match step {
            StormStep::Act(act) => {
                let answer = self.town.try_perform(&self.caller, act, request).await;
                answer.map(StormOutcome::Done)
            }
            StormStep::Pursuit(feature_action) => {
                let answer = self.town.try_perform_feature(&self.caller, feature_action, request);
                answer.await.map(StormOutcome::Gained)
            }
        };
        if self.admin.is_some() { refused_or_lost(answer) } else { refused(answer) }
    }

    /// Repeats a request whose outcome is unknown, until it has an answer: it had happened, or it
    /// happens now.
    pub(super) async fn repeat(
        &self,
        step: &StormStep,
        request: &RequestId,
    ) -> Result<StormOutcome, Code> {
        let mut answer = Err(Code::OutcomeUnknown);
        for _ in 0..REPEATED_MAX {
            answer = self.take(step, Some(request)).await;
            if answer == Err(Code::OutcomeUnknown) {
                continue;
            }
            // A suspended user gets no answer, not even to a repeated request.
            if answer.is_ok() || !self.is_unsuspended_now().await {
                break;
            }
        }
        assert!(answer != Err(Code::OutcomeUnknown), "{step:?} got no answer {REPEATED_MAX} times");
        let is_deletion = matches!(step, StormStep::Act(UserAction::DeleteAccount(_)));
        // A deletion has no id, and a deleted account gets no answer either.
        if answer.is_err() && is_deletion && self.status().await.is_none() {
            return Ok(StormOutcome::Done(ActionOutcome::Other));
        }
        answer
    }

    /// Lets the admin lift the user's suspension; returns whether there was one.
    async fn is_unsuspended_now(&self) -> bool {
        let Some(admin) = &self.admin else { return false };
        if self.status().await != Some(UserStatus::Suspended) {
            return false;
        }
        let unsuspend = UserAction::Unsuspend(self.caller.user_id.clone());
        let done = refused_or_lost(self.town.try_perform(admin, &unsuspend, None).await);
        let Ok(done) = done else { return true };
        self.shared_model.with(|model| record_action(model, &admin.user_id, &unsuspend, &done));
        true
    }

    /// The status of the account; `None` if it is deleted.
    async fn status(&self) -> Option<UserStatus> {
        let profile = self.town.context().core().profile(&self.caller.user_id);
        let profile = profile.strong().get().await.unwrap();
        profile.map(|profile| profile.status).filter(|status| *status != UserStatus::Deleted)
    }
}

/// Asserts that a request sent three times has one outcome. Its result may be gone by the last
/// time.
pub(super) fn one_of(
    answers: [Result<StormOutcome, Code>; 3],
    step: &StormStep,
) -> Result<StormOutcome, Code> {
    let mut done = answers.iter().filter_map(|answer| answer.as_ref().ok());
    let Some(first) = done.next() else {
        let is_lost = answers.contains(&Err(Code::OutcomeUnknown));
        return if is_lost {
            Err(Code::OutcomeUnknown)
        } else {
            answers.into_iter().next().unwrap()
        };
    };
    for other in done {
        assert_eq!(first, other, "{step:?} had two outcomes");
    }
    Ok(first.clone())
}
