//! Follows and blocks.

use serde_json::{Value, json};

use crate::api_town::{ApiTown, fields};

#[tokio::test]
async fn a_follow_is_visible_from_both_ends_and_counted() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let document = r#"mutation { followUser(followeeId: "bo") {
        followerId followeeId status muted notificationEnabled follower { nickname } followee { nickname } } }"#;
    let follow = api.run("ana", document).await["followUser"].take();
    assert_eq!(follow["status"], "active");
    assert_eq!(follow["followee"]["nickname"], "bo");
    let document = r#"{ getUser(id: "bo") { followersCount viewerFollows viewerIsFollowedBy
        followers { items { follower { nickname } } } } isFollowing(followerId: "ana", followeeId: "bo") }"#;
    let seen = api.run("ana", document).await;
    assert_eq!(seen["isFollowing"], true);
    assert_eq!(seen["getUser"]["followersCount"], 1);
    assert_eq!(seen["getUser"]["viewerFollows"], true);
    assert_eq!(seen["getUser"]["viewerIsFollowedBy"], false);
    assert_eq!(seen["getUser"]["followers"]["items"], json!([{"follower": {"nickname": "ana"}}]));
    let document = r#"{ getUser(id: "ana") { followingCount viewerFollows viewerIsFollowedBy } }"#;
    let seen = api.run("bo", document).await;
    let expected = json!({"followingCount": 1, "viewerFollows": false, "viewerIsFollowedBy": true});
    assert_eq!(seen["getUser"], expected);
}

#[tokio::test]
async fn a_follow_or_a_request_can_be_taken_back() {
    let api = ApiTown::of(["ana", "bo"]).await;
    api.town.add_user("pia", |pia| pia.is_private = true).await;
    let unfollow = |name: &str| {
        format!(r#"mutation {{ unfollowUser(followeeId: "{name}") {{ followeeId status }} }}"#)
    };
    for (name, status) in [("bo", "active"), ("pia", "pending")] {
        api.town.follow("ana", name).await;
        let was = json!({ "followeeId": name, "status": status });
        assert_eq!(api.run("ana", &unfollow(name)).await["unfollowUser"], was);
        assert_eq!(api.error_code("ana", &unfollow(name)).await, "NOT_FOUND");
    }
    let document = r#"{ isFollowing(followerId: "ana", followeeId: "bo") me { followingCount }
        getUser(id: "bo") { followersCount viewerFollows } }"#;
    let expected = json!({ "isFollowing": false, "me": { "followingCount": 0 },
        "getUser": { "followersCount": 0, "viewerFollows": false } });
    assert_eq!(api.run("ana", document).await, expected);
    let waiting = api.run("pia", "{ listFollowRequests { items { followerId } } }").await;
    assert_eq!(waiting["listFollowRequests"]["items"], json!([]));
}

#[tokio::test]
async fn nobody_follows_themselves() {
    let api = ApiTown::of(["ana", "bo"]).await;
    api.town.follow("ana", "bo").await;
    // The feed remembers the people in it, and the reader is one of them.
    let document = "{ getFeed { nextToken } me { viewerFollows viewerIsFollowedBy } }";
    for _ in 0..2 {
        let me = api.run("ana", document).await["me"].take();
        assert_eq!(me, json!({"viewerFollows": false, "viewerIsFollowedBy": false}));
    }
}

#[tokio::test]
async fn a_follow_request_is_pending_until_it_is_accepted() {
    let api = ApiTown::of(["bo"]).await;
    api.town.add_user("ana", |ana| ana.is_private = true).await;
    let requested = api.run("bo", r#"mutation { followUser(followeeId: "ana") { status } }"#).await;
    assert_eq!(requested["followUser"]["status"], "pending");
    let waiting = api.run("ana", "{ listFollowRequests { items { followerId } } }").await;
    assert_eq!(fields(&waiting["listFollowRequests"], "followerId"), ["bo"]);
    let accept = r#"mutation { acceptFollower(followerId: "bo") { status } }"#;
    assert_eq!(api.run("ana", accept).await["acceptFollower"]["status"], "active");
    let reject = r#"mutation { rejectFollower(followerId: "bo") { followerId } }"#;
    api.run("ana", reject).await;
    let document = r#"{ isFollowing(followerId: "bo", followeeId: "ana") }"#;
    assert_eq!(api.run("ana", document).await["isFollowing"], false);
}

#[tokio::test]
async fn an_update_of_a_follow_keeps_absent_fields() {
    let api = ApiTown::of(["ana", "bo"]).await;
    api.town.follow("ana", "bo").await;
    let update = |what: &str| {
        format!(
            r#"mutation {{ updateFollow(followeeId: "bo" {what}) {{ muted notificationEnabled }} }}"#
        )
    };
    let before = api.run("ana", &update("")).await["updateFollow"].take();
    let muted = api.run("ana", &update("muted: true")).await["updateFollow"].take();
    assert_eq!(muted["muted"], true);
    assert_eq!(muted["notificationEnabled"], before["notificationEnabled"]);
    let silent = api.run("ana", &update("notificationEnabled: false")).await;
    let expected = json!({"muted": true, "notificationEnabled": false});
    assert_eq!(silent["updateFollow"], expected);
    // R54: new posts are notified of on request.
    let notify = |what: &str| {
        format!(r#"mutation {{ updateFollow(followeeId: "bo" {what}) {{ notifyPosts muted }} }}"#)
    };
    for (what, expected) in
        [("", false), ("notifyPosts: true", true), ("notifyPosts: false", false)]
    {
        let follow = api.run("ana", &notify(what)).await["updateFollow"].take();
        assert_eq!(follow, json!({"notifyPosts": expected, "muted": true}), "{what}");
    }
}

/// R49
#[tokio::test]
async fn anyone_can_be_muted_and_listed() {
    let api = ApiTown::of(["ana", "bo", "cleo"]).await;
    api.town.follow("ana", "bo").await;
    let until = api.town.now().plus_ms(3_600_000).to_string();
    let mute = format!(
        r#"mutation {{ muteUser(userId: "cleo", until: "{until}", requestId: "1")
            {{ userId until user {{ nickname }} createdAt }} }}"#
    );
    let muted = api.run("ana", &mute).await["muteUser"].take();
    assert_eq!((&muted["userId"], &muted["user"]["nickname"]), (&json!("cleo"), &json!("cleo")));
    assert_eq!((&muted["until"], &muted["createdAt"]), (&json!(until), &json!(api.town.now())));
    let forever = r#"mutation { muteUser(userId: "bo") { until } }"#;
    assert_eq!(api.run("ana", forever).await["muteUser"]["until"], Value::Null);
    let list = "{ listMuted { items { userId until } } listFollowing { items { muted } } }";
    let seen = api.run("ana", list).await;
    assert_eq!(fields(&seen["listMuted"], "userId"), ["bo", "cleo"]);
    assert_eq!(seen["listFollowing"]["items"][0]["muted"], true);
    // The muted user sees no difference.
    let theirs = "{ listMuted { items { userId } } listFollowers { items { muted } } }";
    let theirs = api.run("bo", theirs).await;
    assert_eq!(theirs["listMuted"]["items"], json!([]));
    assert_eq!(theirs["listFollowers"]["items"][0]["muted"], false);
    let unmute = r#"mutation { unmuteUser(userId: "bo") { userId } }"#;
    assert_eq!(api.run("ana", unmute).await["unmuteUser"]["userId"], "bo");
    assert_eq!(api.error_code("ana", unmute).await, "NOT_FOUND");
    let past = r#"mutation { muteUser(userId: "bo", until: "2001-01-01T00:00:00Z") { until } }"#;
    assert_eq!(api.error_code("ana", past).await, "BAD_REQUEST");
    let seen = api.run("ana", list).await;
    assert_eq!(fields(&seen["listMuted"], "userId"), ["cleo"]);
    assert_eq!(seen["listFollowing"]["items"][0]["muted"], false);
}

#[tokio::test]
async fn blocking_ends_follows_and_can_be_undone() {
    let api = ApiTown::of(["ana", "bo"]).await;
    api.town.follow("bo", "ana").await;
    api.run("ana", r#"mutation { blockUser(userId: "bo") }"#).await;
    let seen = api.run("ana", "{ listBlocked { items { nickname } } me { followersCount } }").await;
    assert_eq!(fields(&seen["listBlocked"], "nickname"), ["bo"]);
    assert_eq!(seen["me"]["followersCount"], 0);
    assert_eq!(api.run("bo", r#"{ getUser(id: "ana") { id } }"#).await["getUser"], Value::Null);
    api.run("ana", r#"mutation { unblockUser(userId: "bo") }"#).await;
    assert_eq!(api.run("bo", r#"{ getUser(id: "ana") { id } }"#).await["getUser"]["id"], "ana");
}

#[tokio::test]
async fn users_are_found_by_all_their_names() {
    let api = ApiTown::of(["bo"]).await;
    api.town.add_user("ana", |ana| ana.handle = Some("ana.runs".parse().unwrap())).await;
    let document = r#"{ nick: getUserByNickname(nickname: "ANA") { id } name: getUserByUsername(username: "ana") { id }
        handle: getUserByHandle(handle: "ana.runs") { id handle } mine: getUserByEmail(email: "bo@example.com") { id }
        theirs: getUserByEmail(email: "ana@example.com") { id } }"#;
    let found = api.run("bo", document).await;
    for name in ["nick", "name", "handle"] {
        assert_eq!(found[name]["id"], "ana", "{name}");
    }
    assert_eq!(found["mine"]["id"], "bo");
    assert_eq!(found["theirs"], Value::Null);
    assert_eq!(api.run_as(None, "{ me { id } }").await["me"], Value::Null);
}

#[tokio::test]
async fn the_follows_of_a_day_are_listed() {
    let api = ApiTown::of(["ana", "bo"]).await;
    api.town.follow("ana", "bo").await;
    let document = |day: &str| {
        format!(r#"{{ listFollowActivity(date: "{day}") {{ items {{ followeeId }} }} }}"#)
    };
    let today = api.town.now().day().to_string();
    let follows = api.run("ana", &document(&today)).await["listFollowActivity"].take();
    assert_eq!(fields(&follows, "followeeId"), ["bo"]);
    let none = api.run("ana", &document("2001-01-01")).await["listFollowActivity"].take();
    assert!(fields(&none, "followeeId").is_empty());
    assert_eq!(api.error_code("ana", &document("2025-13-45")).await, "BAD_REQUEST");
}
