//! Feeds that have become too long are trimmed without losing anything (R40).

use roundtable_domain::{FeedPolicy, FeedSettings};
use roundtable_model::Entity;
use roundtable_model::Time;
use roundtable_model::entities::FeedHorizon;

use crate::feed_fixture::{FeedFixture, actor, count, queue_metrics, seconds};
use crate::refusing_backend::RefusedWrite;
use crate::test_store::BEGIN_MS;

/// R40
#[tokio::test]
async fn a_feed_that_is_too_long_is_trimmed() {
    let names = ["ana", "bo", "cleo"];
    let far = FeedFixture::dynoxide(short_feeds, names).await;
    for fixture in [FeedFixture::with(short_feeds, names).await, far] {
        fixture.town.follow("bo", "ana").await;
        fixture.town.follow("bo", "cleo").await;
        fixture.town.follow("cleo", "ana").await;
        for number in 0..4 {
            fixture.town.post("ana", &format!("post {number}")).await;
            fixture.town.post("cleo", &format!("post {number}")).await;
        }
        let runner = fixture.runner();
        runner.drain().await.unwrap();
        assert_eq!(fixture.feed("bo").await, [5, 6, 7]);
        assert_eq!(horizon(&fixture, "bo").await, Some(5));
        assert_eq!(fixture.feed("cleo").await, [2, 4, 6]);
        assert_eq!(horizon(&fixture, "cleo").await, Some(2));
        assert_eq!((horizon(&fixture, "ana").await, fixture.feed("ana").await), (None, vec![]));
        assert_eq!(fixture.watermark(&actor("ana")).await, Some((0, 6)));
        // Two concurrent trims may both have found the same items.
        assert!(count(&queue_metrics(&runner), "feed items trimmed") >= 6);
    }
}

/// R40: the horizon is raised before items are removed. In between, everything still exists.
#[tokio::test]
async fn the_horizon_is_raised_before_items_are_removed() {
    let fixture = FeedFixture::with(short_feeds, ["ana", "bo"]).await;
    fixture.town.follow("bo", "ana").await;
    fixture.store.refuse(RefusedWrite::Deletes, "FEED#bo");
    for number in 0..5 {
        fixture.town.post("ana", &format!("post {number}")).await;
    }
    let runner = fixture.runner();
    runner.drain().await.unwrap();
    assert_eq!(
        (fixture.feed("bo").await, horizon(&fixture, "bo").await),
        (vec![0, 1, 2, 3, 4], Some(2))
    );
    assert_eq!(fixture.watermark(&actor("ana")).await, None, "the page is not done");
    fixture.store.heal();
    runner.dead_letters().redrive_all(10).await.unwrap();
    runner.drain().await.unwrap();
    assert_eq!((fixture.feed("bo").await, horizon(&fixture, "bo").await), (vec![2, 3, 4], Some(2)));
    assert_eq!(fixture.watermark(&actor("ana")).await, Some((0, 4)));
}

/// Copies written after the feed was trimmed past them do not lower its horizon.
#[tokio::test]
async fn a_horizon_never_falls() {
    let fixture = FeedFixture::with(short_feeds, ["ana", "bo", "cleo"]).await;
    fixture.town.follow("bo", "ana").await;
    fixture.town.follow("bo", "cleo").await;
    let later =
        FeedHorizon { user_id: fixture.town.id("bo"), oldest: Time::from_ms(BEGIN_MS + 90_000) };
    fixture.town.context().core().table().put(later.put()).await.unwrap();
    for number in 0..5 {
        fixture.town.post("ana", &format!("post {number}")).await;
    }
    fixture.settle().await;
    assert_eq!(
        (fixture.feed("bo").await, horizon(&fixture, "bo").await),
        (vec![2, 3, 4], Some(90))
    );
}

/// Only some copies check the length of their feed, always the same ones.
#[tokio::test]
async fn one_in_several_copies_checks_the_length() {
    let trimmed = async |one_in| {
        let change = |feed: &mut FeedSettings| {
            short_feeds(feed);
            (feed.cap, feed.trim_one_in) = (1, one_in);
        };
        let fixture = FeedFixture::with(change, ["ana", "bo"]).await;
        fixture.town.follow("bo", "ana").await;
        let mut cut = Vec::new();
        for number in 0..40 {
            fixture.town.post("ana", &format!("post {number}")).await;
            let runner = fixture.small_steps(1_000);
            runner.drain().await.unwrap();
            cut.push(count(&queue_metrics(&runner), "feed items trimmed"));
        }
        cut
    };
    let always = trimmed(1).await;
    assert!(always[1..].iter().all(|cut| *cut == 1), "{always:?}");
    let (seldom, again) = (trimmed(4).await, trimmed(4).await);
    let looks = seldom.iter().filter(|cut| **cut > 0).count();
    assert!((3..20).contains(&looks), "{seldom:?}");
    assert_eq!(seldom, again);
}

/// All activities are copied, into feeds of three items that are always checked.
fn short_feeds(feed: &mut FeedSettings) {
    (feed.policy, feed.cap, feed.trim_one_in) = (FeedPolicy::Push, 3, 1);
}

async fn horizon(fixture: &FeedFixture, name: &str) -> Option<u64> {
    let horizon = fixture.town.context().core().feed_horizon(&fixture.town.id(name)).get().await;
    horizon.unwrap().map(|horizon| seconds(horizon.oldest))
}
