//! What people are told.

use serde_json::{Value, json};

use super::scene::{Scene, each};

const LIST: &str = "{ unreadNotificationCount listNotifications {
    items { id kind readAt createdAt actor { id } } } }";
const HEAR: &str =
    "subscription ($after: ID) { onNotification(after: $after) { kind actor { id } } }";
const MARK: &str = "mutation ($before: AWSDateTime!, $once: ID) {
    markNotificationsRead(before: $before, requestId: $once) }";

pub(super) async fn people_are_told_what_concerns_them(scene: &Scene) {
    let [ana, bo, cleo] =
        [scene.newcomer("ana").await, scene.newcomer("bo").await, scene.newcomer("cleo").await];
    let post = ana.posts("hello").await;
    bo.follows(&ana).await;
    let told = ana.sees(LIST, json!({}), |seen| are_unread(seen, 1)).await;
    let first = &told["listNotifications"]["items"][0];
    assert_eq!((&first["kind"], &first["actor"]["id"]), (&json!("follow"), &json!(bo.id)));

    let mut bell = ana.resume(HEAR, json!({ "after": first["id"] })).await;
    bo.comments(&post, "hi").await;
    assert_eq!(bell.hears().await, json!({ "kind": "comment", "actor": { "id": bo.id } }));
    cleo.likes(&post).await;
    assert_eq!(bell.hears().await, json!({ "kind": "like", "actor": { "id": cleo.id } }));
    cleo.follows(&ana).await;
    assert_eq!(bell.hears().await, json!({ "kind": "follow", "actor": { "id": cleo.id } }));
    bo.posts(&format!("hello @{}", ana.nickname)).await;
    assert_eq!(bell.hears().await, json!({ "kind": "mention", "actor": { "id": bo.id } }));
    let seen = ana.sees(LIST, json!({}), |seen| are_unread(seen, 5)).await;
    let kinds = each(&seen["listNotifications"], "kind");
    for (kind, times) in [("follow", 2), ("comment", 1), ("like", 1), ("mention", 1)] {
        assert_eq!(kinds.iter().filter(|found| **found == kind).count(), times, "{seen}");
    }

    let items = seen["listNotifications"]["items"].as_array().unwrap();
    let last = items.iter().find(|item| item["kind"] == "mention").unwrap();
    ana.ask(MARK, json!({ "before": last["createdAt"] })).await;
    let is_marked = |item: &Value| {
        let is_later = item["createdAt"].as_str() >= last["createdAt"].as_str();
        item["readAt"].is_null() == is_later
    };
    let are_marked = |seen: &Value| {
        let items = seen["listNotifications"]["items"].as_array().unwrap();
        seen["unreadNotificationCount"] == 1 && items.iter().all(is_marked)
    };
    ana.sees(LIST, json!({}), are_marked).await;
    assert_eq!(cleo.ask(LIST, json!({})).await["unreadNotificationCount"], 0);
}

/// Whether so many notifications are there, all unread. The two are asked for at the same time, and one
/// answer may be older than the other.
fn are_unread(seen: &Value, count: usize) -> bool {
    let items = seen["listNotifications"]["items"].as_array().unwrap();
    seen["unreadNotificationCount"] == count && items.len() == count
}
