//! Mutations of goals, tasks and milestones.

use roundtable_domain::{
    Caller, Code, GoalChange, MilestoneChange, NewGoal, NewMilestone, NewTask, PageInput, Refusal,
    TaskChange,
};
use roundtable_model::{GoalId, GoalStatus, MilestoneId, Percentage, RequestId, TaskId};
use roundtable_testkit::{ActionOutcome, Town};

use crate::mutations::Mutation;
use crate::stage::Stage;

/// Ana's goal, task and milestone.
#[derive(Clone)]
pub(crate) struct GoalFixture {
    goal: GoalId,
    task: TaskId,
    milestone: MilestoneId,
}

impl GoalFixture {
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
pub(crate) enum GoalMutation {
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

pub(crate) fn goal_mutations(stage: &Stage, town: &Town) -> Vec<Mutation> {
    let GoalFixture { goal, task, milestone } = &stage.goals;
    let mutations = [
        GoalMutation::CreateGoal,
        GoalMutation::Retitle(goal.clone()),
        GoalMutation::Complete(goal.clone()),
        GoalMutation::DeleteGoal(goal.clone()),
        GoalMutation::CreateTask(goal.clone()),
        GoalMutation::Do(goal.clone(), task.clone()),
        GoalMutation::DeleteTask(goal.clone(), task.clone()),
        GoalMutation::CreateMilestone(goal.clone()),
        GoalMutation::Achieve(goal.clone(), milestone.clone()),
        GoalMutation::DeleteMilestone(goal.clone(), milestone.clone()),
    ];
    mutations.into_iter().map(|mutation| Mutation::Goals(town.caller("ana"), mutation)).collect()
}

fn reduce<T, E: Refusal>(answer: Result<T, E>) -> Result<ActionOutcome, Code> {
    let code = answer.map(|_| ActionOutcome::Other).map_err(|error| error.code());
    assert_ne!(code, Err(Code::Internal), "a failure is no refusal");
    code
}

impl GoalMutation {
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

    pub(crate) async fn perform(
        &self,
        town: &Town,
        me: &Caller,
        request: Option<&RequestId>,
    ) -> Result<ActionOutcome, Code> {
        let (goals, tasks, milestones) = (town.goals(), town.tasks(), town.milestones());
        let tags = || vec!["sea".parse().unwrap()];
        match self {
            Self::CreateGoal => {
                let new = NewGoal { tags: tags(), ..NewGoal::titled("Swim") };
                reduce(goals.create(me, new, request).await)
            }
            Self::Retitle(goal) => {
                let (title, tags) = (Some(String::from("Run far")), Some(tags()));
                let change = GoalChange { title, tags, ..GoalChange::default() };
                reduce(goals.update(me, goal, change, request).await)
            }
            Self::Complete(goal) => {
                let change = GoalChange::to(GoalStatus::Completed);
                reduce(goals.update(me, goal, change, request).await)
            }
            Self::DeleteGoal(goal) => reduce(goals.delete(me, goal, request).await),
            Self::CreateTask(goal) => {
                reduce(tasks.create(me, NewTask::titled(goal, "swim"), request).await)
            }
            Self::Do(goal, task) => {
                reduce(tasks.update(me, goal, task, TaskChange::to_done(true), request).await)
            }
            Self::DeleteTask(goal, task) => reduce(tasks.delete(me, goal, task, request).await),
            Self::CreateMilestone(goal) => {
                let new = NewMilestone::at(goal, Percentage::whole(90), "swim");
                reduce(milestones.create(me, new, request).await)
            }
            Self::Achieve(goal, id) => {
                let change = MilestoneChange::achieved();
                reduce(milestones.update(me, goal, id, change, request).await)
            }
            Self::DeleteMilestone(goal, id) => {
                reduce(milestones.delete(me, goal, id, request).await)
            }
        }
    }

    /// A mutation that was stopped and repeated took effect once, with one activity.
    pub(crate) async fn assert_happened_once(&self, town: &Town, me: &Caller, what: &str) {
        let reduce = town.previews("ana", "ana").await;
        let tells = |text: &str| reduce.iter().filter(|reduce| *reduce == text).count();
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
