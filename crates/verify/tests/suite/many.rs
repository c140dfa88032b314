//! Many findings: all are counted, few are listed, all are repaired.

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_model::entities::{Follow, User, UserCounter};
use roundtable_model::table::{BatchWrite, Item, ManualClock};
use roundtable_model::{Entity, Shard, UserCount, UserStatus};
use roundtable_verify::Invariant;

use crate::town::{BEGIN_MS, Town, at, count, follow, read, user};

const FOLLOWERS: u64 = 120;

/// All fans follow one star, and every counter is wrong.
async fn town() -> Town {
    let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
    let town = Town::empty(Reference::new(clock.clone()), clock).await;
    let mut items = Vec::new();
    for nth in 0..FOLLOWERS {
        let name = format!("fan{nth}");
        let follow: Follow = follow(&name, "star");
        items.push(profile(&name));
        items.push(follow.item());
        items.push(count(&name, UserCount::Following, 2).item());
    }
    let (user_id, counter, shard) = (read("star"), UserCount::Followers, Shard::ZERO);
    let (version, seq, updated_at) = (None, None, at(0));
    let star = UserCounter { user_id, counter, shard, count: 1, version, seq, updated_at };
    items.extend([profile("star"), star.item()]);
    for batch in items.chunks(25) {
        let puts = batch.iter().cloned().map(BatchWrite::Put).collect();
        town.core().batch_write(puts).await.unwrap();
    }
    town
}

/// A profile that holds no names, so that it needs no locks.
fn profile(name: &str) -> Item {
    User { status: UserStatus::Deleted, ..user(name) }.item()
}

#[tokio::test]
async fn all_findings_are_counted_and_few_are_listed() {
    let town = town().await;
    let report = town.verify().findings_max(5).check().await.unwrap();
    assert_eq!(report.findings.len(), 5);
    assert_eq!(report.total(), FOLLOWERS + 1);
    assert_eq!(report.totals[&Invariant::I1], FOLLOWERS + 1);
}

#[tokio::test]
async fn all_findings_are_repaired() {
    let town = town().await;
    assert_eq!(town.repair_all().await, FOLLOWERS + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn any_number_of_segments_finds_the_same() {
    let town = town().await;
    let one = town.verify().segments(1).check().await.unwrap();
    for segments in [2, 7] {
        let several = town.verify().segments(segments).check().await.unwrap();
        assert_eq!(several.findings, one.findings);
        assert_eq!((several.items, several.entries), (one.items, one.entries));
    }
}
