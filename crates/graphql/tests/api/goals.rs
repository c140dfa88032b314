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

async fn quest(api: &ApiTown, name: &str, title: &str, tasks: &[&str]) -> Value {
    let made = format!(
        "mutation {{ createQuest(input: {{ title: \"{title}\", difficulty: easy, rewardXp: 10,
            kind: linked, linkedTaskIds: {tasks:?} }}) {{ id }} }}"
    );
    api.run(name, &made).await["createQuest"]["id"].take()
}

async fn complete(api: &ApiTown, name: &str, goal: &str, task: &str) {
    let done = format!(
        "mutation {{ updateTask(input: {{ goalId: \"{goal}\", taskId: \"{task}\", done: true }})
            {{ done }} }}"
    );
    assert_eq!(api.run(name, &done).await["updateTask"]["done"], true);
    api.settle().await;
}

/// R10: what belongs to a deleted goal is hidden at once, before the purge removes it.
#[tokio::test]
async fn a_deleted_goal_takes_its_tasks_and_milestones_along() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let goal = goal(&api, "ana", "Move").await;
    let task = task(&api, "ana", &goal, "Pack").await;
    let half = api.town.add_milestone("ana", &goal.parse().unwrap(), 50, "Half").await.id;
    let read = format!(
        r#"{{ getGoal(id: "{goal}") {{ title }} getTask(goalId: "{goal}", id: "{task}") {{ title }}
            getMilestone(goalId: "{goal}", id: "{half}") {{ name }} listGoals {{ items {{ id }} }}
            listMilestones {{ items {{ id }} }} }}"#
    );
    let before = json!({
        "getGoal": { "title": "Move" }, "getTask": { "title": "Pack" },
        "getMilestone": { "name": "Half" }, "listGoals": { "items": [{ "id": goal }] },
        "listMilestones": { "items": [{ "id": half.to_string() }] },
    });
    assert_eq!(api.run("ana", &read).await, before);
    let delete = format!(r#"mutation {{ deleteGoal(goalId: "{goal}") {{ title }} }}"#);
    assert_eq!(api.error_code("bo", &delete).await, "NOT_FOUND");
    assert_eq!(api.run("ana", &delete).await["deleteGoal"], json!({ "title": "Move" }));
    let gone = json!({
        "getGoal": null, "getTask": null, "getMilestone": null, "listGoals": { "items": [] },
        "listMilestones": { "items": [] },
    });
    assert_eq!(api.run("ana", &read).await, gone);
    api.settle().await;
    assert_eq!(api.run("ana", &read).await, gone);
    assert_eq!(api.error_code("ana", &delete).await, "NOT_FOUND");
}

#[tokio::test]
async fn a_deleted_task_is_in_no_list() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let goal = goal(&api, "ana", "Move").await;
    let create = |title: &str| {
        format!(
            r#"mutation {{ createTask(input: {{ goalId: "{goal}", title: "{title}",
                dueAt: "2030-01-02T00:00:00Z" }}) {{ id }} }}"#
        )
    };
    let pack = api.run("ana", &create("Pack")).await["createTask"]["id"].take();
    api.run("ana", &create("Drive")).await;
    let read = format!(
        r#"{{ getTask(goalId: "{goal}", id: {pack}) {{ title }}
            listTasks(goalId: "{goal}") {{ items {{ title }} }}
            listTasksDue(from: "2030-01-01T00:00:00Z", to: "2030-01-03T00:00:00Z")
                {{ items {{ title }} }} }}"#
    );
    let before = api.run("ana", &read).await;
    assert_eq!(before["getTask"]["title"], "Pack");
    for list in ["listTasks", "listTasksDue"] {
        assert_eq!(fields(&before[list], "title"), ["Pack", "Drive"], "{list}");
    }
    // R24: admins list the tasks of all users that are due on a day.
    let root = api.town.grant_role("bo", Role::Admin).await;
    let due = |arguments: &str| format!("{{ listTasksDue({arguments}) {{ items {{ title }} }} }}");
    let on_day = api.run_as(Some(root.clone()), &due("day: \"2030-01-02\"")).await;
    assert_eq!(fields(&on_day["listTasksDue"], "title"), ["Pack", "Drive"]);
    let other_day = api.run_as(Some(root.clone()), &due("day: \"2030-01-01\"")).await;
    assert_eq!(other_day["listTasksDue"]["items"], json!([]));
    assert_eq!(api.error_code("ana", &due("day: \"2030-01-02\"")).await, "FORBIDDEN");
    let period = "from: \"2030-01-01T00:00:00Z\"";
    for wrong in ["limit: 1", period, &format!("{period}, day: \"2030-01-02\"")] {
        assert_eq!(api.error_code("ana", &due(wrong)).await, "BAD_REQUEST", "{wrong}");
    }
    let delete =
        format!(r#"mutation {{ deleteTask(goalId: "{goal}", taskId: {pack}) {{ title }} }}"#);
    assert_eq!(api.error_code("bo", &delete).await, "NOT_FOUND");
    assert_eq!(api.run("ana", &delete).await["deleteTask"], json!({ "title": "Pack" }));
    let after = api.run("ana", &read).await;
    assert_eq!(after["getTask"], Value::Null);
    for list in ["listTasks", "listTasksDue"] {
        assert_eq!(fields(&after[list], "title"), ["Drive"], "{list}");
    }
    assert_eq!(api.error_code("ana", &delete).await, "NOT_FOUND");
}

/// R10: followers learn of a milestone that is achieved by hand, until it is deleted.
#[tokio::test]
async fn a_milestone_is_changed_achieved_and_deleted_by_its_owner() {
    let api = ApiTown::of(["ana", "bo"]).await;
    api.town.follow("bo", "ana").await;
    let goal = goal(&api, "ana", "Move").await;
    let half = api.town.add_milestone("ana", &goal.parse().unwrap(), 50, "Half").await.id;
    let update = |change: &str| {
        format!(
            r#"mutation {{ updateMilestone(input: {{ goalId: "{goal}", milestoneId: "{half}",
                {change} }}) {{ name percentage description achieved }} }}"#
        )
    };
    assert_eq!(api.error_code("bo", &update("name: \"Mine\"")).await, "NOT_FOUND");
    let renamed = update("name: \"Most\", percentage: 75, description: \"boxes\"");
    let expected = json!({
        "name": "Most", "percentage": 75.0, "description": "boxes", "achieved": false
    });
    assert_eq!(api.run("ana", &renamed).await["updateMilestone"], expected);
    let feed = "{ getFeed { items { verb previewText actor { nickname } } } }";
    assert_eq!(api.run("bo", feed).await["getFeed"]["items"], json!([]));
    let achieved = api.run("ana", &update("achieved: true, description: null")).await;
    let expected =
        json!({ "name": "Most", "percentage": 75.0, "description": null, "achieved": true });
    assert_eq!(achieved["updateMilestone"], expected);
    api.settle().await;
    let told = api.run("bo", feed).await["getFeed"]["items"].take();
    assert_eq!(told.as_array().unwrap().len(), 1, "{told}");
    assert_eq!(told[0]["actor"]["nickname"], "ana");
    assert!(told[0]["previewText"].as_str().unwrap().contains("Most"), "{told}");
    assert_eq!(api.error_code("ana", &update("achieved: false")).await, "CONFLICT");
    let delete = format!(
        r#"mutation {{ deleteMilestone(goalId: "{goal}", milestoneId: "{half}") {{ name }} }}"#
    );
    assert_eq!(api.error_code("bo", &delete).await, "NOT_FOUND");
    assert_eq!(api.run("ana", &delete).await["deleteMilestone"], json!({ "name": "Most" }));
    api.settle().await;
    let list = "{ listMilestones { items { name } } }";
    assert_eq!(api.run("ana", list).await["listMilestones"]["items"], json!([]));
    assert_eq!(api.run("bo", feed).await["getFeed"]["items"], json!([]));
    assert_eq!(api.error_code("ana", &delete).await, "NOT_FOUND");
}

/// R11: a cancelled quest makes no more progress; a completed one cannot be cancelled.
#[tokio::test]
async fn a_cancelled_quest_earns_nothing() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let goal = goal(&api, "ana", "Move").await;
    let (pack, drive) =
        (task(&api, "ana", &goal, "Pack").await, task(&api, "ana", &goal, "Drive").await);
    let both = quest(&api, "ana", "Both", &[&pack, &drive]).await;
    let first = quest(&api, "ana", "First", &[&pack]).await;
    complete(&api, "ana", &goal, &pack).await;
    let cancel = |quest: &Value| {
        format!("mutation {{ cancelQuest(questId: {quest}) {{ status progressCount }} }}")
    };
    assert_eq!(api.error_code("bo", &cancel(&both)).await, "NOT_FOUND");
    let cancelled = json!({ "status": "cancelled", "progressCount": 1 });
    for _ in 0..2 {
        assert_eq!(api.run("ana", &cancel(&both)).await["cancelQuest"], cancelled);
    }
    assert_eq!(api.error_code("ana", &cancel(&first)).await, "CONFLICT");
    complete(&api, "ana", &goal, &drive).await;
    let read = format!(
        r#"{{ cancelled: listQuests(status: cancelled) {{ items {{ title }} }}
            completed: listQuests(status: completed) {{ items {{ title }} }}
            linked: listQuests(linkedTaskId: "{drive}") {{ items {{ title }} }} me {{ xp }} }}"#
    );
    let found = api.run("ana", &read).await;
    assert_eq!(fields(&found["cancelled"], "title"), ["Both"]);
    assert_eq!(fields(&found["completed"], "title"), ["First"]);
    assert_eq!(fields(&found["linked"], "title"), ["Both"]);
    assert_eq!(found["me"]["xp"], 10);
}

/// R11: admins delete quests; what a quest earned stays.
#[tokio::test]
async fn only_admins_delete_quests_and_experience_stays() {
    let api = ApiTown::of(["ana"]).await;
    api.town.add_user("ada", |user| user.roles = vec![Role::User, Role::Admin]).await;
    let goal = goal(&api, "ana", "Move").await;
    let (pack, drive) =
        (task(&api, "ana", &goal, "Pack").await, task(&api, "ana", &goal, "Drive").await);
    let first = quest(&api, "ana", "First", &[&pack]).await;
    quest(&api, "ana", "Other", &[&drive]).await;
    complete(&api, "ana", &goal, &pack).await;
    let delete = format!(
        r#"mutation {{ deleteQuest(questId: {first}, userId: "ana") {{ title status }} }}"#
    );
    assert_eq!(api.error_code("ana", &delete).await, "FORBIDDEN");
    let ada = || api.staff("ada", Role::Admin);
    let deleted = api.run_as(ada(), &delete).await["deleteQuest"].take();
    assert_eq!(deleted, json!({ "title": "First", "status": "completed" }));
    api.settle().await;
    let read = format!(
        "{{ getQuest(questId: {first}) {{ title }} listQuests {{ items {{ title }} }} me {{ xp }} }}"
    );
    let found = api.run("ana", &read).await;
    assert_eq!(found["getQuest"], Value::Null);
    assert_eq!(fields(&found["listQuests"], "title"), ["Other"]);
    assert_eq!(found["me"]["xp"], 10);
    assert_eq!(api.error_code_as(ada(), &delete).await, "NOT_FOUND");
}
