//! Goals, tasks, milestones, quests, and activities that users post.

use roundtable_domain::{
    Edit, GoalChange, MilestoneChange, NewActivity, NewGoal, NewMilestone, NewQuest, NewTask,
    TaskChange,
};
use roundtable_model::entities::{Goal, Milestone, Task};
use roundtable_model::{ActivityVerb, GoalStatus, ObjectType, Percentage, samples};

use crate::book::CostBook;
use crate::expression::{Count, number, share};
use crate::scene::{ANA, Scene};

pub(crate) async fn record(book: &mut CostBook) {
    record_goals(book).await;
    record_tasks(book).await;
    record_milestones(book).await;
    record_quests(book).await;
    book.mutation("postActivity", FEEDS, async |scene| {
        let goal = goal(scene).await;
        let input = NewActivity {
            group_id: None,
            verb: ActivityVerb::Post,
            object_type: ObjectType::Goal,
            object_id: (&goal.id).into(),
            preview_text: samples::activity().preview_text,
            media: None,
            tags: Vec::new(),
        };
        let (activities, me, request) = (scene.town.activities(), scene.ana(), scene.request());
        scene.record(activities.post(&me, &input, request.as_ref())).await;
    })
    .await;
}

/// Feeds that an activity is copied into. Usually none: readers merge their followees.
const FEEDS: &[Count] = &[number("feeds", 0.0)];

fn new_goal(scene: &Scene) -> NewGoal {
    let sample = samples::goal();
    let description = sample.description;
    NewGoal { description, tags: scene.tags(), ..NewGoal::titled(sample.title) }
}

async fn goal(scene: &Scene) -> Goal {
    scene.fan_out(ANA).await;
    scene.town.set_goal_as(ANA, new_goal(scene)).await
}

async fn task(scene: &Scene) -> Task {
    let goal = goal(scene).await;
    scene.town.add_task(ANA, &goal.id, &samples::task().title).await
}

async fn milestone(scene: &Scene) -> Milestone {
    let goal = goal(scene).await;
    scene.town.add_milestone(ANA, &goal.id, 50, &samples::milestone().name).await
}

async fn record_goals(book: &mut CostBook) {
    book.mutation("createGoal", &[number("tags", 2.0)], async |scene| {
        let (goals, me, request) = (scene.town.goals(), scene.ana(), scene.request());
        scene.record(goals.create(&me, new_goal(scene), request.as_ref())).await;
    })
    .await;
    // `tags` counts the goal's tags, whose references repeat the title.
    book.mutation("updateGoal", &[number("tags", 2.0)], async |scene| {
        let goal = goal(scene).await;
        let title = Some(format!("{}, slowly", goal.title));
        update_goal(scene, &goal, GoalChange { title, ..GoalChange::default() }).await;
    })
    .await;
    book.mutation("updateGoalCompleted", FEEDS, async |scene| {
        let goal = goal(scene).await;
        update_goal(scene, &goal, GoalChange::to(GoalStatus::Completed)).await;
    })
    .await;
    let counts = [number("tags", 2.0), number("tasks", 10.0), number("milestones", 2.0)];
    book.mutation("deleteGoal", &counts, async |scene| {
        let goal = goal(scene).await;
        for _ in 0..scene.count("tasks") {
            scene.town.add_task(ANA, &goal.id, &samples::task().title).await;
        }
        for _ in 0..scene.count("milestones") {
            scene.town.add_milestone(ANA, &goal.id, 50, &samples::milestone().name).await;
        }
        let (goals, me, request) = (scene.town.goals(), scene.ana(), scene.request());
        scene.record(goals.delete(&me, &goal.id, request.as_ref())).await;
    })
    .await;
}

async fn update_goal(scene: &Scene, goal: &Goal, change: GoalChange) {
    let (goals, me, request) = (scene.town.goals(), scene.ana(), scene.request());
    scene.record(goals.update(&me, &goal.id, change, request.as_ref())).await;
}

async fn record_tasks(book: &mut CostBook) {
    book.mutation("createTask", &[], async |scene| {
        let goal = goal(scene).await;
        let new = NewTask::titled(&goal.id, samples::task().title);
        let (tasks, me, request) = (scene.town.tasks(), scene.ana(), scene.request());
        scene.record(tasks.create(&me, new, request.as_ref())).await;
    })
    .await;
    book.mutation("updateTask", &[], async |scene| {
        let task = task(scene).await;
        let title = Some(format!("{}, slowly", task.title));
        update_task(scene, &task, TaskChange { title, ..TaskChange::default() }).await;
    })
    .await;
    // Quests that it advances, those that it completes, and milestones that it reaches.
    let counts = [number("quests", 1.0), share("completed", 0.1), number("milestones", 0.1)];
    book.mutation("updateTaskDone", &counts, async |scene| {
        let task = task(scene).await;
        for _ in 0..scene.count("quests") {
            scene.town.set_quest(ANA, NewQuest::tasks(samples::quest().title, 10)).await;
        }
        if scene.has("completed") {
            scene.town.set_quest(ANA, NewQuest::tasks(samples::quest().title, 1)).await;
        }
        for _ in 0..scene.count("milestones") {
            let name = samples::milestone().name;
            scene.town.add_milestone(ANA, &task.goal_id, 50, &name).await;
        }
        update_task(scene, &task, TaskChange::to_done(true)).await;
    })
    .await;
    book.mutation("deleteTask", &[], async |scene| {
        let task = task(scene).await;
        let (tasks, me, request) = (scene.town.tasks(), scene.ana(), scene.request());
        scene.record(tasks.delete(&me, &task.goal_id, &task.id, request.as_ref())).await;
    })
    .await;
}

async fn update_task(scene: &Scene, task: &Task, change: TaskChange) {
    let (tasks, me, request) = (scene.town.tasks(), scene.ana(), scene.request());
    scene.record(tasks.update(&me, &task.goal_id, &task.id, change, request.as_ref())).await;
}

async fn record_milestones(book: &mut CostBook) {
    book.mutation("createMilestone", &[], async |scene| {
        let goal = goal(scene).await;
        let name = samples::milestone().name;
        let new = NewMilestone::at(&goal.id, Percentage::whole(50), name);
        let (milestones, me, request) = (scene.town.milestones(), scene.ana(), scene.request());
        scene.record(milestones.create(&me, new, request.as_ref())).await;
    })
    .await;
    book.mutation("updateMilestone", &[], async |scene| {
        let milestone = milestone(scene).await;
        let description = Edit::Set(String::from("Half of the way."));
        let change = MilestoneChange { description, ..MilestoneChange::default() };
        update_milestone(scene, &milestone, change).await;
    })
    .await;
    book.mutation("updateMilestoneAchieved", FEEDS, async |scene| {
        let milestone = milestone(scene).await;
        update_milestone(scene, &milestone, MilestoneChange::achieved()).await;
    })
    .await;
    book.mutation("deleteMilestone", &[], async |scene| {
        let milestone = milestone(scene).await;
        let (goal, id, request) = (&milestone.goal_id, &milestone.id, scene.request());
        let (milestones, me) = (scene.town.milestones(), scene.ana());
        scene.record(milestones.delete(&me, goal, id, request.as_ref())).await;
    })
    .await;
}

async fn update_milestone(scene: &Scene, milestone: &Milestone, change: MilestoneChange) {
    let (milestones, me, request) = (scene.town.milestones(), scene.ana(), scene.request());
    let (goal, id) = (&milestone.goal_id, &milestone.id);
    scene.record(milestones.update(&me, goal, id, change, request.as_ref())).await;
}

async fn record_quests(book: &mut CostBook) {
    // It is linked to a task in any case, because a linked quest needs one.
    book.mutation("createQuest", &[share("goals", 1.0), number("tags", 1.0)], async |scene| {
        let task = task(scene).await;
        let goals = if scene.has("goals") { vec![task.goal_id.clone()] } else { Vec::new() };
        let new = NewQuest::linked(samples::quest().title, goals, vec![task.id.clone()]);
        let new = NewQuest { tags: scene.tags(), ..new };
        let (quests, me, request) = (scene.town.quests(), scene.ana(), scene.request());
        scene.record(quests.create(&me, &new, request.as_ref())).await;
    })
    .await;
    book.mutation("cancelQuest", &[], async |scene| {
        let quest = scene.town.set_quest(ANA, NewQuest::tasks(samples::quest().title, 10)).await;
        let (quests, me, request) = (scene.town.quests(), scene.ana(), scene.request());
        scene.record(quests.cancel(&me, &quest.id, request.as_ref())).await;
    })
    .await;
    // By an admin.
    book.mutation("deleteQuest", &[number("tags", 1.0), number("steps", 10.0)], async |scene| {
        let tags = scene.tags();
        let new = NewQuest { tags, ..NewQuest::tasks(samples::quest().title, 10) };
        let quest = scene.town.set_quest(ANA, new).await;
        for _ in 0..scene.count("steps") {
            let task = task(scene).await;
            scene.town.mark_done(&task, true).await;
        }
        let (quests, admin, request) = (scene.town.quests(), scene.admin().await, scene.request());
        let owner = scene.town.id(ANA);
        scene.record(quests.delete(&admin, &owner, &quest.id, request.as_ref())).await;
    })
    .await;
}
