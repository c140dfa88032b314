//! Active quests, and the subjects that may count towards one, read page by page: a user may have
//! any number of tasks.

use std::collections::HashMap;

use futures::future::try_join_all;
use roundtable_model::entities::{Quest, Task};
use roundtable_model::{Cursor, GoalId, SubjectId, Time, UserId};

use super::Quests;
use super::counting::{QuestSubject, is_counted_at};
use super::progress::is_active;
use crate::ServiceError;
use crate::tasks::find;

const QUESTS_PER_PAGE: usize = 200;
const GOALS_PER_PAGE: usize = 100;
const TASKS_PER_PAGE: usize = 200;

/// A scan of the subjects that may count towards a quest.
pub(super) struct SubjectScan<'a> {
    quest: &'a Quest,
    /// The steps at the start of the scan, by completion time; unchanged ones are skipped.
    counted: HashMap<SubjectId, Time>,
    /// True if the linked subjects are still to be returned.
    has_linked: bool,
    /// The goals of the current page, next one last, and the position among its tasks.
    goals: Vec<GoalId>,
    tasks_cursor: Option<Cursor>,
    /// True if more goals follow, from `goals_cursor`.
    has_more_goals: bool,
    goals_cursor: Option<Cursor>,
}

impl Quests {
    /// Returns a user's active quests by a strong read: an index may miss a new quest, and its
    /// subjects would then not be counted.
    pub(super) async fn active(&self, user: &UserId) -> Result<Vec<Quest>, ServiceError> {
        let (mut quests, mut next): (Vec<Quest>, Option<Cursor>) = (Vec::new(), None);
        loop {
            let listing = self.context.core().quests_by_id(user).limit(QUESTS_PER_PAGE);
            let page = listing.after(next.take()).page().await?;
            quests.extend(page.items.into_iter().filter(is_active));
            next = page.next;
            if next.is_none() {
                return Ok(quests);
            }
        }
    }

    pub(super) async fn scan_subjects<'a>(
        &self,
        quest: &'a Quest,
    ) -> Result<SubjectScan<'a>, ServiceError> {
        let steps = self.context.core().quest_steps(&quest.user_id, &quest.id).strong();
        let counted = steps.all().await?.into_iter().map(|step| (step.subject_id, step.done_at));
        let has_links = quest.linked_goal_ids.is_some() || quest.linked_task_ids.is_some();
        Ok(SubjectScan {
            quest,
            counted: counted.collect(),
            has_linked: has_links,
            goals: Vec::new(),
            tasks_cursor: None,
            has_more_goals: !has_links,
            goals_cursor: None,
        })
    }

    /// The linked subjects that exist.
    async fn linked_subjects(&self, quest: &Quest) -> Result<Vec<QuestSubject>, ServiceError> {
        let goals = quest.linked_goal_ids.iter().flatten().cloned().map(QuestSubject::Goal);
        let tasks = quest.linked_task_ids.iter().flatten().map(|id| find(&self.context, id));
        let tasks = try_join_all(tasks).await?.into_iter().flatten();
        Ok(goals.chain(tasks.map(|task| QuestSubject::Task(task.goal_id, task.id))).collect())
    }
}

impl SubjectScan<'_> {
    /// Returns the next subjects that may change the progress; `None` at the end.
    pub(super) async fn next(
        &mut self,
        quests: &Quests,
    ) -> Result<Option<Vec<QuestSubject>>, ServiceError> {
        if std::mem::take(&mut self.has_linked) {
            return Ok(Some(quests.linked_subjects(self.quest).await?));
        }
        let core = quests.context.core();
        if let Some(goal) = self.goals.last() {
            let listing = core.tasks(goal).strong().filter_by(Task::DONE, &true);
            let page = listing.limit(TASKS_PER_PAGE).after(self.tasks_cursor.take()).page().await?;
            self.tasks_cursor = page.next;
            if self.tasks_cursor.is_none() {
                self.goals.pop();
            }
            return Ok(Some(self.uncounted(page.items)));
        }
        if !self.has_more_goals {
            return Ok(None);
        }
        let listing = core.goals(&self.quest.user_id).strong().limit(GOALS_PER_PAGE);
        let page = listing.after(self.goals_cursor.take()).page().await?;
        self.goals = page.items.into_iter().map(|goal| goal.id).collect();
        (self.has_more_goals, self.goals_cursor) = (page.next.is_some(), page.next);
        Ok(Some(Vec::new()))
    }

    /// Keeps the tasks that count and whose step is missing or different.
    fn uncounted(&self, tasks: Vec<Task>) -> Vec<QuestSubject> {
        let uncounted = tasks.into_iter().filter(|task| {
            let done_at = task.done_at.filter(|done_at| is_counted_at(self.quest, *done_at));
            done_at.is_some() && done_at != self.counted.get(&(&task.id).into()).copied()
        });
        uncounted.map(|task| QuestSubject::Task(task.goal_id, task.id)).collect()
    }
}
