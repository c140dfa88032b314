//! Paging: an item present throughout appears exactly once, in either order, despite concurrent
//! writes.

use std::collections::BTreeSet;

use roundtable_table::{Delete, Item, Position, Put, Query, Scan, Table};

use super::steps::{all, everything, long, put, put_all, row, sorts, texts};
use crate::TestBench;

fn name(at: usize) -> String {
    format!("{at:04}")
}

async fn filled(bench: &TestBench, count: usize) -> Table {
    let table = bench.table().await;
    put_all(&table, (0..count).map(|at| row("p", &name(at)))).await;
    table
}

pub(super) async fn pages_join_to_the_whole(bench: &TestBench) {
    let table = filled(bench, 23).await;
    let mut expected: Vec<_> = (0..23).map(name).collect();
    for limit in [1, 2, 7, 22, 23, 24] {
        assert_eq!(sorts(&table, Query::new("p").limit(limit).strong()).await, expected);
    }
    expected.reverse();
    for limit in [1, 2, 7, 22, 23, 24] {
        let query = Query::new("p").limit(limit).descending().strong();
        assert_eq!(sorts(&table, query).await, expected);
    }
}

pub(super) async fn a_page_holds_a_megabyte_at_most(bench: &TestBench) {
    let table = bench.table().await;
    for at in 0..5 {
        put(&table, row("p", &name(at)).with("a", long(300 * 1024))).await;
    }
    let page = table.query(Query::new("p").strong()).await.unwrap();
    assert!((3..=4).contains(&page.items.len()), "{} items", page.items.len());
    assert!(page.next.is_some());
    let expected: Vec<_> = (0..5).map(name).collect();
    assert_eq!(sorts(&table, Query::new("p").strong()).await, expected);
    let page = table.scan(Scan::new().strong()).await.unwrap();
    assert!(page.next.is_some());
    assert_eq!(everything(&table, Scan::new().strong()).await.len(), 5);
}

pub(super) async fn a_megabyte_counts_what_the_filter_drops(bench: &TestBench) {
    let table = bench.table().await;
    for at in 0..5 {
        put(&table, row("p", &name(at)).with("a", long(300 * 1024))).await;
    }
    put(&table, row("p", "z").with("x", 1)).await;
    let query = Query::new("p").filter(roundtable_table::exists("x")).strong();
    let page = table.query(query.clone()).await.unwrap();
    assert_eq!(page.items.len(), 0);
    assert!(page.next.is_some());
    assert_eq!(sorts(&table, query).await, ["z"]);
}

pub(super) async fn a_page_goes_on_where_its_last_item_was_deleted(bench: &TestBench) {
    let table = filled(bench, 6).await;
    let page = table.query(Query::new("p").limit(3).strong()).await.unwrap();
    table.delete(Delete::new(("p", &*name(2)))).await.unwrap();
    let rest = sorts(&table, Query::new("p").after(page.next.clone()).strong()).await;
    assert_eq!(rest, [name(3), name(4), name(5)]);
    let backwards = Query::new("p").after(page.next).descending().strong();
    assert_eq!(sorts_once(&table, backwards).await, [name(1), name(0)]);
}

/// Reads only one page.
async fn sorts_once(table: &Table, query: Query) -> Vec<String> {
    texts(&table.query(query).await.unwrap().items, "SK")
}

pub(super) async fn what_is_written_behind_the_page_does_not_come(bench: &TestBench) {
    let table = filled(bench, 4).await;
    let page = table.query(Query::new("p").limit(2).strong()).await.unwrap();
    put(&table, row("p", "0000a")).await;
    put(&table, row("p", "0002a")).await;
    let rest = sorts(&table, Query::new("p").after(page.next).strong()).await;
    assert_eq!(rest, ["0002", "0002a", "0003"]);
}

/// Reads pages while others write around the `even` items; each of those must appear exactly once.
async fn under_writes(bench: &TestBench, descending: bool) {
    let table = bench.table().await;
    put_all(&table, (0..60).step_by(2).map(|at| row("p", &name(at)))).await;
    let writer = {
        let table = table.clone();
        tokio::spawn(async move {
            for round in 0..4 {
                for at in (1..60).step_by(2) {
                    let sort = name(at);
                    if round % 2 == 0 {
                        table.put(Put::new(row("p", &sort))).await.unwrap();
                    } else {
                        table.delete(Delete::new(("p", &*sort))).await.unwrap();
                    }
                }
            }
        })
    };
    let expected: Vec<_> = (0..60).step_by(2).map(name).collect();
    let expected_set: BTreeSet<_> = expected.iter().cloned().collect();
    let mut rounds = 0;
    while rounds < 3 || !writer.is_finished() {
        let query = Query::new("p").limit(3).strong();
        let query = if descending { query.descending() } else { query };
        let mut found = sorts(&table, query).await;
        if descending {
            found.reverse();
        }
        assert!(found.is_sorted_by(|a, b| a < b), "in order, each once: {found:?}");
        found.retain(|sort| expected_set.contains(sort));
        assert_eq!(found, expected);
        rounds += 1;
        tokio::task::yield_now().await;
    }
    writer.await.unwrap();
}

pub(super) async fn rising_pages_are_exact_under_concurrent_writes(bench: &TestBench) {
    under_writes(bench, false).await;
}

pub(super) async fn falling_pages_are_exact_under_concurrent_writes(bench: &TestBench) {
    under_writes(bench, true).await;
}

pub(super) async fn index_pages_are_exact_under_concurrent_updates(bench: &TestBench) {
    let table = bench.table().await;
    let entry = |at: usize, n: usize| {
        let item = row(&name(at), "s").with("GSI1PK", "g").with("GSI1SK", name(at));
        item.with("n", u32::try_from(n).unwrap())
    };
    put_all(&table, (0..40).map(|at| entry(at, 0))).await;
    let writer = {
        let table = table.clone();
        tokio::spawn(async move {
            for n in 1..4 {
                for at in 0..40 {
                    table.put(Put::new(entry(at, n))).await.unwrap();
                }
            }
        })
    };
    let expected: Vec<_> = (0..40).map(name).collect();
    let mut rounds = 0;
    while rounds < 3 || !writer.is_finished() {
        let items = all(&table, Query::new("g").index("GSI1").limit(7)).await;
        assert_eq!(texts(&items, "GSI1SK"), expected);
        rounds += 1;
        tokio::task::yield_now().await;
    }
    writer.await.unwrap();
}

pub(super) async fn scan_pages_are_exact_under_concurrent_writes(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, (0..40).map(|at| row(&name(at), "stay"))).await;
    let writer = {
        let table = table.clone();
        tokio::spawn(async move {
            for at in 0..80 {
                table.put(Put::new(row(&name(at), "come"))).await.unwrap();
            }
        })
    };
    let expected: Vec<_> = (0..40).map(name).collect();
    let mut rounds = 0;
    while rounds < 3 || !writer.is_finished() {
        let items = everything(&table, Scan::new().limit(9).strong()).await;
        let stayed: Vec<Item> =
            items.into_iter().filter(|item| item.text("SK") == Some("stay")).collect();
        assert_eq!(texts(&stayed, "PK"), expected);
        rounds += 1;
        tokio::task::yield_now().await;
    }
    writer.await.unwrap();
}

pub(super) async fn a_position_can_be_made_from_an_item(bench: &TestBench) {
    let table = filled(bench, 4).await;
    let position = Position::of(table.definition(), None, &row("p", &name(1)));
    let rest = sorts(&table, Query::new("p").after(position).strong()).await;
    assert_eq!(rest, [name(2), name(3)]);
}
