//! Blocks, through the service and as rows (R7, R22, R32, R33).

use roundtable_domain::{BlockError, Blocks, Code, FollowError, Follows, PageInput, Refusal};
use roundtable_model::{RequestId, UserStatus};
use roundtable_testkit::Town;

/// R7, R33: the block, both follows, their counters and both circles' versions are one transaction.
#[tokio::test]
async fn a_block_ends_both_follows() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    town.follow("bo", "ana").await;
    let before = (town.circle_version("ana").await, town.circle_version("bo").await);
    town.block("ana", "bo").await;
    for person in ["USER#ana", "USER#bo"] {
        assert!(town.rows(person, "FOLLOWING#").await.is_empty());
        let counters = ["COUNTER#FOLLOWERS count=0", "COUNTER#FOLLOWING count=0"];
        assert_eq!(town.rows(person, "COUNTER#").await, counters);
    }
    assert_eq!(town.rows("USER#ana", "BLOCK#").await, ["BLOCK#bo"]);
    let after = (town.circle_version("ana").await, town.circle_version("bo").await);
    assert_eq!(after, (before.0 + 1, before.1 + 1), "each circle changed once");
}

/// R7: a block without any follow raises both circles' versions.
#[tokio::test]
async fn a_user_without_follows_can_be_blocked_and_unblocked() {
    let town = Town::of(["ana", "bo"]).await;
    town.block("ana", "bo").await;
    assert_eq!((town.circle_version("ana").await, town.circle_version("bo").await), (1, 1));
    town.blocks().unblock(&town.caller("ana"), &town.id("bo"), None).await.unwrap();
    assert_eq!((town.circle_version("ana").await, town.circle_version("bo").await), (2, 2));
    assert!(town.rows("USER#ana", "BLOCK#").await.is_empty());
    assert_eq!(town.rows("USER#bo", "COUNTER#").await, ["COUNTER#FOLLOWING count=0"]);
    town.follow("bo", "ana").await;
}

/// R7: pending requests in either direction are removed, and were never counted.
#[tokio::test]
async fn a_block_ends_requests() {
    let town = Town::of([]).await;
    for name in ["ana", "bo"] {
        town.add_user(name, |person| person.is_private = true).await;
    }
    town.follow("ana", "bo").await;
    town.follow("bo", "ana").await;
    town.block("ana", "bo").await;
    for person in ["USER#ana", "USER#bo"] {
        assert!(town.rows(person, "FOLLOWING#").await.is_empty());
        assert_eq!(town.rows(person, "COUNTER#").await, ["COUNTER#FOLLOWING count=0"]);
    }
}

/// R7, R22: a block hides both users from each other at the next read.
#[tokio::test]
async fn neither_sees_the_other() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.follow("ana", "cleo").await;
    town.follow("bo", "cleo").await;
    town.block("ana", "bo").await;
    let follows = town.follows();
    for (viewer, other) in [("ana", "bo"), ("bo", "ana")] {
        let (viewer, other) = (town.caller(viewer), town.id(other));
        let list = follows.following(Some(&viewer), &other, &PageInput::first()).await;
        assert!(matches!(list, Err(FollowError::NoSuchUser)));
        let follow = follows.follow(&viewer, &other, None).await;
        assert!(matches!(follow, Err(FollowError::NoSuchUser)));
        let fans = follows.followers(Some(&viewer), &town.id("cleo"), &PageInput::first()).await;
        let fans = fans.unwrap().into_items();
        assert_eq!(fans.len(), 1, "only the viewer is left");
        assert_eq!(fans[0].follower_id, viewer.user_id);
    }
}

/// R32: requests are idempotent.
#[tokio::test]
async fn a_repeated_request_has_the_effect_of_one() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (blocks, ana, bo) = (town.blocks(), town.caller("ana"), town.id("bo"));
    let first: RequestId = "request-1".parse().unwrap();
    let block = blocks.block(&ana, &bo, Some(&first)).await.unwrap();
    assert_eq!(blocks.block(&ana, &bo, Some(&first)).await.unwrap(), block);
    assert_eq!(blocks.block(&ana, &bo, None).await.unwrap(), block, "blocking twice is once");
    assert_eq!(town.circle_version("bo").await, 1);
    let other = blocks.block(&ana, &town.id("cleo"), Some(&first)).await.unwrap_err();
    assert_eq!(other.code(), Code::IdempotencyMismatch);

    let second: RequestId = "request-2".parse().unwrap();
    assert_eq!(blocks.unblock(&ana, &bo, Some(&second)).await.unwrap(), block);
    assert_eq!(blocks.unblock(&ana, &bo, Some(&second)).await.unwrap(), block);
    assert_eq!(town.circle_version("bo").await, 2);
    let replay = blocks.block(&ana, &bo, Some(&first)).await.unwrap_err();
    assert_eq!(replay.code(), Code::NotFound, "the block was removed and is not restored");
    assert!(town.rows("USER#ana", "BLOCK#").await.is_empty());
}

/// R7: a user who has blocked the caller can be blocked.
#[tokio::test]
async fn a_blocking_user_can_be_blocked() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.add_user("dora", |dora| dora.bio = Some("secret".into())).await;
    town.block("dora", "ana").await;
    for name in ["bo", "cleo", "dora"] {
        town.block("ana", name).await;
    }
    let ana = town.caller("ana");
    let first = PageInput { limit: Some(2), after: None };
    let page = town.blocks().list(&ana, &first).await.unwrap();
    let rest = PageInput { limit: Some(2), after: page.next.clone() };
    let rest = town.blocks().list(&ana, &rest).await.unwrap();
    assert!(rest.next.is_none());
    let listed: Vec<_> = page.into_items().into_iter().chain(rest.into_items()).collect();
    let names: Vec<&str> = listed.iter().map(|person| person.nickname.as_str()).collect();
    assert_eq!(names, ["bo", "cleo", "dora"]);
    assert!(listed[0].bio.is_some() && listed[2].bio.is_none(), "of who blocked her, only names");
}

/// R7: hidden users are not listed until they are visible again.
#[tokio::test]
async fn deleted_and_suspended_users_are_not_listed() {
    let town = Town::of(["ana", "bo"]).await;
    town.block("ana", "bo").await;
    for (status, listed) in
        [(UserStatus::Suspended, 0), (UserStatus::Active, 1), (UserStatus::Deleted, 0)]
    {
        town.set_status("bo", status).await;
        let page = town.blocks().list(&town.caller("ana"), &PageInput::first()).await.unwrap();
        assert_eq!(page.items.len(), listed, "{status}");
    }
}

#[tokio::test]
async fn invalid_blocks_are_refused() {
    let town = Town::of(["ana", "bo"]).await;
    town.add_user("gone", |deleted| deleted.status = UserStatus::Deleted).await;
    town.add_user("sus", |sus| sus.status = UserStatus::Suspended).await;
    let (blocks, ana) = (town.blocks(), town.caller("ana"));
    let yourself = blocks.block(&ana, &town.id("ana"), None).await;
    assert!(matches!(yourself, Err(BlockError::Yourself)));
    for missing in ["nobody", "gone", "sus"] {
        let refused = blocks.block(&ana, &town.id(missing), None).await;
        assert!(matches!(refused, Err(BlockError::NoSuchUser)), "{missing}");
    }
    let unblocked = blocks.unblock(&ana, &town.id("bo"), None).await;
    assert!(matches!(unblocked, Err(BlockError::NotBlocked)));
    for (caller, code) in [("stranger", Code::Unauthenticated), ("sus", Code::Forbidden)] {
        let refused = blocks.block(&town.caller(caller), &town.id("bo"), None).await;
        assert_eq!(refused.unwrap_err().code(), code);
        let refused = blocks.list(&town.caller(caller), &PageInput::first()).await;
        assert_eq!(refused.unwrap_err().code(), code);
    }
}

async fn town_of_two(private: bool) -> Town {
    let town = Town::of(["ana"]).await;
    town.add_user("bo", |bo| bo.is_private = private).await;
    town
}

/// R33: a follow or request created during a block does not outlive it.
#[tokio::test]
async fn no_follow_made_during_a_block_outlives_it() {
    for private in [false, true] {
        for gap in 1.. {
            let town = town_of_two(private).await;
            let (follows, ana, bo) = (town.follows(), town.caller("ana"), town.id("bo"));
            let (context, follow) = town.interleave(gap, async move || {
                // Refused after the block.
                follows.follow(&ana, &bo, None).await.ok();
            });
            Blocks::new(context).block(&town.caller("bo"), &town.id("ana"), None).await.unwrap();
            assert_eq!(town.rows("USER#bo", "BLOCK#").await, ["BLOCK#ana"]);
            assert!(town.rows("USER#ana", "FOLLOWING#").await.is_empty(), "{private} {gap}");
            let counted = town.rows("USER#bo", "COUNTER#FOLLOWERS").await;
            assert!(counted.iter().all(|row| row.ends_with("count=0")), "{counted:?}");
            if !follow.happened() {
                break;
            }
        }
    }
}

/// R33: nor does one that is in progress when the block is created.
#[tokio::test]
async fn no_follow_in_progress_outlives_a_block() {
    for private in [false, true] {
        for gap in 1.. {
            let town = town_of_two(private).await;
            let (blocks, ana, bo) = (town.blocks(), town.id("ana"), town.caller("bo"));
            let (context, block) = town.interleave(gap, async move || {
                blocks.block(&bo, &ana, None).await.unwrap();
            });
            let (follows, ana) = (Follows::new(context), town.caller("ana"));
            let followed = follows.follow(&ana, &town.id("bo"), None).await;
            let edges = town.rows("USER#ana", "FOLLOWING#").await;
            assert_eq!(edges.is_empty(), block.happened(), "{private} {gap}");
            if !block.happened() {
                followed.unwrap();
                break;
            }
        }
    }
}
