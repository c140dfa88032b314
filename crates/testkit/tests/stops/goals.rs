//! What people do with their goals, tasks and milestones.

use roundtable_domain::{
    Caller, Code, GoalChange, MilestoneChange, NewGoal, NewMilestone, NewTask, PageInput, Refusal,
    TaskChange,
};
use roundtable_model::{GoalId, GoalStatus, MilestoneId, Percentage, RequestId, TaskId};
use roundtable_testkit::{Done, Town};

use crate::deeds::Deed;
use crate::stage::Stage;

/// Something of ana's to do it with.
#[derive(Clone)]
pub(crate) struct Plans {
    goal: GoalId,
    task: TaskId,
    milestone: MilestoneId,
}

impl Plans {
    pub(crate) async fn set(town: &Town) -> Self {
        let tags = vec!["run".parse().unwrap()];
        let goal = town.set_goal_as("ana", NewGoal { tags, ..NewGoal::titled("Run") }).await.id;
        let later = Some(town.now().plus_ms(3_600_000));
        let task = town.add_task_due("ana", &goal, "shoes", later).await.id;
        town.add_task("ana", &goal, "race").await;
        let milestone = town.add_milestone("ana", &goal, 60, "more than half").await.id;
        Self { goal, task, milestone }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum GoalDeed {
    CreateGoal,
    Retitle(GoalId),
    Complete(GoalId),
    DeleteGoal(GoalId),
    CreateTask(GoalId),
    Do(GoalId, TaskId),
    DeleteTask(GoalId, TaskId),
    CreateMilestone(GoalId),
    Achieve(GoalId, MilestoneId),
    DeleteMilestone(GoalId, MilestoneId),
}

/// What ana does with them.
pub(crate) fn with_goals(stage: &Stage, town: &Town) -> Vec<Deed> {
    let Plans { goal, task, milestone } = &stage.plans;
    let deeds = [
        GoalDeed::CreateGoal,
        GoalDeed::Retitle(goal.clone()),
        GoalDeed::Complete(goal.clone()),
        GoalDeed::DeleteGoal(goal.clone()),
        GoalDeed::CreateTask(goal.clone()),
        GoalDeed::Do(goal.clone(), task.clone()),
        GoalDeed::DeleteTask(goal.clone(), task.clone()),
        GoalDeed::CreateMilestone(goal.clone()),
        GoalDeed::Achieve(goal.clone(), milestone.clone()),
        GoalDeed::DeleteMilestone(goal.clone(), milestone.clone()),
    ];
    deeds.into_iter().map(|deed| Deed::Goals(town.caller("ana"), deed)).collect()
}

fn told<T, E: Refusal>(answer: Result<T, E>) -> Result<Done, Code> {
    let code = answer.map(|_| Done::Other).map_err(|error| error.code());
    assert_ne!(code, Err(Code::Internal), "a failure is no refusal");
    code
}

impl GoalDeed {
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::CreateGoal => "goals.create",
            Self::Retitle(_) | Self::Complete(_) => "goals.update",
            Self::DeleteGoal(_) => "goals.delete",
            Self::CreateTask(_) => "tasks.create",
            Self::Do(..) => "tasks.update",
            Self::DeleteTask(..) => "tasks.delete",
            Self::CreateMilestone(_) => "milestones.create",
            Self::Achieve(..) => "milestones.update",
            Self::DeleteMilestone(..) => "milestones.delete",
        }
    }

    pub(crate) async fn be_done(
        &self,
        town: &Town,
        me: &Caller,
        request: Option<&RequestId>,
    ) -> Result<Done, Code> {
        let (goals, tasks, milestones) = (town.goals(), town.tasks(), town.milestones());
        let tags = || vec!["sea".parse().unwrap()];
        match self {
            Self::CreateGoal => {
                let new = NewGoal { tags: tags(), ..NewGoal::titled("Swim") };
                told(goals.create(me, new, request).await)
            }
            Self::Retitle(goal) => {
                let (title, tags) = (Some(String::from("Run far")), Some(tags()));
                let change = GoalChange { title, tags, ..GoalChange::default() };
                told(goals.update(me, goal, change, request).await)
            }
            Self::Complete(goal) => {
                let change = GoalChange::to(GoalStatus::Completed);
                told(goals.update(me, goal, change, request).await)
            }
            Self::DeleteGoal(goal) => told(goals.delete(me, goal, request).await),
            Self::CreateTask(goal) => {
                told(tasks.create(me, NewTask::titled(goal, "swim"), request).await)
            }
            Self::Do(goal, task) => {
                told(tasks.update(me, goal, task, TaskChange::to_done(true), request).await)
            }
            Self::DeleteTask(goal, task) => told(tasks.delete(me, goal, task, request).await),
            Self::CreateMilestone(goal) => {
                let new = NewMilestone::at(goal, Percentage::whole(90), "swim");
                told(milestones.create(me, new, request).await)
            }
            Self::Achieve(goal, id) => {
                let change = MilestoneChange::achieved();
                told(milestones.update(me, goal, id, change, request).await)
            }
            Self::DeleteMilestone(goal, id) => told(milestones.delete(me, goal, id, request).await),
        }
    }

    /// What was stopped and done again is there once, and told once.
    pub(crate) async fn happened_once(&self, town: &Town, me: &Caller, what: &str) {
        let told = town.told("ana", "ana").await;
        let tells = |text: &str| told.iter().filter(|told| *told == text).count();
        match self {
            Self::CreateGoal => {
                let page = PageInput::first();
                let mine = town.goals().list(me, None, &page).await.unwrap().into_items();
                let swims = mine.iter().filter(|goal| goal.title == "Swim").count();
                assert_eq!(swims, 1, "{what}");
            }
            Self::CreateTask(goal) => {
                let rows = town.rows(&format!("GOAL#{goal}"), "TASK#").await;
                assert_eq!(rows.len(), 3, "{what}");
            }
            Self::CreateMilestone(goal) => {
                let rows = town.rows("USER#ana", &format!("MILESTONE#{goal}#")).await;
                assert_eq!(rows.len(), 2, "{what}");
            }
            Self::Complete(_) => assert_eq!(tells("Run"), 1, "{what}"),
            Self::Achieve(..) => assert_eq!(tells("Run: more than half"), 1, "{what}"),
            _ => {}
        }
    }
}
