//! Merges: the newest or oldest items across many partitions, as if all were one sorted list.

use roundtable_table::{
    Delete, Invalid, Item, Key, KeyDefinition, KeyKind, Limit, Merge, Order, Path, Position,
    SortRange, Table, Value, item, limits,
};

use super::steps::{invalid, number, put, put_all, row, texts};
use crate::TestBench;

const PARTITIONS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Items of five partitions with distinct sort keys, in no order.
fn spread() -> Vec<Item> {
    let at = |step: usize| (step * 37) % 60;
    (0..60).map(|step| row(PARTITIONS[at(step) / 3 % 5], &format!("{:02}", at(step)))).collect()
}

async fn filled(bench: &TestBench) -> Table {
    let table = bench.table().await;
    put_all(&table, spread()).await;
    put_all(&table, ["00", "30", "99"].map(|sort| row("not asked", sort))).await;
    table
}

/// The expected result of a merge: all items of `partitions`, sorted.
fn expected(partitions: &[&str], order: Order) -> Vec<String> {
    let mut items = spread();
    items.retain(|item| partitions.contains(&item.text("PK").unwrap()));
    let mut sorts = texts(&items, "SK");
    sorts.sort();
    if order == Order::Descending {
        sorts.reverse();
    }
    sorts
}

/// All pages of a merge.
async fn all(table: &Table, merge: Merge) -> Vec<Item> {
    let mut items = Vec::new();
    let mut next = None;
    loop {
        let page = table.merge(merge.clone().after(next)).await.unwrap();
        assert!(page.items.len() <= merge.limit);
        items.extend(page.items);
        next = page.next;
        if next.is_none() {
            return items;
        }
    }
}

pub(super) async fn the_newest_are_those_of_all_sorted(bench: &TestBench) {
    let table = filled(bench).await;
    let expected = expected(&PARTITIONS, Order::Descending);
    for limit in [1, 2, 10, 59, 60, 100] {
        let page = table.merge(Merge::newest(PARTITIONS, limit)).await.unwrap();
        assert_eq!(texts(&page.items, "SK"), expected[..limit.min(60)], "limit {limit}");
    }
}

pub(super) async fn the_oldest_are_those_of_all_sorted(bench: &TestBench) {
    let table = filled(bench).await;
    let expected = expected(&PARTITIONS, Order::Ascending);
    for limit in [1, 7, 60, 100] {
        let page = table.merge(Merge::oldest(PARTITIONS, limit)).await.unwrap();
        assert_eq!(texts(&page.items, "SK"), expected[..limit.min(60)], "limit {limit}");
    }
}

pub(super) async fn a_merge_finds_whole_items(bench: &TestBench) {
    let table = bench.table().await;
    let item = row("a", "1").with("x", Value::list([1, 2]));
    put(&table, item.clone()).await;
    assert_eq!(table.merge(Merge::newest(["a"], 5)).await.unwrap().items, [item]);
}

pub(super) async fn merge_pages_join_to_the_whole(bench: &TestBench) {
    let table = filled(bench).await;
    for limit in [1, 7, 59, 60, 61] {
        let found = all(&table, Merge::newest(PARTITIONS, limit)).await;
        assert_eq!(texts(&found, "SK"), expected(&PARTITIONS, Order::Descending));
        let found = all(&table, Merge::oldest(PARTITIONS, limit)).await;
        assert_eq!(texts(&found, "SK"), expected(&PARTITIONS, Order::Ascending));
    }
}

pub(super) async fn a_merge_of_some_partitions_leaves_out_the_others(bench: &TestBench) {
    let table = filled(bench).await;
    let found = all(&table, Merge::newest(["b", "e"], 4)).await;
    assert_eq!(texts(&found, "SK"), expected(&["b", "e"], Order::Descending));
}

pub(super) async fn the_order_of_partitions_does_not_matter(bench: &TestBench) {
    let table = filled(bench).await;
    let one = all(&table, Merge::newest(PARTITIONS, 9)).await;
    let mut backwards = PARTITIONS;
    backwards.reverse();
    assert_eq!(all(&table, Merge::newest(backwards, 9)).await, one);
}

pub(super) async fn empty_partitions_do_no_harm(bench: &TestBench) {
    let table = filled(bench).await;
    let some = ["nobody", "a", "nowhere", "b", "nothing"];
    let found = all(&table, Merge::newest(some, 5)).await;
    assert_eq!(texts(&found, "SK"), expected(&["a", "b"], Order::Descending));
    let page = table.merge(Merge::newest(["nobody", "nowhere"], 5)).await.unwrap();
    assert_eq!((page.items.len(), page.next), (0, None));
    let page = table.merge(Merge::newest([""; 0], 5)).await.unwrap();
    assert_eq!((page.items.len(), page.next), (0, None));
}

fn ties() -> Vec<Item> {
    let each = |sort: &'static str| ["b", "c", "a"].map(|partition| row(partition, sort));
    ["1", "2", "3"].into_iter().flat_map(each).collect()
}

fn places(items: &[Item]) -> Vec<(String, String)> {
    texts(items, "SK").into_iter().zip(texts(items, "PK")).collect()
}

pub(super) async fn equal_sort_keys_go_by_partition(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, ties()).await;
    let mut expected = places(&ties());
    expected.sort();
    for limit in [1, 2, 4, 9] {
        let found = all(&table, Merge::oldest(["c", "a", "b"], limit)).await;
        assert_eq!(places(&found), expected, "limit {limit}");
    }
    expected.reverse();
    for limit in [1, 2, 4, 9] {
        let found = all(&table, Merge::newest(["c", "a", "b"], limit)).await;
        assert_eq!(places(&found), expected, "limit {limit}");
    }
}

pub(super) async fn a_merge_starts_behind_its_position(bench: &TestBench) {
    let table = filled(bench).await;
    let at = spread().into_iter().find(|item| item.text("SK") == Some("30")).unwrap();
    let position = Position::of(table.definition(), None, &at);
    let page = table.merge(Merge::newest(PARTITIONS, 3).after(position.clone())).await.unwrap();
    assert_eq!(texts(&page.items, "SK"), ["29", "28", "27"]);
    let page = table.merge(Merge::oldest(PARTITIONS, 3).after(position)).await.unwrap();
    assert_eq!(texts(&page.items, "SK"), ["31", "32", "33"]);
}

pub(super) async fn a_merge_position_need_not_exist(bench: &TestBench) {
    let table = filled(bench).await;
    let page = table.merge(Merge::newest(PARTITIONS, 5)).await.unwrap();
    let last = page.items.last().unwrap();
    let key = table.definition().key.read(last).unwrap();
    table.delete(Delete::new(key)).await.unwrap();
    let page = table.merge(Merge::newest(PARTITIONS, 2).after(page.next)).await.unwrap();
    assert_eq!(texts(&page.items, "SK"), ["54", "53"]);
    let nowhere = Position { base: Key::new("zz", "40x"), index: None };
    let page = table.merge(Merge::newest(PARTITIONS, 2).after(nowhere)).await.unwrap();
    assert_eq!(texts(&page.items, "SK"), ["40", "39"]);
}

pub(super) async fn a_merge_has_ranges(bench: &TestBench) {
    let table = filled(bench).await;
    let ranges: [(SortRange, std::ops::Range<usize>); 5] = [
        (SortRange::Less("07".into()), 0..7),
        (SortRange::GreaterOrEqual("55".into()), 55..60),
        (SortRange::Between("20".into(), "24".into()), 20..25),
        (SortRange::BeginsWith("3".into()), 30..40),
        (SortRange::Equal("11".into()), 11..12),
    ];
    for (range, numbers) in ranges {
        let mut expected: Vec<_> = numbers.map(|at| format!("{at:02}")).collect();
        let found = all(&table, Merge::oldest(PARTITIONS, 3).sort(range.clone())).await;
        assert_eq!(texts(&found, "SK"), expected);
        expected.reverse();
        let found = all(&table, Merge::newest(PARTITIONS, 3).sort(range)).await;
        assert_eq!(texts(&found, "SK"), expected);
    }
}

pub(super) async fn a_merge_of_an_index(bench: &TestBench) {
    let table = bench.table().await;
    for (at, item) in spread().into_iter().enumerate() {
        let place = (item.text("PK").unwrap().to_owned(), item.text("SK").unwrap().to_owned());
        let entry = row("base", &format!("{at:02}"));
        put(&table, entry.with("GSI1PK", place.0).with("GSI1SK", place.1)).await;
    }
    for limit in [4, 100] {
        let found = all(&table, Merge::newest(PARTITIONS, limit).index("GSI1")).await;
        assert_eq!(texts(&found, "GSI1SK"), expected(&PARTITIONS, Order::Descending));
        let found = all(&table, Merge::oldest(PARTITIONS, limit).index("GSI1")).await;
        assert_eq!(texts(&found, "GSI1SK"), expected(&PARTITIONS, Order::Ascending));
    }
}

pub(super) async fn equal_index_keys_merge_each_once(bench: &TestBench) {
    let table = bench.table().await;
    for at in 0..12 {
        let entry = row(&format!("{at:02}"), "s").with("GSI1PK", ["g", "h"][at % 2]);
        put(&table, entry.with("GSI1SK", "same")).await;
    }
    for limit in [1, 5, 12] {
        for merge in [Merge::newest(["g", "h"], limit), Merge::oldest(["g", "h"], limit)] {
            let mut found = texts(&all(&table, merge.index("GSI1")).await, "PK");
            found.sort();
            assert_eq!(found, (0..12).map(|at| format!("{at:02}")).collect::<Vec<_>>());
        }
    }
}

pub(super) async fn a_merge_without_sort_key_pages_by_partition(bench: &TestBench) {
    let table = bench.keyed(KeyDefinition::partition("PK")).await;
    put_all(&table, PARTITIONS.map(|partition| item! { "PK" => partition })).await;
    let mut expected = PARTITIONS.map(String::from);
    for limit in [1, 2, 5] {
        let found = all(&table, Merge::oldest(["e", "b", "a", "d", "c"], limit)).await;
        assert_eq!(texts(&found, "PK"), expected, "limit {limit}");
    }
    expected.reverse();
    for limit in [1, 2, 5] {
        let found = all(&table, Merge::newest(["e", "b", "a", "d", "c"], limit)).await;
        assert_eq!(texts(&found, "PK"), expected, "limit {limit}");
    }
}

pub(super) async fn a_merge_of_an_index_without_sort_key_pages_by_partition(bench: &TestBench) {
    let definition = bench.standard().with_index("by-kind", KeyDefinition::partition("kind"));
    let table = bench.table_of(definition).await;
    for at in 0..12 {
        put(&table, row(&format!("{at:02}"), "s").with("kind", ["c", "a", "b"][at % 3])).await;
    }
    let mut kinds: Vec<_> = ["a", "b", "c"].into_iter().flat_map(|kind| [kind; 4]).collect();
    for limit in [1, 3, 12] {
        let found = all(&table, Merge::oldest(["c", "a", "b"], limit).index("by-kind")).await;
        assert_eq!(texts(&found, "kind"), kinds, "limit {limit}");
        let mut each = texts(&found, "PK");
        each.sort();
        assert_eq!(each, (0..12).map(|at| format!("{at:02}")).collect::<Vec<_>>());
    }
    kinds.reverse();
    let found = all(&table, Merge::newest(["c", "a", "b"], 5).index("by-kind")).await;
    assert_eq!(texts(&found, "kind"), kinds);
}

pub(super) async fn a_merge_by_numbers(bench: &TestBench) {
    let table = bench.keyed(KeyDefinition::partition("PK").sorted_by("at", KeyKind::N)).await;
    for (partition, at) in [("a", "-5"), ("b", "10"), ("a", "9"), ("b", "-0.5"), ("c", "100")] {
        put(&table, item! { "PK" => partition, "at" => number(at) }).await;
    }
    let page = table.merge(Merge::oldest(["a", "b", "c"], 4)).await.unwrap();
    let found: Vec<_> =
        page.items.iter().map(|item| item.number("at").unwrap().to_string()).collect();
    assert_eq!(found, ["-5", "-0.5", "9", "10"]);
}

pub(super) async fn a_merge_returns_only_the_projected_parts(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, [row("a", "1").with("x", 1).with("y", 1), row("b", "2").with("x", 2)]).await;
    let mut merge = Merge::newest(["a", "b"], 1);
    merge.projection = vec![Path::new("x")];
    let found = all(&table, merge).await;
    assert_eq!(found, [item! { "x" => 2 }, item! { "x" => 1 }]);
}

pub(super) async fn a_merge_over_many_partitions(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, (0..150).map(|at| row(&format!("p{at}"), &format!("{:03}", (at * 7) % 150))))
        .await;
    let partitions: Vec<_> = (0..150).map(|at| format!("p{at}")).collect();
    let page = table.merge(Merge::newest(&partitions, 20)).await.unwrap();
    let expected: Vec<_> = (130..150).rev().map(|at| format!("{at:03}")).collect();
    assert_eq!(texts(&page.items, "SK"), expected);
    let found = all(&table, Merge::newest(&partitions, 40)).await;
    assert_eq!(found.len(), 150);
}

pub(super) async fn one_long_partition_does_not_hide_the_others(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, (0..50).map(|at| row("long", &format!("{at:02}")))).await;
    put_all(&table, [row("short", "00x"), row("short", "25x"), row("short", "48x")]).await;
    let page = table.merge(Merge::newest(["long", "short"], 4)).await.unwrap();
    assert_eq!(texts(&page.items, "SK"), ["49", "48x", "48", "47"]);
    let found = all(&table, Merge::newest(["long", "short"], 4)).await;
    assert_eq!(found.len(), 53);
    assert!(texts(&found, "SK").is_sorted_by(|a, b| a > b));
}

pub(super) async fn a_partition_twice_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let error = invalid(table.merge(Merge::newest(["a", "b", "a"], 5)).await);
    assert_eq!(error, Invalid::DuplicateItem { key: "\"a\"".into() });
}

pub(super) async fn a_merge_has_limits(bench: &TestBench) {
    let table = bench.table().await;
    assert_eq!(invalid(table.merge(Merge::newest(["a"], 0)).await), Invalid::ZeroLimit);
    let partitions = (0..=limits::MERGE_PARTITIONS_MAX).map(|at| at.to_string());
    let expected = Invalid::OverLimit {
        limit: Limit::MergePartitions,
        actual: limits::MERGE_PARTITIONS_MAX + 1,
        max: limits::MERGE_PARTITIONS_MAX,
        subject: table.definition().name.clone(),
    };
    assert_eq!(invalid(table.merge(Merge::newest(partitions, 5)).await), expected);
    let error = invalid(table.merge(Merge::newest([1], 5)).await);
    assert!(matches!(error, Invalid::KeyType { .. }), "{error}");
}
