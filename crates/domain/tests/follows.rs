//! Follows, as people see them and as rows (R7, R8, R22, R39).

use roundtable_domain::{Code, FollowError, PageInput, Refusal};
use roundtable_model::{FollowStatus, RequestId, Shards};
use roundtable_testkit::Town;

/// R8
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
async fn a_private_account_is_asked() {
    let town = Town::of(["ana"]).await;
    town.move_in("bo", |bo| bo.is_private = true).await;
    let asked = town.follow("ana", "bo").await;
    assert_eq!(asked.status, FollowStatus::Pending);
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
    // Nor does the repetition of one that found everything done already.
    let late: RequestId = "request-3".parse().unwrap();
    follows.follow(&ana, &town.id("cleo"), None).await.unwrap();
    follows.follow(&ana, &town.id("cleo"), Some(&late)).await.unwrap();
    follows.unfollow(&ana, &town.id("cleo"), None).await.unwrap();
    let replay = follows.follow(&ana, &town.id("cleo"), Some(&late)).await.unwrap_err();
    assert_eq!(replay.code(), Code::NotFound);
    // The follow of the first request is gone by now, and its repetition does not bring it back.
    let replay = follows.follow(&ana, &bo, Some(&once)).await.unwrap_err();
    assert_eq!(replay.code(), Code::NotFound);
}

/// R39
#[tokio::test]
async fn shards_can_be_added_while_people_follow() {
    let town = Town::of(["star", "f1", "f2", "f3", "f4"]).await;
    town.follow("f1", "star").await;
    let shards = Shards::new(4).unwrap();
    town.follows().grow_shards(&town.id("star"), shards).await.unwrap();
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
async fn what_cannot_be_followed_is_refused() {
    let town = Town::of(["ana"]).await;
    let (follows, ana) = (town.follows(), town.caller("ana"));
    let yourself = follows.follow(&ana, &town.id("ana"), None).await;
    assert!(matches!(yourself, Err(FollowError::Yourself)));
    let nobody = follows.follow(&ana, &town.id("nobody"), None).await;
    assert!(matches!(nobody, Err(FollowError::NoSuchUser)));
    let stranger = follows.follow(&town.caller("stranger"), &town.id("ana"), None).await;
    assert_eq!(stranger.unwrap_err().code(), Code::Unauthenticated);
}
