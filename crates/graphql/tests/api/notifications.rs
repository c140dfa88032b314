//! Notifications are listed, counted and marked as read.

use serde_json::json;

use crate::api_town::ApiTown;

/// R38: the unread count.
#[tokio::test]
async fn notifications_are_unread_until_they_are_marked_read() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let post = api.town.post("ana", "hello").await;
    api.town.comment("bo", &post.id, "hi").await;
    api.town.follow("bo", "ana").await;
    api.settle().await;
    let list = "{ unreadNotificationCount listNotifications { items { kind readAt
        actor { nickname } object { __typename ... on Comment { content } ... on User { nickname } } } } }";
    let seen = api.run("ana", list).await;
    assert_eq!(seen["unreadNotificationCount"], 2);
    let items = seen["listNotifications"]["items"].as_array().unwrap();
    let mut kinds: Vec<_> = items.iter().map(|item| item["kind"].as_str().unwrap()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["comment", "follow"]);
    assert!(items.iter().all(|item| item["actor"]["nickname"] == "bo"));
    let comment = items.iter().find(|item| item["kind"] == "comment").unwrap();
    assert_eq!(comment["object"], json!({ "__typename": "Comment", "content": "hi" }));
    api.town.advance_ms(1_000);
    let before = api.town.now();
    let mark = format!("mutation {{ markNotificationsRead(before: \"{before}\") }}");
    assert_eq!(api.run("ana", &mark).await["markNotificationsRead"], 2);
    api.settle().await;
    let seen = api.run("ana", list).await;
    assert_eq!(seen["unreadNotificationCount"], 0);
    assert!(seen["listNotifications"]["items"][0]["readAt"].is_string());
    assert_eq!(api.run("bo", "{ unreadNotificationCount }").await["unreadNotificationCount"], 0);
}

/// R38: while the recipient may see the message.
#[tokio::test]
async fn a_message_notification_shows_the_message() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let room = api.town.room_with("ana", "bo").await;
    api.town.send_message("bo", &room, "psst").await;
    api.settle().await;
    let list = "{ listNotifications { items { kind object { ... on Message { text } } } } }";
    let seen = api.run("ana", list).await["listNotifications"]["items"][0].take();
    assert_eq!(seen, json!({ "kind": "message", "object": { "text": "psst" } }));
}

/// R54: kinds of notifications are switched off and on; others stay as they are.
#[tokio::test]
async fn kinds_of_notifications_are_switched_off_and_on() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let read = "{ notificationPreferences { kind enabled } }";
    let off = |preferences: &serde_json::Value| -> Vec<String> {
        let all = preferences.as_array().unwrap();
        assert!(all.len() > 10);
        let off = all.iter().filter(|one| one["enabled"] == false);
        off.map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
    };
    let seen = api.run("ana", read).await["notificationPreferences"].take();
    assert!(off(&seen).is_empty());
    let update = |preferences: &str| {
        format!(
            "mutation {{ updateNotificationPreferences(preferences: [{preferences}]) {{ kind enabled }} }}"
        )
    };
    let both = update("{ kind: follow, enabled: false }, { kind: like, enabled: false }");
    let seen = api.run("ana", &both).await["updateNotificationPreferences"].take();
    assert_eq!(off(&seen), ["follow", "like"]);
    let post = api.town.post("ana", "hello").await;
    api.town.like("bo", &post.id).await;
    api.town.follow("bo", "ana").await;
    api.town.comment("bo", &post.id, "hi").await;
    api.settle().await;
    let list = "{ unreadNotificationCount listNotifications { items { id kind readAt } } }";
    let seen = api.run("ana", list).await;
    assert_eq!(seen["unreadNotificationCount"], 1);
    assert_eq!(crate::api_town::fields(&seen["listNotifications"], "kind"), ["comment"]);
    let seen = api.run("ana", &update("{ kind: like, enabled: true }")).await;
    assert_eq!(off(&seen["updateNotificationPreferences"]), ["follow"]);
    let twice = update("{ kind: like, enabled: true }, { kind: like, enabled: false }");
    assert_eq!(api.error_code("ana", &twice).await, "BAD_REQUEST");

    // Marking one marks no other.
    api.town.advance_ms(1_000);
    api.town.comment("bo", &post.id, "and?").await;
    api.settle().await;
    let items = api.run("ana", list).await["listNotifications"]["items"].take();
    let id = items[1]["id"].as_str().unwrap();
    let mark = format!("mutation {{ markNotificationRead(id: \"{id}\") {{ id readAt }} }}");
    let marked = api.run("ana", &mark).await["markNotificationRead"].take();
    assert!(marked["readAt"].is_string() && marked["id"] == id);
    assert_eq!(api.error_code("bo", &mark).await, "NOT_FOUND");
    let items = api.run("ana", list).await["listNotifications"]["items"].take();
    assert!(items[0]["readAt"].is_null() && items[1]["readAt"].is_string());
}
