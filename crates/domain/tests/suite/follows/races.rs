//! Concurrent changes during a follow (R7, R8, R33).

use std::sync::Arc;

use roundtable_domain::{FollowError, Follows};
use roundtable_model::{FollowStatus, UserStatus};
use roundtable_testkit::Town;

/// R7, R33: an account that becomes private during a follow gets a request, or was followed before.
#[tokio::test]
async fn no_follow_bypasses_an_account_that_becomes_private() {
    let mut in_time = 0;
    for gap in 1.. {
        let town = Arc::new(Town::of(["ana", "bo"]).await);
        let other = town.clone();
        let (context, meanwhile) = town.interleave(gap, async move || {
            other.set_private("bo", true).await;
        });
        let edge = Follows::new(context).follow(&town.caller("ana"), &town.id("bo"), None).await;
        let counted = town.rows("USER#bo", "COUNTER#").await.len();
        let active = edge.unwrap().status == FollowStatus::Active;
        assert_eq!(counted, usize::from(active), "{gap}");
        if !meanwhile.happened() {
            break;
        }
        in_time += usize::from(active);
    }
    assert_eq!(in_time, 1, "only when the follow is there first");
}

/// R33: an account deleted during a follow gets neither a follower nor its counters back.
#[tokio::test]
async fn a_deleted_account_gets_no_follower() {
    let mut in_time = 0;
    for gap in 1.. {
        let town = Arc::new(Town::of(["ana", "bo"]).await);
        let other = town.clone();
        let (context, meanwhile) = town.interleave(gap, async move || {
            other.set_status("bo", UserStatus::Deleted).await;
        });
        let edge = Follows::new(context).follow(&town.caller("ana"), &town.id("bo"), None).await;
        if !meanwhile.happened() {
            break;
        }
        let rows = [("USER#ana", "FOLLOWING#"), ("USER#ana", "COUNTER#"), ("USER#bo", "COUNTER#")];
        for (partition, prefix) in rows {
            assert_eq!(town.rows(partition, prefix).await.is_empty(), edge.is_err(), "{gap}");
        }
        in_time += usize::from(edge.is_ok());
        assert!(matches!(edge, Ok(_) | Err(FollowError::NoSuchUser)), "{gap}");
    }
    assert_eq!(in_time, 1, "only when the follow is there first");
}

/// R7, R33: one device mutes while another switches notifications off: both changes hold.
#[tokio::test]
async fn two_devices_change_a_follow() {
    for gap in 1.. {
        let town = Arc::new(Town::of(["ana", "bo"]).await);
        town.follow("ana", "bo").await;
        let (other, ana, bo) = (town.follows(), town.caller("ana"), town.id("bo"));
        let (context, meanwhile) = town.interleave(gap, async move || {
            other.update(&ana, &bo, None, Some(false), None).await.unwrap();
        });
        let (ana, bo) = (town.caller("ana"), town.id("bo"));
        Follows::new(context).update(&ana, &bo, Some(true), None, None).await.unwrap();
        if !meanwhile.happened() {
            break;
        }
        let now = town.context().core().follows(&ana.user_id, &bo).get().await.unwrap().unwrap();
        let mutes = town.mutes().among(&ana, std::slice::from_ref(&bo)).await.unwrap();
        assert_eq!((mutes[0].is_some(), now.notification_enabled), (true, false), "{gap}");
    }
}

/// R7: two devices that mute and unmute both raise the circle's version: neither is left with an
/// old one.
#[tokio::test]
async fn two_devices_mute_and_unmute() {
    for gap in 1.. {
        let town = Arc::new(Town::of(["ana", "bo"]).await);
        town.follow("ana", "bo").await;
        let version = town.circle_version("ana").await;
        let (other, ana, bo) = (town.follows(), town.caller("ana"), town.id("bo"));
        let (context, meanwhile) = town.interleave(gap, async move || {
            other.update(&ana, &bo, Some(true), None, None).await.unwrap();
        });
        let (ana, bo) = (town.caller("ana"), town.id("bo"));
        Follows::new(context).update(&ana, &bo, Some(false), None, None).await.unwrap();
        if !meanwhile.happened() {
            break;
        }
        assert_eq!(town.circle_version("ana").await, version + 2, "{gap}");
    }
}
