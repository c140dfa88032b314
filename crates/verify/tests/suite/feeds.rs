//! Copies in feeds and their watermarks, against the activities (I6).

use roundtable_model::entities::{Activity, FeedItem};
use roundtable_model::table::{BatchWrite, Delete};
use roundtable_model::{ActivityVerb, Entity};
use roundtable_verify::Invariant;

use crate::lively::{activity, copy, job, promotion};
use crate::town::{Town, at, broken_keys, lines};

/// Readers rely on the copies of everything up to the watermark.
#[tokio::test]
async fn a_watermark_newer_than_the_newest_activity_is_found() {
    let town = Town::lively().await;
    town.put(&promotion(at(7))).await;
    let report = town.check().await;
    assert_eq!(broken_keys(&report), [(Invariant::I6, "PROMO#bo / PROMO#bo")]);
}

#[tokio::test]
async fn an_activity_after_the_watermark_is_found_unless_a_job_is_pending() {
    let town = Town::lively().await;
    town.put(&promotion(at(5))).await;
    let report = town.check().await;
    assert!(lines(&report)[0].contains("as no job is left"), "{:?}", lines(&report));
    town.ops().put(job("quests", at(0)).put()).await.unwrap();
    town.ops().put(job("fan-out", at(60)).put()).await.unwrap();
    assert_eq!(town.check().await.total(), 1, "what waits is not about it, or much later");
    town.ops().put(job("fan-out", at(1)).put()).await.unwrap();
    assert!(town.check().await.is_clean());
}

#[tokio::test]
async fn a_copy_that_differs_from_its_activity_is_found() {
    let town = Town::lively().await;
    town.put(&Activity { verb: ActivityVerb::Share, ..activity(6) }).await;
    let report = town.check().await;
    let [line] = &*lines(&report) else { panic!("{:?}", report.findings) };
    assert!(line.starts_with("I6 FEED#ana / TS#"), "{line}");
}

/// A purged activity may leave copies, which readers skip.
#[tokio::test]
async fn a_copy_newer_than_any_activity_is_found() {
    let town = Town::lively().await;
    town.core().delete(Delete::new(activity(5).key())).await.unwrap();
    assert!(town.check().await.is_clean());
    town.put(&copy(8)).await;
    assert!(lines(&town.check().await)[0].ends_with("found a copy without an activity"));
}

/// An interrupted trim may leave a few.
#[tokio::test]
async fn too_many_copies_behind_the_horizon_are_found() {
    let town = Town::lively().await;
    let old = |number: u64| {
        let activity_id = format!("old{number}").parse().unwrap();
        BatchWrite::Put(FeedItem { activity_id, ..copy(4) }.item())
    };
    for forty in 0..40 {
        let batch = (forty * 25..(forty + 1) * 25).map(old).collect();
        town.core().batch_write(batch).await.unwrap();
    }
    let report = town.check().await;
    assert_eq!(report.total(), 1);
    assert!(lines(&report)[0].contains("at most 1000 copies behind the horizon"));
}
