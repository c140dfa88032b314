//! Notifications.

use serde_json::{Value, json};

use super::scene::{Scene, each};

const LIST: &str = "{ unreadNotificationCount listNotifications {
    items { id kind readAt createdAt actor { id } } } }";
const HEAR: &str =
    "subscription ($after: ID) { onNotification(after: $after) { kind actor { id } } }";
const MARK: &str = "mutation ($before: AWSDateTime!, $once: ID) {
    markNotificationsRead(before: $before, requestId: $once) }";

pub(super) async fn users_are_notified(scene: &Scene) {
    let [ana, bo, cleo] =
        [scene.sign_up("ana").await, scene.sign_up("bo").await, scene.sign_up("cleo").await];
    let post = ana.posts("hello").await;
    bo.follows(&ana).await;
    let message = ana.wait_for(LIST, json!({}), |response| are_unread(response, 1)).await;
    let first = &message["listNotifications"]["items"][0];
    assert_eq!((&first["kind"], &first["actor"]["id"]), (&json!("follow"), &json!(bo.id)));

    let mut follow_events = ana.resume(HEAR, json!({ "after": first["id"] })).await;
    bo.comments(&post, "hi").await;
    assert_eq!(
        follow_events.next_event().await,
        json!({ "kind": "comment", "actor": { "id": bo.id } })
    );
    cleo.likes(&post).await;
    assert_eq!(
        follow_events.next_event().await,
        json!({ "kind": "like", "actor": { "id": cleo.id } })
    );
    cleo.follows(&ana).await;
    assert_eq!(
        follow_events.next_event().await,
        json!({ "kind": "follow", "actor": { "id": cleo.id } })
    );
    bo.posts(&format!("hello @{}", ana.nickname)).await;
    assert_eq!(
        follow_events.next_event().await,
        json!({ "kind": "mention", "actor": { "id": bo.id } })
    );
    let response = ana.wait_for(LIST, json!({}), |response| are_unread(response, 5)).await;
    let kinds = each(&response["listNotifications"], "kind");
    for (kind, times) in [("follow", 2), ("comment", 1), ("like", 1), ("mention", 1)] {
        assert_eq!(
            kinds.iter().filter(|run_result| **run_result == kind).count(),
            times,
            "{response}"
        );
    }

    let items = response["listNotifications"]["items"].as_array().unwrap();
    let last = items.iter().find(|item| item["kind"] == "mention").unwrap();
    ana.ask(MARK, json!({ "before": last["createdAt"] })).await;
    let is_marked = |item: &Value| {
        let is_later = item["createdAt"].as_str() >= last["createdAt"].as_str();
        item["readAt"].is_null() == is_later
    };
    let are_marked = |response: &Value| {
        let items = response["listNotifications"]["items"].as_array().unwrap();
        response["unreadNotificationCount"] == 1 && items.iter().all(is_marked)
    };
    ana.wait_for(LIST, json!({}), are_marked).await;
    assert_eq!(cleo.ask(LIST, json!({})).await["unreadNotificationCount"], 0);
}

/// Returns whether there are this many notifications, all unread. The two fields are read
/// concurrently, and one may be older than the other.
fn are_unread(response: &Value, count: usize) -> bool {
    let items = response["listNotifications"]["items"].as_array().unwrap();
    response["unreadNotificationCount"] == count && items.len() == count
}
