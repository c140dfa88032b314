//! Goals, tasks, milestones and quests.

use roundtable_domain::{
    Caller, Code, GoalChange, MilestoneChange, NewGoal, NewMilestone, NewTask, TaskChange,
};
use roundtable_model::{GoalStatus, Percentage, RequestId};

use super::{Gained, Pursuit, gained};
use crate::Town;

impl Town {
    pub(super) async fn pursue_goals(
        &self,
        caller: &Caller,
        pursuit: &Pursuit,
        request: Option<&RequestId>,
    ) -> Result<Gained, Code> {
        let (goals, tasks) = (self.goals(), self.tasks());
        match pursuit {
            Pursuit::SetGoal { title, tag } => {
                let new = NewGoal { tags: vec![tag.clone()], ..NewGoal::titled(title) };
                let made = goals.create(caller, new, request).await;
                gained(made, |goal| Gained::Goal(goal.id, goal.completed_at))
            }
            Pursuit::RenameGoal { goal, title, tag } => {
                let (title, tags) = (Some(title.clone()), Some(vec![tag.clone()]));
                let change = GoalChange { title, tags, ..GoalChange::default() };
                let changed = goals.update(caller, goal, change, request).await;
                gained(changed, |goal| Gained::Goal(goal.id, goal.completed_at))
            }
            Pursuit::ReachGoal(goal, reached) => {
                let status = if *reached { GoalStatus::Completed } else { GoalStatus::Active };
                let changed = goals.update(caller, goal, GoalChange::to(status), request).await;
                gained(changed, |goal| Gained::Goal(goal.id, goal.completed_at))
            }
            Pursuit::DeleteGoal(goal) => {
                gained(goals.delete(caller, goal, request).await, |_| Gained::Nothing)
            }
            Pursuit::AddTask { goal, title, due_at } => {
                let new = NewTask { due_at: *due_at, ..NewTask::titled(goal, title) };
                let made = tasks.create(caller, new, request).await;
                gained(made, |task| Gained::Task(task.id, task.done_at))
            }
            Pursuit::DoTask(goal, task, done) => {
                let change = TaskChange::to_done(*done);
                let changed = tasks.update(caller, goal, task, change, request).await;
                gained(changed, |task| Gained::Task(task.id, task.done_at))
            }
            Pursuit::DeleteTask(goal, task) => {
                gained(tasks.delete(caller, goal, task, request).await, |_| Gained::Nothing)
            }
            other => panic!("{other:?} is not about goals"),
        }
    }

    pub(super) async fn pursue_quests(
        &self,
        caller: &Caller,
        pursuit: &Pursuit,
        request: Option<&RequestId>,
    ) -> Result<Gained, Code> {
        let (milestones, quests) = (self.milestones(), self.quests());
        match pursuit {
            Pursuit::AddMilestone(goal, share) => {
                let new = NewMilestone::at(goal, Percentage::whole(*share), "part of the way");
                let made = milestones.create(caller, new, request).await;
                gained(made, |made| Gained::Milestone(made.id))
            }
            Pursuit::Achieve(goal, id) => {
                let change = MilestoneChange::achieved();
                let changed = milestones.update(caller, goal, id, change, request).await;
                gained(changed, |made| Gained::Milestone(made.id))
            }
            Pursuit::DeleteMilestone(goal, id) => {
                gained(milestones.delete(caller, goal, id, request).await, |_| Gained::Nothing)
            }
            Pursuit::SetQuest(new) => {
                let made = quests.create(caller, new, request).await;
                gained(made, |quest| Gained::Quest(quest.id, quest.created_at))
            }
            Pursuit::CancelQuest(quest) => {
                gained(quests.cancel(caller, quest, request).await, |_| Gained::Nothing)
            }
            Pursuit::DeleteQuest(owner, quest) => {
                gained(quests.delete(caller, owner, quest, request).await, |_| Gained::Nothing)
            }
            other => panic!("{other:?} is not about quests"),
        }
    }
}
