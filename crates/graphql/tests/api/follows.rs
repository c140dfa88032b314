//! Following, as clients do it.

use serde_json::{Value, json};

use crate::stage::{Stage, each};

#[tokio::test]
async fn following_is_seen_from_both_ends_and_counted() {
    let stage = Stage::of(["ana", "bo"]).await;
    let document = r#"mutation { followUser(followeeId: "bo") {
        followerId followeeId status muted notificationEnabled follower { nickname } followee { nickname } } }"#;
    let follow = stage.ask("ana", document).await["followUser"].take();
    assert_eq!(follow["status"], "active");
    assert_eq!(follow["followee"]["nickname"], "bo");
    let document = r#"{ getUser(id: "bo") { followersCount viewerFollows viewerIsFollowedBy
        followers { items { follower { nickname } } } } isFollowing(followerId: "ana", followeeId: "bo") }"#;
    let seen = stage.ask("ana", document).await;
    assert_eq!(seen["isFollowing"], true);
    assert_eq!(seen["getUser"]["followersCount"], 1);
    assert_eq!(seen["getUser"]["viewerFollows"], true);
    assert_eq!(seen["getUser"]["viewerIsFollowedBy"], false);
    assert_eq!(seen["getUser"]["followers"]["items"], json!([{"follower": {"nickname": "ana"}}]));
    let document = r#"{ getUser(id: "ana") { followingCount viewerFollows viewerIsFollowedBy } }"#;
    let seen = stage.ask("bo", document).await;
    let expected = json!({"followingCount": 1, "viewerFollows": false, "viewerIsFollowedBy": true});
    assert_eq!(seen["getUser"], expected);
}

#[tokio::test]
async fn a_request_waits_until_it_is_accepted() {
    let stage = Stage::of(["bo"]).await;
    stage.town.move_in("ana", |ana| ana.is_private = true).await;
    let asked = stage.ask("bo", r#"mutation { followUser(followeeId: "ana") { status } }"#).await;
    assert_eq!(asked["followUser"]["status"], "pending");
    let waiting = stage.ask("ana", "{ listFollowRequests { items { followerId } } }").await;
    assert_eq!(each(&waiting["listFollowRequests"], "followerId"), ["bo"]);
    let accept = r#"mutation { acceptFollower(followerId: "bo") { status } }"#;
    assert_eq!(stage.ask("ana", accept).await["acceptFollower"]["status"], "active");
    let reject = r#"mutation { rejectFollower(followerId: "bo") { followerId } }"#;
    stage.ask("ana", reject).await;
    let document = r#"{ isFollowing(followerId: "bo", followeeId: "ana") }"#;
    assert_eq!(stage.ask("ana", document).await["isFollowing"], false);
}

#[tokio::test]
async fn an_update_of_a_follow_keeps_what_it_does_not_mention() {
    let stage = Stage::of(["ana", "bo"]).await;
    stage.town.follow("ana", "bo").await;
    let update = |what: &str| {
        format!(
            r#"mutation {{ updateFollow(followeeId: "bo" {what}) {{ muted notificationEnabled }} }}"#
        )
    };
    let before = stage.ask("ana", &update("")).await["updateFollow"].take();
    let muted = stage.ask("ana", &update("muted: true")).await["updateFollow"].take();
    assert_eq!(muted["muted"], true);
    assert_eq!(muted["notificationEnabled"], before["notificationEnabled"]);
    let silent = stage.ask("ana", &update("notificationEnabled: false")).await;
    let expected = json!({"muted": true, "notificationEnabled": false});
    assert_eq!(silent["updateFollow"], expected);
}

#[tokio::test]
async fn blocking_ends_follows_and_can_be_taken_back() {
    let stage = Stage::of(["ana", "bo"]).await;
    stage.town.follow("bo", "ana").await;
    stage.ask("ana", r#"mutation { blockUser(userId: "bo") }"#).await;
    let seen =
        stage.ask("ana", "{ listBlocked { items { nickname } } me { followersCount } }").await;
    assert_eq!(each(&seen["listBlocked"], "nickname"), ["bo"]);
    assert_eq!(seen["me"]["followersCount"], 0);
    assert_eq!(stage.ask("bo", r#"{ getUser(id: "ana") { id } }"#).await["getUser"], Value::Null);
    stage.ask("ana", r#"mutation { unblockUser(userId: "bo") }"#).await;
    assert_eq!(stage.ask("bo", r#"{ getUser(id: "ana") { id } }"#).await["getUser"]["id"], "ana");
}

#[tokio::test]
async fn people_are_found_by_every_name_they_have() {
    let stage = Stage::of(["bo"]).await;
    stage.town.move_in("ana", |ana| ana.handle = Some("ana.runs".parse().unwrap())).await;
    let document = r#"{ nick: getUserByNickname(nickname: "ANA") { id } name: getUserByUsername(username: "ana") { id }
        handle: getUserByHandle(handle: "ana.runs") { id handle } mine: getUserByEmail(email: "bo@example.com") { id }
        theirs: getUserByEmail(email: "ana@example.com") { id } }"#;
    let found = stage.ask("bo", document).await;
    for name in ["nick", "name", "handle"] {
        assert_eq!(found[name]["id"], "ana", "{name}");
    }
    assert_eq!(found["mine"]["id"], "bo");
    assert_eq!(found["theirs"], Value::Null);
    assert_eq!(stage.ask_as(None, "{ me { id } }").await["me"], Value::Null);
}

#[tokio::test]
async fn the_follows_of_a_day_are_listed() {
    let stage = Stage::of(["ana", "bo"]).await;
    stage.town.follow("ana", "bo").await;
    let document = |day: &str| {
        format!(r#"{{ listFollowActivity(date: "{day}") {{ items {{ followeeId }} }} }}"#)
    };
    let today = stage.town.now().day().to_string();
    let follows = stage.ask("ana", &document(&today)).await["listFollowActivity"].take();
    assert_eq!(each(&follows, "followeeId"), ["bo"]);
    let none = stage.ask("ana", &document("2001-01-01")).await["listFollowActivity"].take();
    assert!(each(&none, "followeeId").is_empty());
    assert_eq!(stage.refused("ana", &document("2025-13-45")).await, "BAD_REQUEST");
}
