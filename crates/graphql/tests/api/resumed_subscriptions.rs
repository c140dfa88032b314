//! A resumed subscription first sends what the subscriber missed.

use serde_json::json;

use crate::api_town::ApiTown;

/// R15, R45: once and in order; the subscription ends when the subscriber leaves the room.
#[tokio::test]
async fn a_room_subscription_resumes_after_the_last_message() {
    let api = ApiTown::of(["ana", "bo", "cleo"]).await;
    let room = api.town.room_with("ana", "bo").await;
    let seen = api.town.send_message("bo", &room, "one").await;
    api.town.send_message("bo", &room, "two").await;
    let api = api.restarted();
    let document = format!(
        "subscription {{ onSendMessage(roomId: \"{room}\", after: \"{}\") {{ text }} }}",
        seen.id
    );
    let mut ana = api.subscribe("ana", &document).await;
    assert_eq!(ana.next_field("text").await, json!("two"));
    let say = format!("mutation {{ sendMessage(roomId: \"{room}\", text: \"three\") {{ id }} }}");
    api.run("bo", &say).await;
    assert_eq!(ana.next_field("text").await, json!("three"));
    assert!(ana.has_no_event().await);
    let mut cleo = api.subscribe("cleo", &document).await;
    assert_eq!(cleo.next_error_code().await, "NOT_FOUND");
    assert!(cleo.has_ended().await);
}

/// R38, R45: only newer notifications are sent.
#[tokio::test]
async fn a_notification_subscription_resumes_after_the_last_one() {
    let api = ApiTown::of(["ana", "bo", "cleo"]).await;
    api.town.follow("bo", "ana").await;
    api.settle().await;
    let list = "{ listNotifications { items { id } } }";
    let seen = api.run("ana", list).await["listNotifications"]["items"][0]["id"].take();
    api.town.advance_ms(1_000);
    api.town.follow("cleo", "ana").await;
    api.town.settle().await;
    let api = api.restarted();
    let document = |after: &str| format!("subscription {{ onNotification{after} {{ id kind }} }}");
    let mut ana = api.subscribe("ana", &document(&format!("(after: {seen})"))).await;
    let told = ana.next_response().await["data"]["onNotification"].take();
    assert!(told["kind"] == "follow" && told["id"] != seen);
    let mut bo = api.subscribe("bo", &document("")).await;
    api.town.post("ana", "hello").await;
    api.settle().await;
    assert!(ana.has_no_event().await);
    assert!(bo.has_no_event().await);
}

/// Both positions name the process, and so each is exact where it comes from, and accepted elsewhere.
#[tokio::test]
async fn a_subscription_resumes_after_the_position_of_an_entry() {
    let mut api = ApiTown::of(["ana", "bo", "cleo"]).await;
    api.town.follow("bo", "ana").await;
    api.settle().await;
    let mut bo = api.subscribe("bo", "subscription { onFeedEntry { resumeAfter } }").await;
    let mut ana = api.subscribe("ana", "subscription { onNotification { resumeAfter } }").await;
    api.town.post("ana", "one").await;
    api.town.follow("cleo", "ana").await;
    api.settle().await;
    let entry = bo.next_field("resumeAfter").await;
    let news = ana.next_field("resumeAfter").await;
    drop((bo, ana));
    api.town.advance_ms(1_000);
    api.town.post("ana", "two").await;
    api.town.settle().await;
    let feed = format!("subscription {{ onFeedEntry(after: {entry}) {{ previewText }} }}");
    let notifications = format!("subscription {{ onNotification(after: {news}) {{ kind }} }}");
    for restarts in [false, true] {
        if restarts {
            api = api.restarted();
        }
        let mut bo = api.subscribe("bo", &feed).await;
        assert_eq!(bo.next_field("previewText").await, json!("two"), "{restarts}");
        assert!(bo.has_no_event().await, "{restarts}");
        let mut ana = api.subscribe("ana", &notifications).await;
        if restarts {
            // What arrived shortly before the point may come again from another process.
            assert_eq!(ana.next_field("kind").await, json!("follow"));
        }
        assert!(ana.has_no_event().await, "{restarts}");
    }
    let wrong = "subscription { onFeedEntry(after: \"a@b\") { previewText } }";
    let mut bo = api.subscribe("bo", wrong).await;
    assert_eq!(bo.next_error_code().await, "BAD_REQUEST");
}

/// R25, R45: only newer entries are sent.
#[tokio::test]
async fn a_home_feed_subscription_resumes_after_the_last_entry() {
    let api = ApiTown::of(["ana", "bo"]).await;
    api.town.follow("bo", "ana").await;
    api.town.post("ana", "one").await;
    api.settle().await;
    let feed = api.run("bo", "{ getFeed(limit: 1) { items { activityId } } }").await;
    let seen = feed["getFeed"]["items"][0]["activityId"].clone();
    api.town.advance_ms(1_000);
    api.town.post("ana", "two").await;
    api.town.settle().await;
    let api = api.restarted();
    let document =
        format!("subscription {{ onFeedEntry(after: {seen}) {{ post {{ content }} }} }}");
    let mut bo = api.subscribe("bo", &document).await;
    assert_eq!(bo.next_field("post").await, json!({ "content": "two" }));
    assert!(bo.has_no_event().await);
}
