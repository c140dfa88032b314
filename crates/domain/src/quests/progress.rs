//! Progress of quests, as computed by the quest processor from the current state.
//!
//! Each counted task or goal has a step item, and the progress is their number. A step, the
//! progress and its consequences are one transaction, on the condition that the subject and the
//! quest are unchanged. Repeated, late or concurrent recounts therefore find nothing to do or
//! retry, and a quest earns its reward once.

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Quest, QuestStep, XpEntry};
use roundtable_model::table::{BatchWrite, Write};
use roundtable_model::{
    ActivityVerb, Entity, ObjectType, Patch, QuestId, QuestStatus, Tag, Time, UserCount, UserId,
};

use super::counting::{QuestSubject, is_counted_at, is_relevant, target};
use super::subjects::{OtherSteps, StaleStep};
use super::{QuestError, Quests, tags};
use crate::ServiceError;
use crate::account::{SINGLE_SHARD, existing_account_check};
use crate::activities::{ActivityDraft, prepare_activity};
use crate::circle::change_count;
use crate::commit::Commit;
use crate::mutation::{Attempt, AttemptOutcome};

/// The cancel reason of an expired quest.
const EXPIRED: &str = "expired";
/// Steps deleted per batch.
const STEPS_PER_BATCH: usize = 25;

/// True if a quest is still active after a recount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecountResult {
    Ongoing,
    Ended,
}

#[boxed]
impl Quests {
    /// Recounts a task or goal for every active quest of its owner that it is relevant to. One
    /// batch shows which quests change; these are written one after the other, because each write
    /// checks the same subject and they would conflict.
    pub async fn recount(&self, user: &UserId, subject: &QuestSubject) -> Result<(), QuestError> {
        let mut quests = self.active(user).await?;
        quests.retain(|quest| is_relevant(quest, subject));
        if quests.is_empty() {
            return Ok(());
        }
        let found = self.subject_state(user, subject);
        let (steps, found) = try_join(self.steps_for(&quests, subject), found).await?;
        for (quest, step) in quests.iter().zip(steps) {
            let counted = found.done_at.filter(|done_at| is_counted_at(quest, *done_at));
            if step.map(|step| step.done_at) != counted {
                self.recount_for(user, &quest.id, subject).await?;
            }
        }
        Ok(())
    }

    /// Recounts everything that may count towards a quest: after its creation, and before it ends.
    pub async fn recount_all(&self, user: &UserId, id: &QuestId) -> Result<(), QuestError> {
        let quest = self.quest(user, id).await?;
        let Some(quest) = quest.filter(is_active) else { return Ok(()) };
        let mut scan = self.scan_subjects(&quest).await?;
        while let Some(subjects) = scan.next(self).await? {
            for subject in subjects {
                if self.recount_for(user, id, &subject).await? == RecountResult::Ended {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Cancels an uncompleted quest whose deadline has passed; returns whether it has ended.
    pub async fn expire(&self, user: &UserId, id: &QuestId) -> Result<bool, QuestError> {
        self.context
            .retry(async |attempt| {
                let quest = self.quest(user, id).await?;
                let Some(quest) = quest.filter(is_active) else {
                    return Ok(AttemptOutcome::Done(true));
                };
                let now = self.context.now();
                if quest.deadline.is_none_or(|deadline| now < deadline) {
                    return Ok(AttemptOutcome::Done(false));
                }
                let patch = quest.key().patch();
                let patch = patch
                    .set(Quest::STATUS, &QuestStatus::Cancelled)
                    .set(Quest::CANCEL_REASON, &Some(EXPIRED.to_owned()))
                    .set(Quest::UPDATED_AT, &now)
                    .when(Quest::STATUS.is(&QuestStatus::Active));
                attempt.commit().with("quest", patch).finish_unrecorded(true).await
            })
            .await
    }

    /// Deletes a batch of what a deleted quest left behind; returns whether there was any.
    pub async fn clear(
        &self,
        user: &UserId,
        id: &QuestId,
        tags: &[Tag],
    ) -> Result<bool, QuestError> {
        if self.quest(user, id).await?.is_some() {
            return Ok(false);
        }
        tags::clear(&self.context, id, tags).await?;
        let core = self.context.core();
        let steps = core.quest_steps(user, id).strong().limit(STEPS_PER_BATCH).page().await?.items;
        let any = !steps.is_empty();
        if any {
            let deletes = steps.iter().map(|step| BatchWrite::Delete(step.key().into())).collect();
            core.table().batch_write(deletes).await.map_err(ServiceError::of_write)?;
        }
        Ok(any)
    }

    async fn recount_for(
        &self,
        user: &UserId,
        quest: &QuestId,
        subject: &QuestSubject,
    ) -> Result<RecountResult, QuestError> {
        self.context.retry(|attempt| self.try_recount(user, quest, subject, attempt)).await
    }

    async fn try_recount(
        &self,
        user: &UserId,
        id: &QuestId,
        subject: &QuestSubject,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<RecountResult>, QuestError> {
        let quest = self.quest(user, id).await?.filter(is_active);
        let Some(quest) = quest else { return Ok(AttemptOutcome::Done(RecountResult::Ended)) };
        if !is_relevant(&quest, subject) {
            return Ok(AttemptOutcome::Done(RecountResult::Ongoing));
        }
        let (step, found) =
            try_join(self.step(&quest, subject), self.subject_state(user, subject)).await?;
        let counted = found.done_at.filter(|done_at| is_counted_at(&quest, *done_at));
        let (write, by): (Write, i64) = match (step, counted) {
            (None, Some(done_at)) => (new_step(&quest, subject, done_at).create().into(), 1),
            (Some(step), None) => (step.key().delete().into(), -1),
            (Some(step), Some(done_at)) if step.done_at != done_at => {
                let as_read = QuestStep::DONE_AT.is(&step.done_at);
                (new_step(&quest, subject, done_at).put().when(as_read).into(), 0)
            }
            _ => return Ok(AttemptOutcome::Done(RecountResult::Ongoing)),
        };
        let progress = adjusted_progress(&quest, by)?;
        let commit = attempt.commit().with("step", write).with_all("subject", found.check);
        if progress < target(&quest) {
            let commit = commit.with_all("goal", found.goal);
            let commit = commit.with("quest", self.progress_patch(&quest, progress));
            return commit.finish_unrecorded(RecountResult::Ongoing).await;
        }
        match self.check_other_steps(&quest, subject).await? {
            OtherSteps::Count { checks, checks_goal } => {
                // An item may occur only once in a transaction.
                let goal = found.goal.filter(|_| !checks_goal);
                let commit = commit.with_all("goal", goal).with_all("others", checks);
                self.complete(&quest, progress, commit, attempt).await
            }
            OtherSteps::Stale(stale) => self.remove_stale_steps(&quest, stale, attempt).await,
        }
    }

    /// Removes stale steps, if they still do not count; the recount then starts over.
    async fn remove_stale_steps(
        &self,
        quest: &Quest,
        stale: Vec<StaleStep>,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<RecountResult>, QuestError> {
        let by = i64::try_from(stale.len()).unwrap_or(i64::MAX);
        let progress = adjusted_progress(quest, -by)?;
        let mut commit = attempt.commit().with("quest", self.progress_patch(quest, progress));
        for StaleStep { step, check } in stale {
            commit = commit.with("step", step.key().delete()).with_all("subject", check);
        }
        commit.finish_unrecorded::<_, QuestError>(()).await?;
        Ok(AttemptOutcome::Retry)
    }

    /// Sets the progress, if the quest is as it was read.
    fn progress_patch(&self, quest: &Quest, progress: u64) -> Patch<Quest> {
        let as_read = Quest::STATUS.is(&QuestStatus::Active);
        let as_read = as_read.and(Quest::PROGRESS_COUNT.is(&quest.progress_count));
        let patch = quest.key().patch();
        patch
            .set(Quest::PROGRESS_COUNT, &progress)
            .set(Quest::UPDATED_AT, &self.context.now())
            .when(as_read)
    }

    /// Completes a quest, with the last step and the reward.
    async fn complete(
        &self,
        quest: &Quest,
        progress: u64,
        commit: Commit<'_>,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<RecountResult>, QuestError> {
        if self.context.existing_account(&quest.user_id).await?.is_none() {
            // Nothing may be left behind for a deleted account.
            return Ok(AttemptOutcome::Done(RecountResult::Ended));
        }
        let reward = i64::try_from(quest.reward_xp)
            .map_err(|_| ServiceError::Internal(format!("quest {} earns too much", quest.id)))?;
        let now = self.context.now();
        let entry = XpEntry {
            user_id: quest.user_id.clone(),
            quest_id: quest.id.clone(),
            reward_xp: quest.reward_xp,
            created_at: now,
        };
        let draft = completion_activity(quest);
        let published = prepare_activity(&self.context, attempt, draft).await?;
        let completed =
            self.progress_patch(quest, progress).set(Quest::STATUS, &QuestStatus::Completed);
        let commit = commit
            .with("quest", completed)
            .with("user", existing_account_check(&quest.user_id))
            .with("reward", entry.create())
            .with("xp", change_count(&quest.user_id, UserCount::Xp, SINGLE_SHARD, reward, now));
        published.add_to(commit).finish_unrecorded(RecountResult::Ended).await
    }
}

pub(super) fn is_active(quest: &Quest) -> bool {
    quest.status == QuestStatus::Active
}

fn adjusted_progress(quest: &Quest, by: i64) -> Result<u64, ServiceError> {
    let Quest { id, progress_count, .. } = quest;
    progress_count.checked_add_signed(by).ok_or_else(|| {
        ServiceError::Internal(format!("quest {id} has more steps than its progress says"))
    })
}

fn new_step(quest: &Quest, subject: &QuestSubject, done_at: Time) -> QuestStep {
    QuestStep {
        user_id: quest.user_id.clone(),
        quest_id: quest.id.clone(),
        subject_id: subject.id(),
        goal_id: subject.goal().clone(),
        object_type: subject.object_type(),
        done_at,
    }
}

fn completion_activity(quest: &Quest) -> ActivityDraft {
    ActivityDraft {
        actor: quest.user_id.clone(),
        group: None,
        verb: ActivityVerb::QuestUpdate,
        object: (ObjectType::Quest, (&quest.id).into()),
        object_home: None,
        preview: Some(quest.title.clone()),
        media: None,
        // Tags stay with the quest, which is private.
        tags: Vec::new(),
        is_posted: false,
    }
}
