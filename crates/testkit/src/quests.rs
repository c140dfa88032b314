//! Quests of a town, and the tasks and goals that count for them, written directly to the table.

use roundtable_domain::{NewQuest, PageInput, QuestFilter, Quests};
use roundtable_model::entities::{Goal, Quest, Task};
use roundtable_model::{
    Entity, GoalId, GoalStatus, QuestId, Shards, TaskId, UserCount, rekey, samples,
};

use crate::Town;

impl Town {
    pub fn quests(&self) -> Quests {
        Quests::new(self.context().clone())
    }

    pub async fn set_quest(&self, name: &str, quest: NewQuest) -> Quest {
        self.quests().create(&self.caller(name), &quest, None).await.unwrap()
    }

    /// Writes a task that is not done.
    pub async fn open_task(&self, name: &str, goal: &GoalId, id: &str) -> TaskId {
        let task = Task {
            user_id: self.id(name),
            goal_id: goal.clone(),
            id: id.parse().unwrap(),
            done: false,
            done_at: None,
            ..samples::task()
        };
        self.context().core().table().put(task.create()).await.unwrap();
        task.id
    }

    /// Writes an active goal.
    pub async fn open_goal(&self, name: &str, id: &str) -> GoalId {
        let goal = Goal {
            user_id: self.id(name),
            id: id.parse().unwrap(),
            status: GoalStatus::Active,
            completed_at: None,
            ..samples::goal()
        };
        self.context().core().table().put(goal.create()).await.unwrap();
        goal.id
    }

    /// Writes a task as done now, or not done.
    pub async fn set_done(&self, goal: &GoalId, task: &TaskId, done: bool) {
        let core = self.context().core();
        let before = core.task(goal, task).get().await.unwrap().unwrap();
        let done_at = done.then(|| self.now());
        let after = Task { done, done_at, ..before.clone() };
        core.table().update(rekey(&before, &after).unwrap()).await.unwrap();
    }

    /// Writes a goal as completed now, or active.
    pub async fn set_completed(&self, name: &str, goal: &GoalId, reached: bool) {
        let status = if reached { GoalStatus::Completed } else { GoalStatus::Active };
        let completed_at = reached.then(|| self.now());
        let patch = Goal::at(&self.id(name), goal).patch();
        let patch = patch.set(Goal::STATUS, &status).set(Goal::COMPLETED_AT, &completed_at);
        self.context().core().table().update(patch.into()).await.unwrap();
    }

    /// Returns the status and the progress of a quest.
    pub async fn quest_state(&self, name: &str, quest: &QuestId) -> String {
        let caller = self.caller(name);
        let quest = self.quests().get(&caller, &caller.user_id, quest).await.unwrap();
        let reason = quest.cancel_reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
        format!("{} {}{reason}", quest.status, quest.progress_count)
    }

    /// Returns the titles of a user's quests that match the filter.
    pub async fn quest_titles(&self, name: &str, filter: &QuestFilter) -> Vec<String> {
        let caller = self.caller(name);
        let quests = self.quests();
        let page = quests.list(&caller, &caller.user_id, filter, &PageInput::first()).await;
        page.unwrap().into_items().into_iter().map(|quest| quest.title).collect()
    }

    pub async fn xp(&self, name: &str) -> u64 {
        let (user, xp) = (self.id(name), [UserCount::Xp]);
        let counts = self.context().core().counts(&user, &xp, Shards::ONE).strong().get();
        counts.await.unwrap().iter().flatten().map(|counter| counter.count).sum()
    }
}
