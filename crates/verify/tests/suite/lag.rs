//! The lag of processors on a stream that several processes share by leases.

use roundtable_model::table::{Item, Put, item};
use roundtable_model::{Entity, samples};
use roundtable_verify::VerifyReport;

use crate::town::{Town, read};

/// A town whose processors have checkpoints, but none on the only shard.
async fn town() -> Town {
    let town = Town::new().await;
    for processor in ["counters", "scores"] {
        let mut checkpoint = samples::checkpoint();
        (checkpoint.processor, checkpoint.stream_shard) = (read(processor), read("forgotten"));
        town.ops().put(checkpoint.put()).await.unwrap();
    }
    town
}

/// A lease as the DynamoDB backend stores it.
fn lease(consumer: &str, stream: &str) -> Item {
    let partition = format!("LEASES#{consumer}#{stream}");
    item! { "PK" => partition, "SK" => "SHARD#all", "owner" => "ana", "expires" => 7, "term" => 1 }
}

async fn put(town: &Town, lease: Item) -> VerifyReport {
    town.ops().put(Put::new(lease)).await.unwrap();
    let report = town.check().await;
    assert!(report.is_clean(), "{:#?}", report.findings);
    report
}

fn behind(report: &VerifyReport) -> Vec<(&str, bool)> {
    report.lag.iter().map(|lag| (&*lag.processor, lag.changes > lag.facts)).collect()
}

#[tokio::test]
async fn a_shard_without_a_lease_counts_as_lag() {
    let town = town().await;
    assert_eq!(behind(&town.check().await), [("counters", true), ("scores", true)]);
    let other = put(&town, lease("workers", "other_gg_core")).await;
    assert_eq!(behind(&other), [("counters", true), ("scores", true)], "that is another stream");
}

/// Only for the counting processor is it known which changes its consumer would apply.
#[tokio::test]
async fn a_lease_without_a_checkpoint_is_no_lag() {
    let town = town().await;
    let report = put(&town, lease("workers", "gg_core")).await;
    assert_eq!(behind(&report), [("counters", false)]);
    assert!(report.lag[0].facts > 5, "{:?}", report.lag);
}

#[tokio::test]
async fn a_shard_that_all_have_read_to_its_end_is_no_lag() {
    let town = town().await;
    assert_eq!(behind(&put(&town, lease("workers", "gg_core").with("ended", true)).await), []);
    let mut stale = samples::checkpoint();
    (stale.processor, stale.stream_shard) = (read("scores"), read("all"));
    stale.sequence = "0".repeat(40);
    town.ops().put(stale.put()).await.unwrap();
    assert_eq!(behind(&town.check().await), [], "wherever its checkpoint is");
    let report = put(&town, lease("others", "gg_core")).await;
    assert_eq!(behind(&report), [("counters", false), ("scores", true)], "not all have");
}
