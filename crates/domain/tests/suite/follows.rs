//! Follows, through the service and as rows (R7, R8, R22, R39).

mod lists;
mod races;

use roundtable_domain::{Code, FollowError, PageInput, Refusal};
use roundtable_model::{FollowStatus, RequestId, Role, Shards, UserStatus};
use roundtable_testkit::Town;

/// R8: counters are exact.
#[tokio::test]
async fn following_twice_counts_once() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    town.follow("ana", "bo").await;
    assert_eq!(town.rows("USER#bo", "COUNTER#").await, ["COUNTER#FOLLOWERS count=1"]);
    assert_eq!(town.rows("USER#ana", "COUNTER#").await, ["COUNTER#FOLLOWING count=1"]);
}

/// R7: pending until accepted, and only then counted.
#[tokio::test]
async fn a_private_account_gets_a_request() {
    let town = Town::of(["ana"]).await;
    town.add_user("bo", |bo| bo.is_private = true).await;
    let requested = town.follow("ana", "bo").await;
    assert_eq!(requested.status, FollowStatus::Pending);
    assert!(town.rows("USER#bo", "COUNTER#").await.is_empty());

    let follows = town.follows();
    let requests = follows.requests(&town.caller("bo"), &PageInput::first()).await.unwrap();
    assert_eq!(requests.items.len(), 1);
    let accepted = follows.accept(&town.caller("bo"), &town.id("ana"), None).await.unwrap();
    assert_eq!(accepted.status, FollowStatus::Active);
    assert_eq!(town.rows("USER#bo", "COUNTER#").await, ["COUNTER#FOLLOWERS count=1"]);
    assert_eq!(town.rows("USER#ana", "COUNTER#").await, ["COUNTER#FOLLOWING count=1"]);

    follows.reject(&town.caller("bo"), &town.id("ana"), None).await.unwrap();
    assert!(town.rows("USER#ana", "FOLLOWING#").await.is_empty());
    assert_eq!(town.rows("USER#bo", "COUNTER#").await, ["COUNTER#FOLLOWERS count=0"]);
}

/// R39: a follower's own settings are hidden from the user who rejects them, also in a replay.
#[tokio::test]
async fn a_rejection_does_not_reveal_the_followers_settings() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    let (follows, once): (_, RequestId) = (town.follows(), "reject".parse().unwrap());
    let (ana, bo) = (town.caller("ana"), town.caller("bo"));
    follows.update(&ana, &bo.user_id, Some(true), Some(false), None, None).await.unwrap();
    for _ in 0..2 {
        let rejected = follows.reject(&bo, &ana.user_id, Some(&once)).await.unwrap();
        assert_eq!((rejected.muted, rejected.notification_enabled), (false, true));
    }
}

/// R7: a repeated request becomes a follow once the account is public.
#[tokio::test]
async fn a_request_becomes_a_follow_when_the_account_is_public() {
    let town = Town::of(["ana"]).await;
    town.add_user("bo", |bo| bo.is_private = true).await;
    town.follow("ana", "bo").await;
    assert_eq!(town.follow("ana", "bo").await.status, FollowStatus::Pending, "still private");
    town.set_private("bo", false).await;
    let version = town.circle_version("ana").await;
    for _ in 0..2 {
        assert_eq!(town.follow("ana", "bo").await.status, FollowStatus::Active);
        assert_eq!(town.rows("USER#bo", "COUNTER#").await, ["COUNTER#FOLLOWERS count=1"]);
        assert_eq!(town.rows("USER#ana", "COUNTER#").await, ["COUNTER#FOLLOWING count=1"]);
        assert_eq!(town.circle_version("ana").await, version + 1);
    }
    let follows = town.follows();
    assert!(
        follows.requests(&town.caller("bo"), &PageInput::first()).await.unwrap().items.is_empty()
    );
}

/// R7: muting and the notification switch are independent, and absent fields stay. Muting raises
/// the circle's version; the switch does not.
#[tokio::test]
async fn muting_and_notifications_are_independent() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    let (follows, ana, bo) = (town.follows(), town.caller("ana"), town.id("bo"));
    let mut version = town.circle_version("ana").await;
    for (muted, notified, expected, raised) in [
        (None, None, (false, true), 0),
        (Some(true), None, (true, true), 1),
        (None, Some(false), (true, false), 0),
        (Some(true), None, (true, false), 1),
        (Some(false), Some(true), (false, true), 1),
    ] {
        let changed = follows.update(&ana, &bo, muted, notified, None, None).await.unwrap();
        let mutes = town.mutes().among(&ana, std::slice::from_ref(&bo)).await.unwrap();
        assert_eq!((mutes[0].is_some(), changed.notification_enabled), expected);
        let listed = follows.following(Some(&ana), &ana.user_id, &PageInput::first()).await;
        assert_eq!(listed.unwrap().into_items(), [changed], "and so it is listed");
        version += raised;
        assert_eq!(town.circle_version("ana").await, version, "{muted:?} {notified:?}");
    }
    let missing =
        follows.update(&town.caller("bo"), &town.id("ana"), Some(true), None, None, None).await;
    assert!(matches!(missing, Err(FollowError::NotFollowing)));
}

/// R32: the same id has the effect of one; with other input it is an error.
#[tokio::test]
async fn a_repeated_request_has_the_effect_of_one() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (follows, ana, bo) = (town.follows(), town.caller("ana"), town.id("bo"));
    let once: RequestId = "request-1".parse().unwrap();
    follows.follow(&ana, &bo, Some(&once)).await.unwrap();
    let twice: RequestId = "request-2".parse().unwrap();
    let removed = follows.unfollow(&ana, &bo, Some(&twice)).await.unwrap();
    let again = follows.unfollow(&ana, &bo, Some(&twice)).await.unwrap();
    assert_eq!(removed, again);
    assert_eq!(town.rows("USER#bo", "COUNTER#").await, ["COUNTER#FOLLOWERS count=0"]);
    let other = follows.unfollow(&ana, &town.id("cleo"), Some(&twice)).await.unwrap_err();
    assert_eq!(other.code(), Code::IdempotencyMismatch);
    // Nor does a repetition of a request that changed nothing.
    let late: RequestId = "request-3".parse().unwrap();
    follows.follow(&ana, &town.id("cleo"), None).await.unwrap();
    follows.follow(&ana, &town.id("cleo"), Some(&late)).await.unwrap();
    follows.unfollow(&ana, &town.id("cleo"), None).await.unwrap();
    let replay = follows.follow(&ana, &town.id("cleo"), Some(&late)).await.unwrap_err();
    assert_eq!(replay.code(), Code::NotFound);
    // The follow has been removed, and the repetition does not restore it.
    let replay = follows.follow(&ana, &bo, Some(&once)).await.unwrap_err();
    assert_eq!(replay.code(), Code::NotFound);
}

/// R39: followers are sharded.
#[tokio::test]
async fn follower_shards_can_be_added_while_in_use() {
    let town = Town::of(["star", "f1", "f2", "f3", "f4"]).await;
    town.follow("f1", "star").await;
    let shards = Shards::new(4).unwrap();
    town.grow_follower_shards("star", shards).await;
    for fan in ["f2", "f3", "f4"] {
        town.follow(fan, "star").await;
    }
    let page = town.follows().followers(None, &town.id("star"), &PageInput::first()).await.unwrap();
    let fans: Vec<String> =
        page.into_items().iter().map(|follow| follow.follower_id.to_string()).collect();
    assert_eq!(fans, ["f1", "f2", "f3", "f4"]);
    town.follows().unfollow(&town.caller("f1"), &town.id("star"), None).await.unwrap();
    let counted: usize = town
        .rows("USER#star", "COUNTER#FOLLOWERS")
        .await
        .iter()
        .filter_map(|row| row.split("count=").nth(1)?.parse::<usize>().ok())
        .sum();
    assert_eq!(counted, 3);
}

#[tokio::test]
async fn invalid_follows_are_refused() {
    let town = Town::of(["ana"]).await;
    let (follows, ana) = (town.follows(), town.caller("ana"));
    let yourself = follows.follow(&ana, &town.id("ana"), None).await;
    assert!(matches!(yourself, Err(FollowError::Yourself)));
    let missing = follows.follow(&ana, &town.id("nobody"), None).await;
    assert!(matches!(missing, Err(FollowError::NoSuchUser)));
    let stranger = follows.follow(&town.caller("stranger"), &town.id("ana"), None).await;
    assert_eq!(stranger.unwrap_err().code(), Code::Unauthenticated);
}

/// R7: staff see users who have blocked them or are suspended, but cannot follow them.
#[tokio::test]
async fn staff_cannot_follow_users_who_blocked_them() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    town.block("ana", "mo").await;
    town.set_status("bo", UserStatus::Suspended).await;
    let mo = town.staff("mo", Role::Moderator);
    for name in ["ana", "bo"] {
        let refused = town.follows().follow(&mo, &town.id(name), None).await;
        assert!(matches!(refused, Err(FollowError::NoSuchUser)), "{name}");
    }
    assert!(town.rows("USER#mo", "FOLLOWING#").await.is_empty());
}
