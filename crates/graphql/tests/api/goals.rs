//! Goals, tasks, milestones and quests.

use roundtable_model::Role;
use serde_json::{Value, json};

use crate::stage::{Stage, each};

async fn goal(stage: &Stage, name: &str, title: &str) -> String {
    let made = format!("mutation {{ createGoal(input: {{ title: \"{title}\" }}) {{ id }} }}");
    stage.ask(name, &made).await["createGoal"]["id"].as_str().unwrap().to_owned()
}

async fn task(stage: &Stage, name: &str, goal: &str, title: &str) -> String {
    let made = format!(
        "mutation {{ createTask(input: {{ goalId: \"{goal}\", title: \"{title}\" }}) {{ id }} }}"
    );
    stage.ask(name, &made).await["createTask"]["id"].as_str().unwrap().to_owned()
}

/// R10, R11: from a goal to its task, to the quest that the task is for, to the experience it brings.
#[tokio::test]
async fn a_goal_a_task_a_quest_and_the_experience_it_brings() {
    let stage = Stage::of(["ana"]).await;
    let goal = goal(&stage, "ana", "Run a marathon").await;
    let task = task(&stage, "ana", &goal, "Buy shoes").await;
    let quest = format!(
        "mutation {{ createQuest(input: {{ title: \"Begin\", difficulty: easy, rewardXp: 30,
            kind: linked, linkedTaskIds: [\"{task}\"] }}) {{ id status progressCount }} }}"
    );
    let quest = stage.ask("ana", &quest).await["createQuest"].take();
    assert_eq!((&quest["status"], &quest["progressCount"]), (&json!("active"), &json!(0)));
    let done = format!(
        "mutation {{ updateTask(input: {{ goalId: \"{goal}\", taskId: \"{task}\", done: true }})
            {{ done goal {{ title }} }} }}"
    );
    let done = stage.ask("ana", &done).await["updateTask"].take();
    assert_eq!(done, json!({ "done": true, "goal": { "title": "Run a marathon" } }));
    stage.settle().await;
    let asked = format!(
        "{{ getQuest(questId: {id}) {{ status progressCount }} me {{ xp level
            quests(status: completed) {{ items {{ title }} }} }} }}",
        id = quest["id"]
    );
    let found = stage.ask("ana", &asked).await;
    assert_eq!(found["getQuest"], json!({ "status": "completed", "progressCount": 1 }));
    assert_eq!(found["me"]["xp"], 30);
    assert_eq!(each(&found["me"]["quests"], "title"), ["Begin"]);
}

/// R10: milestones are reached with their tasks; the lists of a goal tell what is done.
#[tokio::test]
async fn a_goal_shows_its_tasks_and_the_milestones_that_are_reached() {
    let stage = Stage::of(["ana"]).await;
    let goal = goal(&stage, "ana", "Move").await;
    let first = task(&stage, "ana", &goal, "Pack").await;
    task(&stage, "ana", &goal, "Drive").await;
    let half = format!(
        "mutation {{ createMilestone(input: {{ goalId: \"{goal}\", name: \"Half\", percentage: 50 }})
            {{ percentage achieved }} }}"
    );
    let half = stage.ask("ana", &half).await;
    assert_eq!(half["createMilestone"], json!({ "percentage": 50.0, "achieved": false }));
    let done = format!(
        "mutation {{ updateTask(input: {{ goalId: \"{goal}\", taskId: \"{first}\", done: true }})
            {{ doneAt }} }}"
    );
    assert!(stage.ask("ana", &done).await["updateTask"]["doneAt"].is_string());
    stage.settle().await;
    let asked = format!(
        "{{ getGoal(id: \"{goal}\") {{ done: tasks(done: true) {{ items {{ title }} }}
            open: tasks(done: false) {{ items {{ title }} }} milestones {{ items {{ name achieved }} }} }}
          listMilestones {{ items {{ name }} }} }}"
    );
    let found = stage.ask("ana", &asked).await;
    assert_eq!(each(&found["getGoal"]["done"], "title"), ["Pack"]);
    assert_eq!(each(&found["getGoal"]["open"], "title"), ["Drive"]);
    assert_eq!(found["getGoal"]["milestones"]["items"][0]["achieved"], true);
    assert_eq!(each(&found["listMilestones"], "name"), ["Half"]);
}

/// In update inputs an absent field keeps its value and null clears it.
#[tokio::test]
async fn an_update_keeps_what_is_absent_and_clears_what_is_null() {
    let stage = Stage::of(["ana"]).await;
    let made = "mutation { createGoal(input: { title: \"Read\", description: \"books\",
        tags: [\"Quiet\"] }) { id tags } }";
    let goal = stage.ask("ana", made).await["createGoal"].take();
    assert_eq!(goal["tags"], json!(["Quiet"]));
    let update = |change: &str| {
        format!(
            "mutation {{ updateGoal(input: {{ goalId: {}, {change} }}) {{ title description tags }} }}",
            goal["id"]
        )
    };
    let kept = stage.ask("ana", &update("title: \"Read more\"")).await["updateGoal"].take();
    assert_eq!(kept["description"], "books");
    let cleared =
        stage.ask("ana", &update("description: null, tags: null")).await["updateGoal"].take();
    assert_eq!(cleared, json!({ "title": "Read more", "description": null, "tags": [] }));
    assert_eq!(stage.refused("ana", &update("title: null")).await, "BAD_REQUEST");
}

/// R10: goals are for their owner and for admins; to others they are not there.
#[tokio::test]
async fn goals_and_quests_are_for_their_owner_and_for_admins() {
    let stage = Stage::of(["ana", "bo"]).await;
    stage.town.move_in("ada", |user| user.roles = vec![Role::User, Role::Admin]).await;
    let goal = goal(&stage, "ana", "Secret").await;
    let get = format!("{{ getGoal(id: \"{goal}\", userId: \"ana\") {{ title }} }}");
    assert_eq!(stage.ask("bo", &get).await["getGoal"], Value::Null);
    let found = stage.ask_as(stage.staff("ada", Role::Admin), &get).await;
    assert_eq!(found["getGoal"]["title"], "Secret");
    assert_eq!(
        stage.refused("bo", "{ listGoals(userId: \"ana\") { items { id } } }").await,
        "NOT_FOUND"
    );
    let inside =
        "{ getUser(id: \"ana\") { nickname goals { items { id } } quests { items { id } } } }";
    let shown = stage.ask("bo", inside).await["getUser"].take();
    assert_eq!(shown["goals"]["items"], json!([]));
    assert_eq!(shown["quests"]["items"], json!([]));
}

#[tokio::test]
async fn a_plan_is_json_both_ways() {
    let stage = Stage::of(["ana"]).await;
    let goal = goal(&stage, "ana", "Cook").await;
    let made = format!(
        "mutation {{ createTask(input: {{ goalId: \"{goal}\", title: \"Shop\",
            nlpPlan: \"{{\\\"steps\\\":[1,2]}}\" }}) {{ nlpPlan }} }}"
    );
    let plan = stage.ask("ana", &made).await["createTask"]["nlpPlan"].as_str().unwrap().to_owned();
    assert_eq!(serde_json::from_str::<Value>(&plan).unwrap(), json!({ "steps": [1, 2] }));
}
