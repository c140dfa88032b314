//! Scans of whole tables and indexes, also in segments.

use std::collections::BTreeSet;

use roundtable_table::{Invalid, KeyDefinition, Put, Scan, Table, attribute, item};

use super::steps::{everything, invalid, number, put, put_all, row, texts};
use crate::TestBench;

async fn filled(bench: &TestBench) -> Table {
    let table = bench.table().await;
    let rows = (0..30).map(|at| row(&format!("{:02}", at / 2), &format!("{at:02}")));
    put_all(&table, rows).await;
    table
}

fn names() -> Vec<String> {
    (0..30).map(|at| format!("{at:02}")).collect()
}

pub(super) async fn a_scan_finds_everything(bench: &TestBench) {
    let table = filled(bench).await;
    let mut found = texts(&everything(&table, Scan::new().strong()).await, "SK");
    found.sort();
    assert_eq!(found, names());
}

pub(super) async fn a_scan_of_an_empty_table_is_empty(bench: &TestBench) {
    let table = bench.table().await;
    let page = table.scan(Scan::new()).await.unwrap();
    assert_eq!((page.items.len(), page.evaluated, page.next), (0, 0, None));
}

pub(super) async fn scan_pages_join_to_the_whole(bench: &TestBench) {
    let table = filled(bench).await;
    for limit in [1, 7, 30, 31] {
        let mut found = texts(&everything(&table, Scan::new().limit(limit).strong()).await, "SK");
        found.sort();
        assert_eq!(found, names(), "limit {limit}");
    }
}

pub(super) async fn items_of_a_partition_stay_together_and_in_order(bench: &TestBench) {
    let table = filled(bench).await;
    let page = table.scan(Scan::new().strong()).await.unwrap();
    let found: Vec<_> =
        texts(&page.items, "PK").into_iter().zip(texts(&page.items, "SK")).collect();
    for pair in found.chunks(2) {
        assert_eq!(pair[0].0, pair[1].0, "{found:?}");
        assert!(pair[0].1 < pair[1].1, "{found:?}");
    }
}

pub(super) async fn segments_are_disjoint_and_complete(bench: &TestBench) {
    let table = filled(bench).await;
    for total in [1, 2, 5, 16] {
        let mut found = Vec::new();
        for segment in 0..total {
            let scan = Scan::new().segment(segment, total).limit(3).strong();
            found.extend(texts(&everything(&table, scan).await, "SK"));
        }
        found.sort();
        assert_eq!(found, names(), "{total} segments");
    }
}

pub(super) async fn segments_of_an_index_are_disjoint_and_complete(bench: &TestBench) {
    let table = bench.table().await;
    for at in 0..20 {
        let place = format!("{at:02}");
        let item = row(&place, "s").with("GSI1PK", place.clone()).with("GSI1SK", "x");
        put(&table, item).await;
    }
    put(&table, row("not", "in it")).await;
    let mut found = Vec::new();
    for segment in 0..4 {
        let scan = Scan::new().index("GSI1").segment(segment, 4);
        found.extend(texts(&everything(&table, scan).await, "PK"));
    }
    found.sort();
    assert_eq!(found, (0..20).map(|at| format!("{at:02}")).collect::<Vec<_>>());
}

pub(super) async fn a_scan_filters_after_its_limit(bench: &TestBench) {
    let table = bench.table().await;
    for at in 0..6 {
        put(&table, row(&at.to_string(), "s").with("n", at)).await;
    }
    let scan = Scan::new().filter(attribute("n").ge(4)).strong();
    let page = table.scan(scan.clone()).await.unwrap();
    assert_eq!((page.items.len(), page.evaluated), (2, 6));
    let page = table.scan(scan.clone().limit(2)).await.unwrap();
    assert_eq!(page.evaluated, 2);
    let found: BTreeSet<_> =
        everything(&table, scan.limit(2)).await.iter().map(|item| item.number("n")).collect();
    assert_eq!(found, BTreeSet::from([Some(number("4")), Some(number("5"))]));
}

pub(super) async fn a_scan_may_filter_on_keys(bench: &TestBench) {
    let table = filled(bench).await;
    let scan = Scan::new().filter(attribute("SK").lt("02")).strong();
    let mut found = texts(&everything(&table, scan).await, "SK");
    found.sort();
    assert_eq!(found, ["00", "01"]);
}

pub(super) async fn a_scan_returns_only_the_projected_parts(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "s").with("a", 1).with("b", 2)).await;
    let page = table.scan(Scan::new().project(["a"]).strong()).await.unwrap();
    assert_eq!(page.items, [item! { "a" => 1 }]);
}

pub(super) async fn a_scan_of_an_index_finds_what_is_in_it(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "1")).await;
    let item = row("p", "2").with("GSI1PK", "g").with("GSI1SK", "1");
    table.put(Put::new(item.clone())).await.unwrap();
    assert_eq!(everything(&table, Scan::new().index("GSI1").limit(1)).await, [item]);
}

pub(super) async fn a_scan_of_a_table_without_sort_key(bench: &TestBench) {
    let table = bench.keyed(KeyDefinition::partition("id")).await;
    put_all(&table, ["a", "b", "c"].map(|id| item! { "id" => id })).await;
    let found = everything(&table, Scan::new().limit(2).strong()).await;
    assert_eq!(texts(&found, "id"), ["a", "b", "c"]);
}

pub(super) async fn a_segment_out_of_range_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let expected = Invalid::InvalidSegment { segment: 4, total: 4 };
    assert_eq!(invalid(table.scan(Scan::new().segment(4, 4)).await), expected);
}
