//! How quests come along: what the processor of quests does, from how things are now.
//!
//! A step is there for each task and goal that counts, and the progress is how many there are: a step,
//! the progress, and what the progress leads to are one transaction, on the condition that the task or
//! goal is as it was read and the quest where it was. So whoever looks twice, late, or at the same time
//! as others finds nothing to do, or looks again; and a quest earns its reward once.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Quest, QuestStep, User, XpEntry};
use roundtable_model::table::{BatchWrite, Write};
use roundtable_model::{
    ActivityVerb, Entity, ObjectType, Patch, QuestId, QuestStatus, Tag, Time, UserCount, UserId,
    UserStatus,
};

use super::counting::{QuestSubject, concerns, counts, target};
use super::found::{Others, Stale};
use super::{QuestError, Quests, tags};
use crate::Failure;
use crate::account::WHOLE;
use crate::activities::{News, publish};
use crate::circle::count;
use crate::commit::Commit;
use crate::once::Tried;

/// Why a quest was cancelled by its deadline.
const EXPIRED: &str = "expired";
/// Steps taken away at once: a batch.
const STEPS_AT_ONCE: usize = 25;

/// Whether a quest is still under way after a look at something that may count for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    On,
    Over,
}

#[boxed]
impl Quests {
    /// Looks at a task or goal again, for every active quest of its owner that it concerns. For most of
    /// them nothing has changed, which is found out for all at once. The others are written one after
    /// the other: each write demands the same task or goal, and they would only meet each other.
    pub async fn weigh(&self, user: &UserId, subject: &QuestSubject) -> Result<(), QuestError> {
        let mut quests = self.active(user).await?;
        quests.retain(|quest| concerns(quest, subject));
        if quests.is_empty() {
            return Ok(());
        }
        let found = self.found(user, subject);
        let (steps, found) = try_join(self.steps_for(&quests, subject), found).await?;
        for (quest, step) in quests.iter().zip(steps) {
            let counted = found.done_at.filter(|done_at| counts(quest, *done_at));
            if step.map(|step| step.done_at) != counted {
                self.weigh_for(user, &quest.id, subject).await?;
            }
        }
        Ok(())
    }

    /// Looks at everything that may count for a quest: when it is made, and before it ends.
    pub async fn weigh_all(&self, user: &UserId, id: &QuestId) -> Result<(), QuestError> {
        let quest = self.quest(user, id).await?;
        let Some(quest) = quest.filter(is_active) else { return Ok(()) };
        let mut walk = self.walk(&quest).await?;
        while let Some(subjects) = walk.next(self).await? {
            for subject in subjects {
                if self.weigh_for(user, id, &subject).await? == Way::Over {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Ends a quest whose deadline has passed, if it is not completed; whether it is over.
    pub async fn expire(&self, user: &UserId, id: &QuestId) -> Result<bool, QuestError> {
        let attempt = async || {
            let quest = self.quest(user, id).await?;
            let Some(quest) = quest.filter(is_active) else { return Ok(Tried::Done(true)) };
            let now = self.ground.now();
            if quest.deadline.is_none_or(|deadline| now < deadline) {
                return Ok(Tried::Done(false));
            }
            let patch = quest.key().patch();
            let patch = patch
                .set(Quest::STATUS, &QuestStatus::Cancelled)
                .set(Quest::CANCEL_REASON, &Some(EXPIRED.to_owned()))
                .set(Quest::UPDATED_AT, &now)
                .when(Quest::STATUS.is(&QuestStatus::Active));
            Ok::<_, QuestError>(self.ground.commit().with("quest", patch).done(true).await?)
        };
        self.ground.once(None, async |over: bool| Ok(over), attempt).await
    }

    /// Takes away some of what a deleted quest has left, by the tags it had; whether there was any.
    pub async fn clear(
        &self,
        user: &UserId,
        id: &QuestId,
        tags: &[Tag],
    ) -> Result<bool, QuestError> {
        if self.quest(user, id).await?.is_some() {
            return Ok(false);
        }
        tags::clear(&self.ground, id, tags).await?;
        let core = self.ground.core();
        let steps = core.quest_steps(user, id).strong().limit(STEPS_AT_ONCE).page().await?.items;
        let any = !steps.is_empty();
        if any {
            let gone = steps.iter().map(|step| BatchWrite::Delete(step.key().into())).collect();
            core.table().batch_write(gone).await.map_err(Failure::from)?;
        }
        Ok(any)
    }

    async fn weigh_for(
        &self,
        user: &UserId,
        quest: &QuestId,
        subject: &QuestSubject,
    ) -> Result<Way, QuestError> {
        let is_late = AtomicBool::new(false);
        let attempt =
            async || self.try_weigh(user, quest, subject, is_late.swap(true, Relaxed)).await;
        self.ground.once(None, async |(): ()| Ok(Way::On), attempt).await
    }

    async fn try_weigh(
        &self,
        user: &UserId,
        id: &QuestId,
        subject: &QuestSubject,
        is_late: bool,
    ) -> Result<Tried<Way>, QuestError> {
        let quest = self.quest(user, id).await?.filter(is_active);
        let Some(quest) = quest else { return Ok(Tried::Done(Way::Over)) };
        if !concerns(&quest, subject) {
            return Ok(Tried::Done(Way::On));
        }
        let (step, found) = try_join(self.step(&quest, subject), self.found(user, subject)).await?;
        let counted = found.done_at.filter(|done_at| counts(&quest, *done_at));
        let (write, by): (Write, i64) = match (step, counted) {
            (None, Some(done_at)) => (new_step(&quest, subject, done_at).create().into(), 1),
            (Some(step), None) => (step.key().delete().into(), -1),
            (Some(step), Some(done_at)) if step.done_at != done_at => {
                let as_read = QuestStep::DONE_AT.is(&step.done_at);
                (new_step(&quest, subject, done_at).put().when(as_read).into(), 0)
            }
            _ => return Ok(Tried::Done(Way::On)),
        };
        let progress = moved(&quest, by)?;
        let commit = self.ground.commit().with("step", write).with_any("subject", found.check);
        if progress < target(&quest) {
            let commit = commit.with_any("goal", found.goal);
            return Ok(commit.with("quest", self.at(&quest, progress)).done(Way::On).await?);
        }
        match self.others(&quest, subject).await? {
            Others::Count { checks, demands_goal } => {
                // No item may occur twice in a transaction.
                let goal = found.goal.filter(|_| !demands_goal);
                let commit = commit.with_any("goal", goal).with_any("others", checks);
                self.complete(&quest, progress, commit, is_late).await
            }
            Others::Stale(stale) => {
                self.forget(&quest, stale).await?;
                Ok(Tried::Again)
            }
        }
    }

    /// Takes steps away that no longer count, if they still do not.
    async fn forget(&self, quest: &Quest, stale: Vec<Stale>) -> Result<(), Failure> {
        let by = i64::try_from(stale.len()).unwrap_or(i64::MAX);
        let progress = moved(quest, -by)?;
        let mut commit = self.ground.commit().with("quest", self.at(quest, progress));
        for Stale { step, check } in stale {
            commit = commit.with("step", step.key().delete()).with_any("subject", check);
        }
        // Refused, it is looked at again anyway.
        commit.done(()).await.map(|_| ())
    }

    /// Moves a quest that is where it was read.
    fn at(&self, quest: &Quest, progress: u64) -> Patch<Quest> {
        let as_read = Quest::STATUS.is(&QuestStatus::Active);
        let as_read = as_read.and(Quest::PROGRESS_COUNT.is(&quest.progress_count));
        let patch = quest.key().patch();
        patch
            .set(Quest::PROGRESS_COUNT, &progress)
            .set(Quest::UPDATED_AT, &self.ground.now())
            .when(as_read)
    }

    /// Writes that a quest is completed, with what led to it, and what it earns.
    async fn complete(
        &self,
        quest: &Quest,
        progress: u64,
        commit: Commit<'_>,
        is_late: bool,
    ) -> Result<Tried<Way>, QuestError> {
        let profile = self.ground.core().profile(&quest.user_id).strong().get().await?;
        if profile.is_none_or(|user| user.status == UserStatus::Deleted) {
            // Nothing may be left behind for somebody who is not there.
            return Ok(Tried::Done(Way::Over));
        }
        let there = User::STATUS.is_not(&UserStatus::Deleted);
        let reward = i64::try_from(quest.reward_xp)
            .map_err(|_| Failure::Internal(format!("quest {} earns too much", quest.id)))?;
        let now = self.ground.now();
        let entry = XpEntry {
            user_id: quest.user_id.clone(),
            quest_id: quest.id.clone(),
            reward_xp: quest.reward_xp,
            created_at: now,
        };
        let published = publish(&self.ground, news(quest).again(is_late)).await?;
        let completed = self.at(quest, progress).set(Quest::STATUS, &QuestStatus::Completed);
        let commit = commit
            .with("quest", completed)
            .with("person", User::at(&quest.user_id).check(there))
            .with("reward", entry.create())
            .with("xp", count(&quest.user_id, UserCount::Xp, WHOLE, reward, now));
        Ok(published.in_commit(commit).done(Way::Over).await?)
    }
}

pub(super) fn is_active(quest: &Quest) -> bool {
    quest.status == QuestStatus::Active
}

/// How many count after so many more.
fn moved(quest: &Quest, by: i64) -> Result<u64, Failure> {
    let Quest { id, progress_count, .. } = quest;
    progress_count.checked_add_signed(by).ok_or_else(|| {
        Failure::Internal(format!("quest {id} has more steps than its progress says"))
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

/// That a quest is completed.
fn news(quest: &Quest) -> News {
    News {
        actor: quest.user_id.clone(),
        group: None,
        verb: ActivityVerb::QuestUpdate,
        object: (ObjectType::Quest, (&quest.id).into()),
        object_home: None,
        preview: Some(quest.title.clone()),
        media: None,
        // Tags stay with the quest, which is for its owner.
        tags: Vec::new(),
        is_late: false,
    }
}
