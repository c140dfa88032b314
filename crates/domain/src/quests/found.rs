//! How the tasks and goals that count for quests are, and what a write must demand so that they still
//! are.
//!
//! A task is there as long as its goal is. A step is written on the demand that both are. When a quest is
//! completed, its other tasks are demanded as they were read, and their goals are read after all of
//! them, and not demanded: a goal that is there now has been there as long as its tasks, so at the
//! moment before the first goal was read everything counted at the same time. What is taken away after
//! that moment is taken away after the quest was completed.

use std::collections::{BTreeSet, HashSet};

use futures::future::try_join_all;
use roundtable_model::entities::{Goal, Quest, QuestStep, Task};
use roundtable_model::table::limits::BATCH_GET_KEYS_MAX;
use roundtable_model::table::{Check, Get};
use roundtable_model::{Answer, Entity, GoalId, Time, UserId};

use super::Quests;
use super::counting::{QuestSubject, counts};
use crate::Failure;
use crate::limits::QUESTS_ACTIVE_MAX;

/// Tasks and goals looked at at the same time.
const READS_AT_ONCE: usize = 20;
/// Steps forgotten in one transaction: each is two items of it.
const FORGOTTEN_MAX: usize = 40;

const _: () = assert!(QUESTS_ACTIVE_MAX <= BATCH_GET_KEYS_MAX, "one read tells of all of them");

/// How a task or goal is.
pub(super) struct Found {
    /// When it was done, if it is.
    pub(super) done_at: Option<Time>,
    /// The demand that it still is as it was read. What is of a goal that is gone never counts again.
    pub(super) check: Option<Check>,
    /// The demand that the goal of a done task is there.
    pub(super) goal: Option<Check>,
}

/// How the other steps of a quest are that would be completed.
pub(super) enum Others {
    /// All count.
    Count {
        /// The demands that they still do.
        checks: Vec<Check>,
        /// Whether the goal of the last step is among what is demanded.
        demands_goal: bool,
    },
    /// These do not, or some of them.
    Stale(Vec<Stale>),
}

/// A step that does not count any more.
pub(super) struct Stale {
    pub(super) step: QuestStep,
    /// The demand that it still does not.
    pub(super) check: Option<Check>,
}

impl Quests {
    /// How a task or goal of somebody is. What is gone, or not theirs, is not done.
    pub(super) async fn found(
        &self,
        user: &UserId,
        subject: &QuestSubject,
    ) -> Result<Found, Failure> {
        let found = self.read(user, subject).await?;
        let QuestSubject::Task(goal, _) = subject else { return Ok(found) };
        if found.done_at.is_none() {
            return Ok(found);
        }
        let there = self.ground.core().goal(user, goal).get().await?;
        Ok(there
            .map_or_else(Found::never, |goal| Found { goal: Some(goal.key().exists()), ..found }))
    }

    /// How a task or goal is, whatever has become of a task's goal.
    async fn read(&self, user: &UserId, subject: &QuestSubject) -> Result<Found, Failure> {
        let core = self.ground.core();
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
        Ok(Found { done_at, check: Some(check), goal: None })
    }

    /// Whether all other steps of a quest still count: a task may have been un-done, and nobody has
    /// looked at it yet. Enough is only what is done at the same time.
    pub(super) async fn others(
        &self,
        quest: &Quest,
        last: &QuestSubject,
    ) -> Result<Others, Failure> {
        let (core, user) = (self.ground.core(), &quest.user_id);
        let mut steps = core.quest_steps(user, &quest.id).strong().all().await?;
        steps.retain(|step| QuestSubject::of(step) != *last);
        let mut read = Vec::with_capacity(steps.len());
        for some in steps.chunks(READS_AT_ONCE) {
            let subjects: Vec<QuestSubject> = some.iter().map(QuestSubject::of).collect();
            read.extend(try_join_all(subjects.iter().map(|it| self.read(user, it))).await?);
        }
        // Only now, when all tasks have been read.
        let goals = self.goals_of(user, &steps).await?;
        let (mut checks, mut stale, mut demands_goal) = (Vec::new(), Vec::new(), false);
        for (step, mut found) in steps.into_iter().zip(read) {
            let subject = QuestSubject::of(&step);
            if matches!(subject, QuestSubject::Task(..)) && !goals.contains(&step.goal_id) {
                found = Found::never();
            }
            if found.done_at.is_some_and(|done_at| counts(quest, done_at)) {
                demands_goal |= subject == QuestSubject::Goal(last.goal().clone());
                checks.extend(found.check);
            } else {
                stale.push(Stale { step, check: found.check });
            }
        }
        stale.truncate(FORGOTTEN_MAX);
        let all = stale.is_empty();
        Ok(if all { Others::Count { checks, demands_goal } } else { Others::Stale(stale) })
    }

    /// Those of the goals of steps that are there.
    async fn goals_of(
        &self,
        user: &UserId,
        steps: &[QuestStep],
    ) -> Result<HashSet<GoalId>, Failure> {
        let ids: BTreeSet<&GoalId> = steps.iter().map(|step| &step.goal_id).collect();
        let ids: Vec<GoalId> = ids.into_iter().cloned().collect();
        let found = self.ground.core().goals_among(user, &ids).get().await?;
        Ok(found.into_iter().flatten().map(|goal| goal.id).collect())
    }

    /// The step that something is for a quest.
    pub(super) async fn step(
        &self,
        quest: &Quest,
        subject: &QuestSubject,
    ) -> Result<Option<QuestStep>, Failure> {
        let place = QuestStep::at(&quest.user_id, &quest.id, &subject.id());
        let found = self.ground.core().table().get(Get::new(place).strong()).await?;
        Ok(found.item.map(|item| QuestStep::from_item(&item)).transpose()?)
    }

    /// The steps that something is for quests, each in its place.
    pub(super) async fn steps_for(
        &self,
        quests: &[Quest],
        subject: &QuestSubject,
    ) -> Result<Vec<Option<QuestStep>>, Failure> {
        let place = |quest: &Quest| QuestStep::at(&quest.user_id, &quest.id, &subject.id());
        Ok(self.ground.at("quest_steps", quests.iter().map(place)).await?)
    }
}

impl Found {
    /// Something whose goal is gone.
    const fn never() -> Self {
        Self { done_at: None, check: None, goal: None }
    }
}
