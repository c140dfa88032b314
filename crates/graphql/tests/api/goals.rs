//! Goals, tasks, milestones and quests.

use roundtable_model::Role;
use serde_json::{Value, json};

use crate::api_town::{ApiTown, fields};

async fn goal(api: &ApiTown, name: &str, title: &str) -> String {
    let made = format!("mutation {{ createGoal(input: {{ title: \"{title}\" }}) {{ id }} }}");
    api.run(name, &made).await["createGoal"]["id"].as_str().unwrap().to_owned()
}

async fn task(api: &ApiTown, name: &str, goal: &str, title: &str) -> String {
    let made = format!(
        "mutation {{ createTask(input: {{ goalId: \"{goal}\", title: \"{title}\" }}) {{ id }} }}"
    );
    api.run(name, &made).await["createTask"]["id"].as_str().unwrap().to_owned()
}

/// R10, R11: goal, task, quest, experience.
#[tokio::test]
async fn completing_a_task_completes_its_quest_and_earns_experience() {
    let api = ApiTown::of(["ana"]).await;
    let goal = goal(&api, "ana", "Run a marathon").await;
    let task = task(&api, "ana", &goal, "Buy shoes").await;
    let quest = format!(
        "mutation {{ createQuest(input: {{ title: \"Begin\", difficulty: easy, rewardXp: 30,
            kind: linked, linkedTaskIds: [\"{task}\"] }}) {{ id status progressCount }} }}"
    );
    let quest = api.run("ana", &quest).await["createQuest"].take();
    assert_eq!((&quest["status"], &quest["progressCount"]), (&json!("active"), &json!(0)));
    let done = format!(
        "mutation {{ updateTask(input: {{ goalId: \"{goal}\", taskId: \"{task}\", done: true }})
            {{ done goal {{ title }} }} }}"
    );
    let done = api.run("ana", &done).await["updateTask"].take();
    assert_eq!(done, json!({ "done": true, "goal": { "title": "Run a marathon" } }));
    api.settle().await;
    let document = format!(
        "{{ getQuest(questId: {id}) {{ status progressCount }} me {{ xp level
            quests(status: completed) {{ items {{ title }} }} }} }}",
        id = quest["id"]
    );
    let found = api.run("ana", &document).await;
    assert_eq!(found["getQuest"], json!({ "status": "completed", "progressCount": 1 }));
    assert_eq!(found["me"]["xp"], 30);
    assert_eq!(fields(&found["me"]["quests"], "title"), ["Begin"]);
}

/// R10: tasks achieve milestones, and a goal's lists show them.
#[tokio::test]
async fn a_goal_shows_its_tasks_and_achieved_milestones() {
    let api = ApiTown::of(["ana"]).await;
    let goal = goal(&api, "ana", "Move").await;
    let first = task(&api, "ana", &goal, "Pack").await;
    task(&api, "ana", &goal, "Drive").await;
    let half = format!(
        "mutation {{ createMilestone(input: {{ goalId: \"{goal}\", name: \"Half\", percentage: 50 }})
            {{ percentage achieved }} }}"
    );
    let half = api.run("ana", &half).await;
    assert_eq!(half["createMilestone"], json!({ "percentage": 50.0, "achieved": false }));
    let done = format!(
        "mutation {{ updateTask(input: {{ goalId: \"{goal}\", taskId: \"{first}\", done: true }})
            {{ doneAt }} }}"
    );
    assert!(api.run("ana", &done).await["updateTask"]["doneAt"].is_string());
    api.settle().await;
    let document = format!(
        "{{ getGoal(id: \"{goal}\") {{ done: tasks(done: true) {{ items {{ title }} }}
            open: tasks(done: false) {{ items {{ title }} }} milestones {{ items {{ name achieved }} }} }}
          listMilestones {{ items {{ name }} }} }}"
    );
    let found = api.run("ana", &document).await;
    assert_eq!(fields(&found["getGoal"]["done"], "title"), ["Pack"]);
    assert_eq!(fields(&found["getGoal"]["open"], "title"), ["Drive"]);
    assert_eq!(found["getGoal"]["milestones"]["items"][0]["achieved"], true);
    assert_eq!(fields(&found["listMilestones"], "name"), ["Half"]);
}

#[tokio::test]
async fn an_update_keeps_absent_fields_and_clears_null_fields() {
    let api = ApiTown::of(["ana"]).await;
    let made = "mutation { createGoal(input: { title: \"Read\", description: \"books\",
        tags: [\"Quiet\"] }) { id tags } }";
    let goal = api.run("ana", made).await["createGoal"].take();
    assert_eq!(goal["tags"], json!(["Quiet"]));
    let update = |change: &str| {
        format!(
            "mutation {{ updateGoal(input: {{ goalId: {}, {change} }}) {{ title description tags }} }}",
            goal["id"]
        )
    };
    let kept = api.run("ana", &update("title: \"Read more\"")).await["updateGoal"].take();
    assert_eq!(kept["description"], "books");
    let cleared =
        api.run("ana", &update("description: null, tags: null")).await["updateGoal"].take();
    assert_eq!(cleared, json!({ "title": "Read more", "description": null, "tags": [] }));
    assert_eq!(api.error_code("ana", &update("title: null")).await, "BAD_REQUEST");
}

/// R10: to others, goals do not exist.
#[tokio::test]
async fn only_owners_and_admins_see_goals_and_quests() {
    let api = ApiTown::of(["ana", "bo"]).await;
    api.town.add_user("ada", |user| user.roles = vec![Role::User, Role::Admin]).await;
    let goal = goal(&api, "ana", "Secret").await;
    let get = format!("{{ getGoal(id: \"{goal}\", userId: \"ana\") {{ title }} }}");
    assert_eq!(api.run("bo", &get).await["getGoal"], Value::Null);
    let found = api.run_as(api.staff("ada", Role::Admin), &get).await;
    assert_eq!(found["getGoal"]["title"], "Secret");
    assert_eq!(
        api.error_code("bo", "{ listGoals(userId: \"ana\") { items { id } } }").await,
        "NOT_FOUND"
    );
    let inside =
        "{ getUser(id: \"ana\") { nickname goals { items { id } } quests { items { id } } } }";
    let shown = api.run("bo", inside).await["getUser"].take();
    assert_eq!(shown["goals"]["items"], json!([]));
    assert_eq!(shown["quests"]["items"], json!([]));
}

#[tokio::test]
async fn a_plan_is_json_in_input_and_output() {
    let api = ApiTown::of(["ana"]).await;
    let goal = goal(&api, "ana", "Cook").await;
    let made = format!(
        "mutation {{ createTask(input: {{ goalId: \"{goal}\", title: \"Shop\",
            nlpPlan: \"{{\\\"steps\\\":[1,2]}}\" }}) {{ nlpPlan }} }}"
    );
    let plan = api.run("ana", &made).await["createTask"]["nlpPlan"].as_str().unwrap().to_owned();
    assert_eq!(serde_json::from_str::<Value>(&plan).unwrap(), json!({ "steps": [1, 2] }));
}
