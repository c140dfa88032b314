//! Whoever comes back is sent first what came since the last they saw.

use serde_json::json;

use crate::stage::Stage;

/// R15, R45: of a room, once and in order, and it ends when one leaves.
#[tokio::test]
async fn a_room_is_resumed_behind_the_last_message_seen() {
    let stage = Stage::of(["ana", "bo", "cleo"]).await;
    let room = stage.town.room_with("ana", "bo").await;
    let seen = stage.town.say("bo", &room, "one").await;
    stage.town.say("bo", &room, "two").await;
    let stage = stage.again();
    let listen = format!(
        "subscription {{ onSendMessage(roomId: \"{room}\", after: \"{}\") {{ text }} }}",
        seen.id
    );
    let mut ana = stage.listen("ana", &listen).await;
    assert_eq!(ana.hears("text").await, json!("two"));
    let say = format!("mutation {{ sendMessage(roomId: \"{room}\", text: \"three\") {{ id }} }}");
    stage.ask("bo", &say).await;
    assert_eq!(ana.hears("text").await, json!("three"));
    assert!(ana.is_silent().await);
    let mut cleo = stage.listen("cleo", &listen).await;
    assert_eq!(cleo.refused().await, "NOT_FOUND");
    assert!(cleo.is_over().await);
}

/// R38, R45: of what one is told.
#[tokio::test]
async fn notifications_are_resumed_behind_the_last_seen() {
    let stage = Stage::of(["ana", "bo", "cleo"]).await;
    stage.town.follow("bo", "ana").await;
    stage.settle().await;
    let list = "{ listNotifications { items { id } } }";
    let seen = stage.ask("ana", list).await["listNotifications"]["items"][0]["id"].take();
    stage.town.pass_ms(1_000);
    stage.town.follow("cleo", "ana").await;
    stage.town.settle().await;
    let stage = stage.again();
    let listen = |after: &str| format!("subscription {{ onNotification{after} {{ id kind }} }}");
    let mut ana = stage.listen("ana", &listen(&format!("(after: {seen})"))).await;
    let told = ana.told().await["data"]["onNotification"].take();
    assert!(told["kind"] == "follow" && told["id"] != seen);
    let mut bo = stage.listen("bo", &listen("")).await;
    stage.town.post("ana", "hello").await;
    stage.settle().await;
    assert!(ana.is_silent().await);
    assert!(bo.is_silent().await);
}

/// R25, R45: of a home feed.
#[tokio::test]
async fn a_home_feed_is_resumed_behind_the_last_entry_seen() {
    let stage = Stage::of(["ana", "bo"]).await;
    stage.town.follow("bo", "ana").await;
    stage.town.post("ana", "one").await;
    stage.settle().await;
    let feed = stage.ask("bo", "{ getFeed(limit: 1) { items { activityId } } }").await;
    let seen = feed["getFeed"]["items"][0]["activityId"].clone();
    stage.town.pass_ms(1_000);
    stage.town.post("ana", "two").await;
    stage.town.settle().await;
    let stage = stage.again();
    let listen = format!("subscription {{ onFeedEntry(after: {seen}) {{ post {{ content }} }} }}");
    let mut bo = stage.listen("bo", &listen).await;
    assert_eq!(bo.hears("post").await, json!({ "content": "two" }));
    assert!(bo.is_silent().await);
}
