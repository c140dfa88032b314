//! Goals, tasks, milestones and quests.

use roundtable_domain::{
    Caller, Code, GoalChange, MilestoneChange, NewGoal, NewMilestone, NewTask, TaskChange,
};
use roundtable_model::{GoalStatus, Percentage, RequestId};

use super::{FeatureAction, FeatureOutcome, reduce};
use crate::Town;

impl Town {
    pub(super) async fn perform_on_goals(
        &self,
        caller: &Caller,
        action: &FeatureAction,
        request: Option<&RequestId>,
    ) -> Result<FeatureOutcome, Code> {
        let (goals, tasks) = (self.goals(), self.tasks());
        match action {
            FeatureAction::SetGoal { title, tag } => {
                let new = NewGoal { tags: vec![tag.clone()], ..NewGoal::titled(title) };
                let made = goals.create(caller, new, request).await;
                reduce(made, |goal| FeatureOutcome::Goal(goal.id, goal.completed_at))
            }
            FeatureAction::RenameGoal { goal, title, tag } => {
                let (title, tags) = (Some(title.clone()), Some(vec![tag.clone()]));
                let change = GoalChange { title, tags, ..GoalChange::default() };
                let changed = goals.update(caller, goal, change, request).await;
                reduce(changed, |goal| FeatureOutcome::Goal(goal.id, goal.completed_at))
            }
            FeatureAction::ReachGoal(goal, reached) => {
                let status = if *reached { GoalStatus::Completed } else { GoalStatus::Active };
                let changed = goals.update(caller, goal, GoalChange::to(status), request).await;
                reduce(changed, |goal| FeatureOutcome::Goal(goal.id, goal.completed_at))
            }
            FeatureAction::DeleteGoal(goal) => {
                reduce(goals.delete(caller, goal, request).await, |_| FeatureOutcome::Nothing)
            }
            FeatureAction::AddTask { goal, title, due_at } => {
                let new = NewTask { due_at: *due_at, ..NewTask::titled(goal, title) };
                let made = tasks.create(caller, new, request).await;
                reduce(made, |task| FeatureOutcome::Task(task.id, task.done_at))
            }
            FeatureAction::DoTask(goal, task, done) => {
                let change = TaskChange::to_done(*done);
                let changed = tasks.update(caller, goal, task, change, request).await;
                reduce(changed, |task| FeatureOutcome::Task(task.id, task.done_at))
            }
            FeatureAction::DeleteTask(goal, task) => {
                reduce(tasks.delete(caller, goal, task, request).await, |_| FeatureOutcome::Nothing)
            }
            other => panic!("{other:?} is not about goals"),
        }
    }

    pub(super) async fn perform_on_quests(
        &self,
        caller: &Caller,
        action: &FeatureAction,
        request: Option<&RequestId>,
    ) -> Result<FeatureOutcome, Code> {
        let (milestones, quests) = (self.milestones(), self.quests());
        match action {
            FeatureAction::AddMilestone(goal, share) => {
                let new = NewMilestone::at(goal, Percentage::whole(*share), "part of the way");
                let made = milestones.create(caller, new, request).await;
                reduce(made, |made| FeatureOutcome::Milestone(made.id))
            }
            FeatureAction::Achieve(goal, id) => {
                let change = MilestoneChange::achieved();
                let changed = milestones.update(caller, goal, id, change, request).await;
                reduce(changed, |made| FeatureOutcome::Milestone(made.id))
            }
            FeatureAction::DeleteMilestone(goal, id) => {
                reduce(milestones.delete(caller, goal, id, request).await, |_| {
                    FeatureOutcome::Nothing
                })
            }
            FeatureAction::SetQuest(new) => {
                let made = quests.create(caller, new, request).await;
                reduce(made, |quest| FeatureOutcome::Quest(quest.id, quest.created_at))
            }
            FeatureAction::CancelQuest(quest) => {
                reduce(quests.cancel(caller, quest, request).await, |_| FeatureOutcome::Nothing)
            }
            FeatureAction::DeleteQuest(owner, quest) => {
                reduce(quests.delete(caller, owner, quest, request).await, |_| {
                    FeatureOutcome::Nothing
                })
            }
            other => panic!("{other:?} is not about quests"),
        }
    }
}
