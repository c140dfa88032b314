//! Moderation.

use serde_json::{Value, json};

use super::scene::Scene;

const REPORT: &str = "mutation ($id: ID!, $once: ID) {
    reportPost(postId: $id, reason: \"spam\", requestId: $once) { id status } }";
const QUEUE: &str = "query ($status: ModerationStatus) { listModerationQueue(status: $status) {
    items { id status reason post { id } decidedBy { id } } } }";
const DECIDE: &str = "mutation ($id: ID!, $status: ModerationStatus!, $once: ID) {
    moderatePost(input: { postId: $id, status: $status, reason: \"spam\" }, requestId: $once) {
        moderationStatus } }";
const HEAR: &str = "subscription ($id: ID) { onModeratePost(postId: $id) { id moderationStatus } }";
const TOLD: &str = "{ listNotifications { items { kind } } }";

pub(super) async fn a_post_is_reported_hidden_and_let_back(scene: &Scene) {
    let [ana, bo, mo] =
        [scene.sign_up("ana").await, scene.sign_up("bo").await, scene.moderator("mo").await];
    let post = ana.posts("buy this").await;
    let id = json!({ "id": post });
    let mut author = ana.listen(HEAR, id.clone()).await;
    let mut moderator_events = mo.listen(HEAR, json!({})).await;
    let case = bo.ask(REPORT, id.clone()).await["reportPost"].take();
    assert_eq!(case["status"], "PENDING");
    assert_eq!(bo.refused(QUEUE, json!({})).await, "FORBIDDEN");
    let case_of = |response: &Value| {
        let items = response["listModerationQueue"]["items"].as_array().unwrap();
        let case = items.iter().filter(|run_result| run_result["post"]["id"] == post.as_str());
        case.cloned().collect::<Vec<_>>()
    };
    let open = mo
        .wait_for(QUEUE, json!({ "status": "PENDING" }), |response| !case_of(response).is_empty())
        .await;
    let open = case_of(&open);
    assert_eq!((open.len(), &open[0]["id"], &open[0]["reason"]), (1, &case["id"], &json!("spam")));

    let decide = |status: &str| json!({ "id": post, "status": status });
    assert_eq!(bo.refused(DECIDE, decide("REJECTED")).await, "FORBIDDEN");
    let decided = mo.ask(DECIDE, decide("REJECTED")).await;
    assert_eq!(decided["moderatePost"]["moderationStatus"], "REJECTED");
    let message = json!({ "id": post, "moderationStatus": "REJECTED" });
    assert_eq!(
        (author.next_event().await, moderator_events.next_event().await),
        (message.clone(), message)
    );
    assert!(bo.post(&post).await.is_null());
    let mine = "query ($id: ID!) { getPost(id: $id) { moderationStatus } }";
    assert_eq!(ana.ask(mine, id.clone()).await["getPost"]["moderationStatus"], "REJECTED");
    let is_told = |response: &Value| {
        let items = response["listNotifications"]["items"].as_array().unwrap();
        items.iter().any(|item| item["kind"] == "moderation")
    };
    ana.wait_for(TOLD, json!({}), is_told).await;
    let closed = mo
        .wait_for(QUEUE, json!({ "status": "REJECTED" }), |response| !case_of(response).is_empty());
    assert_eq!(case_of(&closed.await)[0]["decidedBy"]["id"], mo.id.as_str());

    mo.ask(DECIDE, decide("APPROVED")).await;
    let message = json!({ "id": post, "moderationStatus": "APPROVED" });
    assert_eq!(
        (author.next_event().await, moderator_events.next_event().await),
        (message.clone(), message),
        "each once"
    );
    assert_eq!(bo.post(&post).await["content"], "buy this");
}
