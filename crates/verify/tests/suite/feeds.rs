//! Copies in feeds and how far they have come, against the activities they are of (I6).

use roundtable_model::entities::{Activity, FeedItem};
use roundtable_model::table::{BatchWrite, Delete};
use roundtable_model::{ActivityVerb, Entity};
use roundtable_verify::Invariant;

use crate::lively::{activity, copy, job, promotion};
use crate::town::{Town, at, lines, places};

/// R35: readers rely on it for everything up to it.
#[tokio::test]
async fn a_watermark_is_not_ahead_of_what_happened() {
    let town = Town::lively().await;
    town.put(&promotion(at(7))).await;
    let report = town.check().await;
    assert_eq!(places(&report), [(Invariant::I6, "PROMO#bo / PROMO#bo")]);
}

/// R35: unless a job waits, or was parked, which will copy it.
#[tokio::test]
async fn nothing_to_be_copied_is_behind_the_watermark_for_ever() {
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

/// R35
#[tokio::test]
async fn a_copy_says_what_its_activity_says() {
    let town = Town::lively().await;
    town.put(&Activity { verb: ActivityVerb::Share, ..activity(6) }).await;
    let report = town.check().await;
    let [line] = &*lines(&report) else { panic!("{:?}", report.findings) };
    assert!(line.starts_with("I6 FEED#ana / TS#"), "{line}");
}

/// R35: one that was purged may leave its copies, which readers pass over.
#[tokio::test]
async fn a_copy_is_of_something_that_happened() {
    let town = Town::lively().await;
    town.core().delete(Delete::new(activity(5).key())).await.unwrap();
    assert!(town.check().await.is_clean());
    town.put(&copy(8)).await;
    assert!(lines(&town.check().await)[0].ends_with("found one of what never happened"));
}

/// R40: a few may be left by a trimming that was stopped.
#[tokio::test]
async fn few_copies_are_behind_the_horizon() {
    let town = Town::lively().await;
    let old = |number: u64| {
        let activity_id = format!("old{number}").parse().unwrap();
        BatchWrite::Put(FeedItem { activity_id, ..copy(4) }.item())
    };
    for forty in 0..40 {
        let some = (forty * 25..(forty + 1) * 25).map(old).collect();
        town.core().batch_write(some).await.unwrap();
    }
    let report = town.check().await;
    assert_eq!(report.total(), 1);
    assert!(lines(&report)[0].contains("at most 1000 copies behind the horizon"));
}
