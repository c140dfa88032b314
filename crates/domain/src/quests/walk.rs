//! The quests that are under way, and everything that may count for one of them, a page at a time: a
//! person may have done any number of tasks.

use std::collections::HashMap;

use futures::future::try_join_all;
use roundtable_model::entities::{Quest, Task};
use roundtable_model::table::{Key, Query};
use roundtable_model::{Answer, Cursor, GoalId, SubjectId, Time, UserId};

use super::Quests;
use super::counting::{QuestSubject, counts};
use super::progress::is_active;
use crate::Failure;
use crate::tasks::find;

/// What quests are stored under, beside their owner's other things.
const QUESTS: &str = "QUEST#";
/// Goals read in one go.
const GOALS_AT_ONCE: usize = 100;
/// Tasks read in one go.
const TASKS_AT_ONCE: usize = 200;

/// A walk through what may count for a quest.
pub(super) struct Walk<'a> {
    quest: &'a Quest,
    /// What has counted when the walk began, by when it was done: what stays so is passed over.
    counted: HashMap<SubjectId, Time>,
    /// Whether it is still to look at what the quest names itself.
    is_at_named: bool,
    /// The goals it has come to, the next one last, and where it is among the tasks of that one.
    goals: Vec<GoalId>,
    task: Option<Cursor>,
    /// Whether there are goals behind these, and where.
    has_more: bool,
    more: Option<Cursor>,
}

impl Quests {
    /// The quests of a person that are under way, as they are now: an index may not show yet what was
    /// made a moment ago, and whoever misses a quest here misses what counts for it.
    pub(super) async fn active(&self, user: &UserId) -> Result<Vec<Quest>, Failure> {
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

    /// Begins to walk through what may count for a quest.
    pub(super) async fn walk<'a>(&self, quest: &'a Quest) -> Result<Walk<'a>, Failure> {
        let steps = self.ground.core().quest_steps(&quest.user_id, &quest.id).strong();
        let counted = steps.all().await?.into_iter().map(|step| (step.subject_id, step.done_at));
        let names_them = quest.linked_goal_ids.is_some() || quest.linked_task_ids.is_some();
        Ok(Walk {
            quest,
            counted: counted.collect(),
            is_at_named: names_them,
            goals: Vec::new(),
            task: None,
            has_more: !names_them,
            more: None,
        })
    }

    /// What a quest names, as far as it is there.
    async fn named(&self, quest: &Quest) -> Result<Vec<QuestSubject>, Failure> {
        let goals = quest.linked_goal_ids.iter().flatten().cloned().map(QuestSubject::Goal);
        let tasks = quest.linked_task_ids.iter().flatten().map(|id| find(&self.ground, id));
        let tasks = try_join_all(tasks).await?.into_iter().flatten();
        Ok(goals.chain(tasks.map(|task| QuestSubject::Task(task.goal_id, task.id))).collect())
    }
}

impl Walk<'_> {
    /// Some more of what may count and has not been counted so; `None` when there is no more.
    pub(super) async fn next(
        &mut self,
        quests: &Quests,
    ) -> Result<Option<Vec<QuestSubject>>, Failure> {
        if std::mem::take(&mut self.is_at_named) {
            return Ok(Some(quests.named(self.quest).await?));
        }
        let core = quests.ground.core();
        if let Some(goal) = self.goals.last() {
            let listing = core.tasks(goal).strong().with(Task::DONE, &true);
            let page = listing.limit(TASKS_AT_ONCE).after(self.task.take()).page().await?;
            self.task = page.next;
            if self.task.is_none() {
                self.goals.pop();
            }
            return Ok(Some(self.uncounted(page.items)));
        }
        if !self.has_more {
            return Ok(None);
        }
        let listing = core.goals(&self.quest.user_id).strong().limit(GOALS_AT_ONCE);
        let page = listing.after(self.more.take()).page().await?;
        self.goals = page.items.into_iter().map(|goal| goal.id).collect();
        (self.has_more, self.more) = (page.next.is_some(), page.next);
        Ok(Some(Vec::new()))
    }

    /// Those of the tasks that were done in time, and have not counted as they are.
    fn uncounted(&self, tasks: Vec<Task>) -> Vec<QuestSubject> {
        let news = tasks.into_iter().filter(|task| {
            let done_at = task.done_at.filter(|done_at| counts(self.quest, *done_at));
            done_at.is_some() && done_at != self.counted.get(&(&task.id).into()).copied()
        });
        news.map(|task| QuestSubject::Task(task.goal_id, task.id)).collect()
    }
}
