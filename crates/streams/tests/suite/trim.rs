//! Feeds that have become too long are cut, and nothing is lost by it (R40).

use roundtable_domain::{FeedPolicy, FeedSettings};
use roundtable_model::Entity;
use roundtable_model::Time;
use roundtable_model::entities::FeedHorizon;

use crate::refusing::Refused;
use crate::scene::{Scene, actor, count, figures, seconds};
use crate::stage::BEGIN_MS;

/// R40: a feed is cut behind its horizon.
#[tokio::test]
async fn a_feed_that_is_too_long_is_cut() {
    let names = ["ana", "bo", "cleo"];
    let far = Scene::dynoxide(short_feeds, names).await;
    for scene in [Scene::with(short_feeds, names).await, far] {
        scene.town.follow("bo", "ana").await;
        scene.town.follow("bo", "cleo").await;
        scene.town.follow("cleo", "ana").await;
        for number in 0..4 {
            scene.town.post("ana", &format!("post {number}")).await;
            scene.town.post("cleo", &format!("post {number}")).await;
        }
        let runner = scene.runner();
        runner.drain().await.unwrap();
        assert_eq!(scene.feed("bo").await, [5, 6, 7]);
        assert_eq!(horizon(&scene, "bo").await, Some(5));
        assert_eq!(scene.feed("cleo").await, [2, 4, 6]);
        assert_eq!(horizon(&scene, "cleo").await, Some(2));
        assert_eq!((horizon(&scene, "ana").await, scene.feed("ana").await), (None, vec![]));
        assert_eq!(scene.mark(&actor("ana")).await, Some((0, 6)));
        // Two who cut at the same time may both have found the same.
        assert!(count(&figures(&runner), "feed items trimmed") >= 6);
    }
}

/// R40: what is gone has been told of before. Between the two, everything is still there.
#[tokio::test]
async fn the_horizon_is_raised_before_anything_is_cut() {
    let scene = Scene::with(short_feeds, ["ana", "bo"]).await;
    scene.town.follow("bo", "ana").await;
    scene.store.refuse(Refused::Deletes, "FEED#bo");
    for number in 0..5 {
        scene.town.post("ana", &format!("post {number}")).await;
    }
    let runner = scene.runner();
    runner.drain().await.unwrap();
    assert_eq!(
        (scene.feed("bo").await, horizon(&scene, "bo").await),
        (vec![0, 1, 2, 3, 4], Some(2))
    );
    assert_eq!(scene.mark(&actor("ana")).await, None, "the page is not done");
    scene.store.heal();
    runner.dead_letters().redrive_all(10).await.unwrap();
    runner.drain().await.unwrap();
    assert_eq!((scene.feed("bo").await, horizon(&scene, "bo").await), (vec![2, 3, 4], Some(2)));
    assert_eq!(scene.mark(&actor("ana")).await, Some((0, 4)));
}

/// Copies that come after the feed was cut behind them are no reason to lower its horizon.
#[tokio::test]
async fn a_horizon_never_falls() {
    let scene = Scene::with(short_feeds, ["ana", "bo", "cleo"]).await;
    scene.town.follow("bo", "ana").await;
    scene.town.follow("bo", "cleo").await;
    let later =
        FeedHorizon { user_id: scene.town.id("bo"), oldest: Time::from_ms(BEGIN_MS + 90_000) };
    scene.town.ground().core().table().put(later.put()).await.unwrap();
    for number in 0..5 {
        scene.town.post("ana", &format!("post {number}")).await;
    }
    scene.settle().await;
    assert_eq!((scene.feed("bo").await, horizon(&scene, "bo").await), (vec![2, 3, 4], Some(90)));
}

/// Only some copies have the length of their feed looked at, the same ones whoever looks.
#[tokio::test]
async fn one_in_so_many_copies_is_looked_at() {
    let trimmed = async |one_in| {
        let change = |feed: &mut FeedSettings| {
            short_feeds(feed);
            (feed.cap, feed.trim_one_in) = (1, one_in);
        };
        let scene = Scene::with(change, ["ana", "bo"]).await;
        scene.town.follow("bo", "ana").await;
        let mut cut = Vec::new();
        for number in 0..40 {
            scene.town.post("ana", &format!("post {number}")).await;
            let runner = scene.small_steps(1_000);
            runner.drain().await.unwrap();
            cut.push(count(&figures(&runner), "feed items trimmed"));
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

/// Everybody's activities are copied, into feeds of three, which are always looked at.
fn short_feeds(feed: &mut FeedSettings) {
    (feed.policy, feed.cap, feed.trim_one_in) = (FeedPolicy::Push, 3, 1);
}

async fn horizon(scene: &Scene, name: &str) -> Option<u64> {
    let horizon = scene.town.ground().core().feed_horizon(&scene.town.id(name)).get().await;
    horizon.unwrap().map(|horizon| seconds(horizon.oldest))
}
