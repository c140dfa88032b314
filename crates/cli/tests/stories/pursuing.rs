//! Goals, tasks, quests, and the experience they bring.

use serde_json::{Value, json};

use super::people::Person;
use super::scene::{Scene, each, text};

const GOAL: &str = "mutation ($once: ID) {
    createGoal(input: { title: \"Run a marathon\" }, requestId: $once) { id status } }";
const TASK: &str = "mutation ($goal: ID!, $title: String!, $once: ID) {
    createTask(input: { goalId: $goal, title: $title }, requestId: $once) { id done } }";
const DONE: &str = "mutation ($goal: ID!, $task: ID!, $once: ID) {
    updateTask(input: { goalId: $goal, taskId: $task, done: true }, requestId: $once) { done } }";
const QUEST: &str = "mutation ($tasks: [ID!]!, $once: ID) { createQuest(requestId: $once, input: {
    title: \"Begin\", difficulty: easy, rewardXp: 30, kind: linked, linkedTaskIds: $tasks }) {
        id status progressCount } }";
const HEAR: &str = "subscription { onQuestChange { id status progressCount } }";

impl Person<'_> {
    async fn plans(&self, goal: &str, title: &str) -> String {
        let task = json!({ "goal": goal, "title": title });
        text(&self.ask(TASK, task).await["createTask"]["id"])
    }

    async fn does(&self, goal: &str, task: &str) {
        let done = self.ask(DONE, json!({ "goal": goal, "task": task })).await;
        assert_eq!(done["updateTask"]["done"], true);
    }
}

pub(super) async fn a_goal_becomes_a_quest_and_experience(scene: &Scene) {
    let (ana, bo) = (scene.sign_up("ana").await, scene.sign_up("bo").await);
    let goal = text(&ana.ask(GOAL, json!({})).await["createGoal"]["id"]);
    let (shoes, run) = (ana.plans(&goal, "Buy shoes").await, ana.plans(&goal, "Run").await);
    let half = "mutation ($goal: ID!, $once: ID) { createMilestone(requestId: $once,
        input: { goalId: $goal, name: \"Half\", percentage: 50 }) { achieved } }";
    let half = ana.ask(half, json!({ "goal": goal })).await;
    assert_eq!(half["createMilestone"]["achieved"], false);
    let mut turns = ana.listen(HEAR, json!({})).await;
    let quest = ana.ask(QUEST, json!({ "tasks": [shoes, run] })).await["createQuest"].take();
    assert_eq!((&quest["status"], &quest["progressCount"]), (&json!("active"), &json!(0)));
    assert_eq!(turns.next_event().await, quest);
    ana.does(&goal, &shoes).await;
    let further = json!({ "id": quest["id"], "status": "active", "progressCount": 1 });
    assert_eq!(turns.next_event().await, further);
    let state = "query ($goal: ID!, $quest: ID!) {
        getGoal(id: $goal) { open: tasks(done: false) { items { id } } milestones { items { achieved } } }
        getQuest(questId: $quest) { status progressCount } me { xp } }";
    let about = json!({ "goal": goal, "quest": quest["id"] });
    let is_half = |response: &Value| each(&response["getGoal"]["milestones"], "achieved") == [true];
    let response = ana.wait_for(state, about.clone(), is_half).await;
    assert_eq!(each(&response["getGoal"]["open"], "id"), [&json!(run)]);
    assert_eq!(response["me"]["xp"], 0);

    ana.does(&goal, &run).await;
    let over = json!({ "id": quest["id"], "status": "completed", "progressCount": 2 });
    assert_eq!(turns.next_event().await, over);
    let response = ana.wait_for(state, about.clone(), |response| response["me"]["xp"] == 30).await;
    assert_eq!(response["getQuest"], json!({ "status": "completed", "progressCount": 2 }));

    let another = ana.ask(QUEST, json!({ "tasks": [ana.plans(&goal, "Rest").await] })).await;
    let another = another["createQuest"]["id"].clone();
    assert_eq!(turns.next_event_field("id").await, another, "each is told once");
    let cancel =
        "mutation ($id: ID!, $once: ID) { cancelQuest(questId: $id, requestId: $once) { status } }";
    ana.ask(cancel, json!({ "id": another })).await;
    assert_eq!(turns.next_event_field("status").await, "cancelled");
    assert_eq!(ana.ask(state, about).await["me"]["xp"], 30);
    let hidden = "query ($id: ID!, $who: ID!) { getGoal(id: $id, userId: $who) { id } }";
    assert!(bo.ask(hidden, json!({ "id": goal, "who": ana.id })).await["getGoal"].is_null());
}
