//! How quests come along: what the processor of quests does, from how things are now.
//!
//! A step is there for each task and goal that counts, and the progress is how many there are: a step,
//! the progress, and what the progress leads to are one transaction, on the condition that the task or
//! goal is as it was read and the quest where it was. So whoever looks twice, late, or at the same time
//! as others finds nothing to do, or looks again; and a quest earns its reward once.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use futures::future::{try_join, try_join_all};
use roundtable_model::entities::{Goal, Quest, QuestStep, Task, User, XpEntry};
use roundtable_model::table::{BatchWrite, Check, Get, Key, Query, Write};
use roundtable_model::{
    ActivityVerb, Answer, Entity, ObjectType, Patch, QuestId, QuestStatus, Tag, Time, UserCount,
    UserId, UserStatus,
};

use super::counting::{QuestSubject, concerns, counts, target};
use super::{QuestError, Quests, tags};
use crate::Failure;
use crate::account::WHOLE;
use crate::activities::{News, publish};
use crate::circle::count;
use crate::commit::Commit;
use crate::once::Tried;

/// Why a quest was cancelled by its deadline.
const EXPIRED: &str = "expired";
/// What quests are stored under, beside their owner's other things.
const QUESTS: &str = "QUEST#";
/// Steps taken away at once: a batch.
const STEPS_AT_ONCE: usize = 25;
/// Tasks and goals that the completion of a quest demands as they are: as many as a transaction takes.
/// Of a quest that asks for more, the others are looked at right before.
const CHECKS_MAX: usize = 80;
/// Tasks and goals looked at at the same time.
const READS_AT_ONCE: usize = 20;

/// How a task or goal is, and the demand that it still is.
struct Found {
    done_at: Option<Time>,
    check: Check,
}

/// How the other steps of a quest are that would be completed.
enum Others {
    /// All count; the demands that they still do.
    Count(Vec<Check>),
    /// These do not, with the demands that they still do not.
    Stale(Vec<(QuestStep, Check)>),
}

impl Quests {
    /// Looks at a task or goal again, for every active quest of its owner that it concerns.
    pub async fn weigh(&self, user: &UserId, subject: &QuestSubject) -> Result<(), QuestError> {
        for quest in self.active(user).await?.iter().filter(|quest| concerns(quest, subject)) {
            self.weigh_for(user, &quest.id, subject).await?;
        }
        Ok(())
    }

    /// Looks at everything that may count for a quest: when it is made, and before it ends.
    pub async fn weigh_all(&self, user: &UserId, id: &QuestId) -> Result<(), QuestError> {
        let quest = self.quest(user, id).await?;
        let Some(quest) = quest.filter(is_active) else { return Ok(()) };
        for subject in self.subjects(&quest).await? {
            self.weigh_for(user, id, &subject).await?;
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

    /// The quests of a person that are under way, as they are now: an index may not show yet what was
    /// made a moment ago, and whoever misses a quest here misses what counts for it.
    async fn active(&self, user: &UserId) -> Result<Vec<Quest>, Failure> {
        let table = self.ground.core().table();
        let Key { partition, .. } = Quest::at(user, &user.recast()).into_key();
        let (mut quests, mut next) = (Vec::new(), None);
        loop {
            let query = Query::new(partition.clone()).begins_with(QUESTS).strong();
            let page = table.query(query.after(next.take())).await?;
            for item in &page.items {
                quests.extend(Some(Quest::from_item(item)?).filter(is_active));
            }
            next = page.next;
            if next.is_none() {
                return Ok(quests);
            }
        }
    }

    /// What may count for a quest, as far as it is done in time.
    async fn subjects(&self, quest: &Quest) -> Result<Vec<QuestSubject>, Failure> {
        let (core, user) = (self.ground.core(), &quest.user_id);
        let mut subjects: Vec<QuestSubject> =
            quest.linked_goal_ids.iter().flatten().cloned().map(QuestSubject::Goal).collect();
        let tasks = quest.linked_task_ids.iter().flatten().map(|id| core.task_by_id(id).get());
        for task in try_join_all(tasks).await?.into_iter().flatten() {
            subjects.push(QuestSubject::Task(task.goal_id, task.id));
        }
        if !subjects.is_empty() {
            return Ok(subjects);
        }
        for goal in core.goals(user).strong().all().await? {
            let tasks = core.tasks(&goal.id).strong().all().await?;
            let done = tasks.into_iter().filter(|task| {
                task.done && task.done_at.is_some_and(|done_at| counts(quest, done_at))
            });
            subjects.extend(done.map(|task| QuestSubject::Task(task.goal_id, task.id)));
        }
        subjects.retain(|subject| concerns(quest, subject));
        Ok(subjects)
    }

    async fn weigh_for(
        &self,
        user: &UserId,
        quest: &QuestId,
        subject: &QuestSubject,
    ) -> Result<(), QuestError> {
        let is_late = AtomicBool::new(false);
        let attempt =
            async || self.try_weigh(user, quest, subject, is_late.swap(true, Relaxed)).await;
        self.ground.once(None, async |(): ()| Ok(()), attempt).await
    }

    async fn try_weigh(
        &self,
        user: &UserId,
        id: &QuestId,
        subject: &QuestSubject,
        is_late: bool,
    ) -> Result<Tried<()>, QuestError> {
        let quest = self.quest(user, id).await?.filter(is_active);
        let Some(quest) = quest.filter(|quest| concerns(quest, subject)) else {
            return Ok(Tried::Done(()));
        };
        let (step, found) = try_join(self.step(&quest, subject), self.found(user, subject)).await?;
        let counted = found.done_at.filter(|done_at| counts(&quest, *done_at));
        let (write, by): (Write, i64) = match (step, counted) {
            (None, Some(done_at)) => (new_step(&quest, subject, done_at).create().into(), 1),
            (Some(step), None) => (step.key().delete().into(), -1),
            (Some(step), Some(done_at)) if step.done_at != done_at => {
                let as_read = QuestStep::DONE_AT.is(&step.done_at);
                (new_step(&quest, subject, done_at).put().when(as_read).into(), 0)
            }
            _ => return Ok(Tried::Done(())),
        };
        let progress = moved(&quest, by)?;
        let commit = self.ground.commit().with("step", write).with("subject", found.check);
        if progress < target(&quest) {
            let commit = commit.with("quest", self.at(&quest, progress));
            return Ok(commit.done(()).await?);
        }
        match self.others(&quest, subject).await? {
            Others::Count(checks) => {
                let commit = commit.with_any("others", checks.into_iter().take(CHECKS_MAX));
                self.complete(&quest, progress, commit, is_late).await
            }
            Others::Stale(stale) => {
                self.forget(&quest, stale).await?;
                Ok(Tried::Again)
            }
        }
    }

    /// Whether all other steps of a quest still count: a task may have been un-done, and nobody has
    /// looked at it yet. Enough is only what is done at the same time.
    async fn others(&self, quest: &Quest, last: &QuestSubject) -> Result<Others, Failure> {
        let steps =
            self.ground.core().quest_steps(&quest.user_id, &quest.id).strong().all().await?;
        let (mut checks, mut stale) = (Vec::new(), Vec::new());
        for some in steps.chunks(READS_AT_ONCE) {
            let subjects = some.iter().map(QuestSubject::of);
            let found = try_join_all(subjects.map(async |subject| {
                let found = self.found(&quest.user_id, &subject).await?;
                Ok::<_, Failure>((subject, found))
            }));
            for ((subject, found), step) in found.await?.into_iter().zip(some) {
                if subject == *last {
                    continue;
                }
                if found.done_at.is_some_and(|done_at| counts(quest, done_at)) {
                    checks.push(found.check);
                } else {
                    stale.push((step.clone(), found.check));
                }
            }
        }
        Ok(if stale.is_empty() { Others::Count(checks) } else { Others::Stale(stale) })
    }

    /// Takes steps away that no longer count, if they still do not.
    async fn forget(&self, quest: &Quest, stale: Vec<(QuestStep, Check)>) -> Result<(), Failure> {
        let some = stale.into_iter().take(CHECKS_MAX / 2).collect::<Vec<_>>();
        let by = i64::try_from(some.len()).unwrap_or(i64::MAX);
        let progress = moved(quest, -by)?;
        let mut commit = self.ground.commit().with("quest", self.at(quest, progress));
        for (step, check) in some {
            commit = commit.with("step", step.key().delete()).with("subject", check);
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
    ) -> Result<Tried<()>, QuestError> {
        let profile = self.ground.core().profile(&quest.user_id).strong().get().await?;
        if profile.is_none_or(|user| user.status == UserStatus::Deleted) {
            // Nothing may be left behind for somebody who is not there.
            return Ok(Tried::Done(()));
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
        Ok(published.in_commit(commit).done(()).await?)
    }

    async fn step(
        &self,
        quest: &Quest,
        subject: &QuestSubject,
    ) -> Result<Option<QuestStep>, Failure> {
        let place = QuestStep::at(&quest.user_id, &quest.id, &subject.id());
        let found = self.ground.core().table().get(Get::new(place).strong()).await?;
        Ok(found.item.map(|item| QuestStep::from_item(&item)).transpose()?)
    }

    /// How a task or goal of somebody is. What is gone, or not theirs, is not done.
    async fn found(&self, user: &UserId, subject: &QuestSubject) -> Result<Found, Failure> {
        let core = self.ground.core();
        Ok(match subject {
            QuestSubject::Task(goal, id) => match core.task(goal, id).get().await? {
                Some(task) => {
                    let same = Task::DONE.is(&task.done).and(Task::DONE_AT.is(&task.done_at));
                    let is_done = task.done && task.user_id == *user;
                    let check = task.key().check(same);
                    Found { done_at: task.done_at.filter(|_| is_done), check }
                }
                None => Found { done_at: None, check: Task::at(goal, id).absent() },
            },
            QuestSubject::Goal(id) => match core.goal(user, id).get().await? {
                Some(goal) => {
                    let same = Goal::COMPLETED_AT.is(&goal.completed_at);
                    Found { done_at: goal.completed_at, check: goal.key().check(same) }
                }
                None => Found { done_at: None, check: Goal::at(user, id).absent() },
            },
        })
    }
}

fn is_active(quest: &Quest) -> bool {
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
        preview: Some(quest.title.clone()),
        media: None,
        // Tags stay with the quest, which is for its owner.
        tags: Vec::new(),
        is_late: false,
    }
}
