//! Walks: down the sort keys of all partitions, where a backend keeps that order.

use roundtable_table::{
    Delete, Invalid, Item, Key, KeyDefinition, KeyKind, Put, SortOrder, Table, TableDefinition,
    Walk, WalkPage,
};

use super::steps::{invalid, put, put_all, row, texts};
use crate::TestBench;

fn ordered(bench: &TestBench) -> TableDefinition {
    bench.standard().with_order("A#", "T#")
}

/// Partitions of several lengths, one of them longer than an index holds, with items in and out of
/// the order.
fn spread() -> Vec<Item> {
    let long = format!("A#{}", "x".repeat(400));
    let in_order = (0..60).map(|step: usize| {
        let at = (step * 37) % 60;
        let partition = ["A#ana", "A#bo", "A#c", &*long][at % 4];
        // Two partitions share each sort key.
        row(partition, &format!("T#{:02}", at / 2))
    });
    let others = [row("A#ana", "HEAD"), row("B#bo", "T#05"), row("A", "T#07"), row("A#bo", "T")];
    in_order.chain(others).collect()
}

async fn filled(bench: &TestBench) -> Table {
    let table = bench.table_of(ordered(bench)).await;
    put_all(&table, spread()).await;
    table
}

async fn walk(
    table: &Table,
    below: Option<&str>,
    wants: &(dyn Fn(&str) -> bool + Send + Sync),
    (limit, passed_max): (usize, usize),
) -> WalkPage {
    let below = below.map(str::to_owned);
    table.walk(Walk { below, wants, limit, passed_max }).await.unwrap()
}

/// The wanted items below a sort key in the order of a walk.
fn expected(items: &[Item], below: Option<&str>, wants: impl Fn(&str) -> bool) -> Vec<String> {
    let text = |item: &Item, name| item.text(name).unwrap().to_owned();
    let is_held = |item: &&Item| {
        let (partition, sort) = (text(item, "PK"), text(item, "SK"));
        let is_ordered = partition.starts_with("A#") && sort.starts_with("T#");
        is_ordered && wants(&partition) && below.is_none_or(|below| *sort < *below)
    };
    let mut sorts: Vec<_> = items.iter().filter(is_held).map(|item| text(item, "SK")).collect();
    sorts.sort_unstable_by(|one, other| other.cmp(one));
    sorts
}

pub(super) async fn a_walk_finds_all_partitions_from_the_greatest_sort_key(bench: &TestBench) {
    if !bench.store.capabilities().walks {
        return;
    }
    let table = filled(bench).await;
    let page = walk(&table, None, &|_| true, (100, 100)).await;
    assert_eq!(texts(&page.items, "SK"), expected(&spread(), None, |_| true));
    assert_eq!((page.items.len(), page.down_to), (60, None));
    let page = walk(&table, Some("T#03"), &|_| true, (100, 100)).await;
    assert_eq!(texts(&page.items, "SK"), ["T#02", "T#02", "T#01", "T#01", "T#00", "T#00"]);
}

pub(super) async fn walk_pages_join_to_the_whole(bench: &TestBench) {
    if !bench.store.capabilities().walks {
        return;
    }
    let table = filled(bench).await;
    let is_wanted = |partition: &str| partition != "A#bo" && !partition.starts_with("B#");
    for bounds in [(1, 100), (7, 100), (100, 1), (100, 9), (2, 3)] {
        let (mut sorts, mut below) = (Vec::new(), None::<String>);
        loop {
            let page = walk(&table, below.as_deref(), &is_wanted, bounds).await;
            // All items of one sort key are in one page.
            assert!(page.items.len() <= bounds.0 + 1, "{bounds:?}");
            sorts.extend(texts(&page.items, "SK"));
            let Some(down_to) = page.down_to else { break };
            assert!(below.as_ref().is_none_or(|below| down_to < *below), "{bounds:?}");
            below = Some(down_to);
        }
        assert_eq!(sorts, expected(&spread(), None, is_wanted), "{bounds:?}");
    }
}

pub(super) async fn a_walk_sees_every_write(bench: &TestBench) {
    if !bench.store.capabilities().walks {
        return;
    }
    let table = filled(bench).await;
    put(&table, row("A#d", "T#99").with("x", 1)).await;
    put(&table, row("A#d", "T#99").with("x", 2)).await;
    table.delete(Delete::new(Key::new("A#ana", "T#28"))).await.unwrap();
    table.put(Put::new(row("A#gone", "T#98").with("ttl", 1))).await.unwrap();
    let page = walk(&table, None, &|_| true, (6, 100)).await;
    let newest = ["T#99", "T#29", "T#29", "T#28", "T#27", "T#27"];
    assert_eq!(texts(&page.items, "SK"), newest);
    assert_eq!(page.items[0], row("A#d", "T#99").with("x", 2));
}

pub(super) async fn an_order_can_be_added_to_a_table(bench: &TestBench) {
    let definition = bench.standard();
    let table = bench.table_of(definition.clone()).await;
    put_all(&table, spread()).await;
    let table = bench.table_of(definition.clone().with_order("A#", "T#")).await;
    // And who does not know of it can still use the table.
    put(&bench.table_of(definition).await, row("A#later", "T#99")).await;
    if bench.store.capabilities().walks {
        let page = walk(&table, None, &|_| true, (100, 100)).await;
        let all: Vec<Item> = spread().into_iter().chain([row("A#later", "T#99")]).collect();
        assert_eq!(texts(&page.items, "SK"), expected(&all, None, |_| true));
    }
}

pub(super) async fn a_walk_needs_an_order(bench: &TestBench) {
    let table = bench.table().await;
    let detail = format!("table {:?} has no order", table.definition().name);
    let wants = |_: &str| true;
    let unordered = Walk { below: None, wants: &wants, limit: 1, passed_max: 1 };
    assert_eq!(invalid(table.walk(unordered.clone()).await), Invalid::Rejected { detail });
    let key = KeyDefinition::partition("PK").sorted_by("SK", KeyKind::N);
    let order = Some(SortOrder { partition_prefix: "A".into(), sort_prefix: "T".into() });
    let numbered = TableDefinition { order, ..TableDefinition::new(bench.name(), key) };
    let detail = format!("table {:?} needs text keys to have an order", numbered.name);
    assert_eq!(invalid(bench.store.create_table(numbered).await), Invalid::Rejected { detail });
    let table = bench.table_of(ordered(bench)).await;
    if bench.store.capabilities().walks {
        assert_eq!(invalid(table.walk(Walk { limit: 0, ..unordered }).await), Invalid::ZeroLimit);
    } else {
        assert!(table.walk(unordered).await.is_err());
    }
}
