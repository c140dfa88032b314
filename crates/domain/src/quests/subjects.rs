//! The state of the tasks and goals that count towards quests, and the checks that keep it true
//! until a write.
//!
//! A task exists as long as its goal does. A step is written on the condition that both exist. When
//! a quest is completed, its other tasks are checked as they were read. Their goals are read after
//! all tasks and not checked: a goal that exists now has existed as long as its tasks, so just
//! before the first goal was read everything counted at the same time. Later deletions happen after
//! the completion.

use std::collections::{BTreeSet, HashSet};

use futures::future::try_join_all;
use roundtable_model::entities::{Goal, Quest, QuestStep, Task};
use roundtable_model::table::limits::BATCH_GET_KEYS_MAX;
use roundtable_model::table::{Check, Get};
use roundtable_model::{Entity, FromItem, GoalId, Time, UserId};

use super::Quests;
use super::counting::{QuestSubject, is_counted_at};
use crate::ServiceError;
use crate::limits::QUESTS_ACTIVE_MAX;

/// Concurrent reads of tasks and goals.
const CONCURRENT_READS: usize = 20;
/// Stale steps removed per transaction, each two items of it.
const STALE_STEPS_MAX: usize = 40;

const _: () =
    assert!(QUESTS_ACTIVE_MAX <= BATCH_GET_KEYS_MAX, "one batch read must cover all of them");

/// The state of a task or goal.
pub(super) struct SubjectState {
    pub(super) done_at: Option<Time>,
    /// Checks that it is unchanged. `None` if its goal is deleted: it never counts again.
    pub(super) check: Option<Check>,
    /// Checks that the goal of a done task exists.
    pub(super) goal: Option<Check>,
}

/// The other steps of a quest that is about to be completed.
pub(super) enum OtherSteps {
    Count {
        /// Checks that they still count.
        checks: Vec<Check>,
        /// True if the checks include the goal of the last step.
        checks_goal: bool,
    },
    /// Some of the steps that no longer count.
    Stale(Vec<StaleStep>),
}

/// A step that no longer counts.
pub(super) struct StaleStep {
    pub(super) step: QuestStep,
    /// Checks that it still does not count.
    pub(super) check: Option<Check>,
}

impl Quests {
    /// Reads a user's task or goal. One that is deleted, or not theirs, is not done.
    pub(super) async fn subject_state(
        &self,
        user: &UserId,
        subject: &QuestSubject,
    ) -> Result<SubjectState, ServiceError> {
        let found = self.read(user, subject).await?;
        let QuestSubject::Task(goal, _) = subject else { return Ok(found) };
        if found.done_at.is_none() {
            return Ok(found);
        }
        let existing = self.context.core().goal(user, goal).get().await?;
        Ok(existing.map_or_else(SubjectState::orphaned, |goal| SubjectState {
            goal: Some(goal.key().exists()),
            ..found
        }))
    }

    /// Reads a task or goal, without checking that a task's goal exists.
    async fn read(
        &self,
        user: &UserId,
        subject: &QuestSubject,
    ) -> Result<SubjectState, ServiceError> {
        let core = self.context.core();
        let (done_at, check) = match subject {
            QuestSubject::Task(goal, id) => match core.task(goal, id).get().await? {
                Some(task) => {
                    let is_done = task.done && task.user_id == *user;
                    let check = task.key().check(Task::VERSION.is(&task.version));
                    (task.done_at.filter(|_| is_done), check)
                }
                None => (None, Task::at(goal, id).absent()),
            },
            QuestSubject::Goal(id) => match core.goal(user, id).get().await? {
                Some(goal) => {
                    let same = Goal::COMPLETED_AT.is(&goal.completed_at);
                    (goal.completed_at, goal.key().check(same))
                }
                None => (None, Goal::at(user, id).absent()),
            },
        };
        Ok(SubjectState { done_at, check: Some(check), goal: None })
    }

    /// Checks that all other steps still count: a task may have been reopened without being
    /// recounted yet. A quest is completed only by subjects that are done at the same time.
    pub(super) async fn check_other_steps(
        &self,
        quest: &Quest,
        last: &QuestSubject,
    ) -> Result<OtherSteps, ServiceError> {
        let (core, user) = (self.context.core(), &quest.user_id);
        let mut steps = core.quest_steps(user, &quest.id).strong().all().await?;
        steps.retain(|step| QuestSubject::of(step) != *last);
        let mut read = Vec::with_capacity(steps.len());
        for some in steps.chunks(CONCURRENT_READS) {
            let subjects: Vec<QuestSubject> = some.iter().map(QuestSubject::of).collect();
            read.extend(try_join_all(subjects.iter().map(|it| self.read(user, it))).await?);
        }
        // Must follow the reads of all tasks.
        let goals = self.existing_goals(user, &steps).await?;
        let (mut checks, mut stale, mut checks_goal) = (Vec::new(), Vec::new(), false);
        for (step, mut found) in steps.into_iter().zip(read) {
            let subject = QuestSubject::of(&step);
            if matches!(subject, QuestSubject::Task(..)) && !goals.contains(&step.goal_id) {
                found = SubjectState::orphaned();
            }
            if found.done_at.is_some_and(|done_at| is_counted_at(quest, done_at)) {
                checks_goal |= subject == QuestSubject::Goal(last.goal().clone());
                checks.extend(found.check);
            } else {
                stale.push(StaleStep { step, check: found.check });
            }
        }
        stale.truncate(STALE_STEPS_MAX);
        let all = stale.is_empty();
        Ok(if all { OtherSteps::Count { checks, checks_goal } } else { OtherSteps::Stale(stale) })
    }

    /// Returns the goals of steps that exist.
    async fn existing_goals(
        &self,
        user: &UserId,
        steps: &[QuestStep],
    ) -> Result<HashSet<GoalId>, ServiceError> {
        let ids: BTreeSet<&GoalId> = steps.iter().map(|step| &step.goal_id).collect();
        let ids: Vec<GoalId> = ids.into_iter().cloned().collect();
        let found = self.context.core().goals_among(user, &ids).get().await?;
        Ok(found.into_iter().flatten().map(|goal| goal.id).collect())
    }

    pub(super) async fn step(
        &self,
        quest: &Quest,
        subject: &QuestSubject,
    ) -> Result<Option<QuestStep>, ServiceError> {
        let item_key = QuestStep::at(&quest.user_id, &quest.id, &subject.id());
        let found = self.context.core().table().get(Get::new(item_key).strong()).await?;
        Ok(found.item.map(|item| QuestStep::from_item(&item)).transpose()?)
    }

    /// Returns the subject's steps in the order of `quests`.
    pub(super) async fn steps_for(
        &self,
        quests: &[Quest],
        subject: &QuestSubject,
    ) -> Result<Vec<Option<QuestStep>>, ServiceError> {
        let item_key = |quest: &Quest| QuestStep::at(&quest.user_id, &quest.id, &subject.id());
        Ok(self.context.items_at("quest_steps", quests.iter().map(item_key)).await?)
    }
}

impl SubjectState {
    /// A subject whose goal is deleted.
    const fn orphaned() -> Self {
        Self { done_at: None, check: None, goal: None }
    }
}
