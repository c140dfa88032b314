//! What people are told: listed, counted, marked as read.

use serde_json::json;

use crate::stage::Stage;

/// R38: what was told is counted as unread until it is marked as read.
#[tokio::test]
async fn what_was_told_is_unread_until_it_is_marked() {
    let stage = Stage::of(["ana", "bo"]).await;
    let post = stage.town.post("ana", "hello").await;
    stage.town.comment("bo", &post.id, "hi").await;
    stage.town.follow("bo", "ana").await;
    stage.settle().await;
    let list = "{ unreadNotificationCount listNotifications { items { kind readAt
        actor { nickname } object { __typename ... on Comment { content } ... on User { nickname } } } } }";
    let seen = stage.ask("ana", list).await;
    assert_eq!(seen["unreadNotificationCount"], 2);
    let items = seen["listNotifications"]["items"].as_array().unwrap();
    let mut kinds: Vec<_> = items.iter().map(|item| item["kind"].as_str().unwrap()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["comment", "follow"]);
    assert!(items.iter().all(|item| item["actor"]["nickname"] == "bo"));
    let comment = items.iter().find(|item| item["kind"] == "comment").unwrap();
    assert_eq!(comment["object"], json!({ "__typename": "Comment", "content": "hi" }));
    stage.town.pass_ms(1_000);
    let before = stage.town.now();
    let mark = format!("mutation {{ markNotificationsRead(before: \"{before}\") }}");
    assert_eq!(stage.ask("ana", &mark).await["markNotificationsRead"], 2);
    stage.settle().await;
    let seen = stage.ask("ana", list).await;
    assert_eq!(seen["unreadNotificationCount"], 0);
    assert!(seen["listNotifications"]["items"][0]["readAt"].is_string());
    assert_eq!(stage.ask("bo", "{ unreadNotificationCount }").await["unreadNotificationCount"], 0);
}

/// R38: a message tells of itself with what was said, for as long as its reader may see it.
#[tokio::test]
async fn a_notification_of_a_message_shows_the_message() {
    let stage = Stage::of(["ana", "bo"]).await;
    let room = stage.town.room_with("ana", "bo").await;
    stage.town.say("bo", &room, "psst").await;
    stage.settle().await;
    let list = "{ listNotifications { items { kind object { ... on Message { text } } } } }";
    let seen = stage.ask("ana", list).await["listNotifications"]["items"][0].take();
    assert_eq!(seen, json!({ "kind": "message", "object": { "text": "psst" } }));
}
