//! Queries of one partition: ranges, orders, limits, filters, projections.

use roundtable_table::{
    Invalid, Key, KeyDefinition, KeyKind, Order, Path, Position, Query, Scalar, SortRange, Table,
    Value, attribute, exists, item,
};

use super::steps::{all, bytes, invalid, number, put, put_all, row, sorts};
use crate::TestBench;

/// A table with `a` to `e` in partition `p`, and others around it.
async fn letters(bench: &TestBench) -> Table {
    let table = bench.table().await;
    let rows = ["a", "b", "c", "d", "e"].map(|sort| row("p", sort));
    put_all(&table, rows.into_iter().chain([row("o", "b"), row("q", "b"), row("pp", "c")])).await;
    table
}

/// Expects a range to return `letters`, in both orders.
async fn finds(bench: &TestBench, range: SortRange, expected: &[&str]) {
    let table = letters(bench).await;
    let query = Query::new("p").sort(range).strong();
    assert_eq!(sorts(&table, query.clone()).await, expected);
    let backwards: Vec<_> = expected.iter().rev().copied().collect();
    assert_eq!(sorts(&table, query.descending()).await, backwards);
}

pub(super) async fn a_query_finds_its_partition_in_order(bench: &TestBench) {
    finds(bench, SortRange::All, &["a", "b", "c", "d", "e"]).await;
}

pub(super) async fn equal_finds_one(bench: &TestBench) {
    finds(bench, SortRange::Equal("c".into()), &["c"]).await;
    finds(bench, SortRange::Equal("cc".into()), &[]).await;
}

pub(super) async fn less_stops_before_the_bound(bench: &TestBench) {
    finds(bench, SortRange::Less("c".into()), &["a", "b"]).await;
    finds(bench, SortRange::Less("bb".into()), &["a", "b"]).await;
    finds(bench, SortRange::Less("a".into()), &[]).await;
}

pub(super) async fn less_or_equal_stops_at_the_bound(bench: &TestBench) {
    finds(bench, SortRange::LessOrEqual("c".into()), &["a", "b", "c"]).await;
}

pub(super) async fn greater_starts_behind_the_bound(bench: &TestBench) {
    finds(bench, SortRange::Greater("c".into()), &["d", "e"]).await;
    finds(bench, SortRange::Greater("e".into()), &[]).await;
}

pub(super) async fn greater_or_equal_starts_at_the_bound(bench: &TestBench) {
    finds(bench, SortRange::GreaterOrEqual("c".into()), &["c", "d", "e"]).await;
    finds(bench, SortRange::GreaterOrEqual("cc".into()), &["d", "e"]).await;
}

pub(super) async fn between_includes_its_bounds(bench: &TestBench) {
    finds(bench, SortRange::Between("b".into(), "d".into()), &["b", "c", "d"]).await;
    finds(bench, SortRange::Between("c".into(), "c".into()), &["c"]).await;
    finds(bench, SortRange::Between("f".into(), "z".into()), &[]).await;
}

pub(super) async fn begins_with_finds_a_prefix(bench: &TestBench) {
    let table = bench.table().await;
    let keys = ["A#", "A#1", "A#2", "A$", "B#1", "A"];
    put_all(&table, keys.map(|sort| row("p", sort))).await;
    let query = Query::new("p").begins_with("A#").strong();
    assert_eq!(sorts(&table, query.clone()).await, ["A#", "A#1", "A#2"]);
    assert_eq!(sorts(&table, query.descending()).await, ["A#2", "A#1", "A#"]);
}

pub(super) async fn begins_with_reaches_the_end_of_the_code_points(bench: &TestBench) {
    let table = bench.table().await;
    let keys = ["a\u{10ffff}", "a\u{10ffff}b", "a", "b", "\u{10ffff}", "\u{10ffff}\u{10ffff}"];
    put_all(&table, keys.map(|sort| row("p", sort))).await;
    let found = sorts(&table, Query::new("p").begins_with("a\u{10ffff}").strong()).await;
    assert_eq!(found, ["a\u{10ffff}", "a\u{10ffff}b"]);
    let found = sorts(&table, Query::new("p").begins_with("\u{10ffff}").strong()).await;
    assert_eq!(found, ["\u{10ffff}", "\u{10ffff}\u{10ffff}"]);
}

pub(super) async fn an_empty_partition_is_an_empty_page(bench: &TestBench) {
    let table = letters(bench).await;
    let page = table.query(Query::new("nobody")).await.unwrap();
    assert_eq!((page.items.len(), page.evaluated, page.next), (0, 0, None));
}

pub(super) async fn text_keys_are_ordered_by_their_bytes(bench: &TestBench) {
    let table = bench.table().await;
    let keys = ["é", "z", "Z", "~", "\u{ff5e}", "\u{1f389}", "a", "aa", "a b", "1", "10", "9"];
    put_all(&table, keys.map(|sort| row("p", sort))).await;
    let mut expected = keys.map(str::to_owned).to_vec();
    expected.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    assert_eq!(sorts(&table, Query::new("p").strong()).await, expected);
    expected.reverse();
    assert_eq!(sorts(&table, Query::new("p").descending().strong()).await, expected);
}

async fn by_number(bench: &TestBench, texts: &[&str]) -> Table {
    let table = bench.keyed(KeyDefinition::partition("PK").sorted_by("at", KeyKind::N)).await;
    for text in texts {
        put(&table, item! { "PK" => "p", "at" => number(text) }).await;
    }
    table
}

async fn found_numbers(table: &Table, query: Query) -> Vec<String> {
    let items = all(table, query.strong()).await;
    items.iter().map(|item| item.number("at").unwrap().to_string()).collect()
}

const RISING: [&str; 11] =
    ["-1E+100", "-10", "-9.5", "-9", "-0.5", "0", "1E-100", "0.5", "9", "10", "1E+100"];

pub(super) async fn number_keys_are_ordered_by_value(bench: &TestBench) {
    let table = by_number(bench, &RISING).await;
    assert_eq!(found_numbers(&table, Query::new("p")).await, RISING);
    let falling: Vec<_> = RISING.iter().rev().copied().collect();
    assert_eq!(found_numbers(&table, Query::new("p").descending()).await, falling);
}

pub(super) async fn number_keys_have_ranges(bench: &TestBench) {
    let table = by_number(bench, &RISING).await;
    let ranges = [
        (SortRange::Less(number("-9").into()), &RISING[..3]),
        (SortRange::LessOrEqual(number("-9").into()), &RISING[..4]),
        (SortRange::Greater(number("0.5").into()), &RISING[8..]),
        (SortRange::GreaterOrEqual(number("5e-1").into()), &RISING[7..]),
        (SortRange::Equal(number("10.0").into()), &RISING[9..10]),
        (SortRange::Between(number("-0.75").into(), number("9").into()), &RISING[4..9]),
    ];
    for (range, expected) in ranges {
        let query = Query::new("p").sort(range);
        assert_eq!(found_numbers(&table, query.clone()).await, expected, "{query:?}");
        let backwards: Vec<_> = expected.iter().rev().copied().collect();
        assert_eq!(found_numbers(&table, query.descending()).await, backwards);
    }
}

async fn by_bytes(bench: &TestBench) -> Table {
    let table = bench.keyed(KeyDefinition::partition("PK").sorted_by("at", KeyKind::B)).await;
    for at in BLOBS {
        put(&table, item! { "PK" => "p", "at" => bytes(at) }).await;
    }
    table
}

const BLOBS: [&[u8]; 8] = [&[0], &[0, 0], &[0, 1], &[1], &[127], &[128], &[255], &[255, 255]];

async fn found_blobs(table: &Table, query: Query) -> Vec<Value> {
    let items = all(table, query.strong()).await;
    items.iter().map(|item| item.get("at").unwrap().to_value()).collect()
}

pub(super) async fn binary_keys_are_ordered_unsigned(bench: &TestBench) {
    let table = by_bytes(bench).await;
    let mut expected = BLOBS.map(bytes).to_vec();
    assert_eq!(found_blobs(&table, Query::new("p")).await, expected);
    expected.reverse();
    assert_eq!(found_blobs(&table, Query::new("p").descending()).await, expected);
}

pub(super) async fn binary_keys_have_ranges(bench: &TestBench) {
    let table = by_bytes(bench).await;
    let at = |bytes: &[u8]| Scalar::from(bytes);
    let ranges = [
        (SortRange::Less(at(&[0, 1])), &BLOBS[..2]),
        (SortRange::LessOrEqual(at(&[0, 1])), &BLOBS[..3]),
        (SortRange::Greater(at(&[127])), &BLOBS[5..]),
        (SortRange::GreaterOrEqual(at(&[127])), &BLOBS[4..]),
        (SortRange::Equal(at(&[128])), &BLOBS[5..6]),
        (SortRange::Between(at(&[0, 0]), at(&[127])), &BLOBS[1..5]),
        (SortRange::BeginsWith(at(&[0])), &BLOBS[..3]),
        (SortRange::BeginsWith(at(&[255])), &BLOBS[6..]),
    ];
    for (range, expected) in ranges {
        let query = Query::new("p").sort(range);
        let mut expected: Vec<_> = expected.iter().map(|at| bytes(at)).collect();
        assert_eq!(found_blobs(&table, query.clone()).await, expected, "{query:?}");
        expected.reverse();
        assert_eq!(found_blobs(&table, query.descending()).await, expected);
    }
}

pub(super) async fn partitions_may_be_numbers(bench: &TestBench) {
    let key = KeyDefinition {
        partition: roundtable_table::KeyAttribute { name: "id".into(), kind: KeyKind::N },
        sort: None,
    };
    let table = bench.keyed(key.sorted_by("SK", KeyKind::S)).await;
    put(&table, item! { "id" => number("1.50"), "SK" => "a" }).await;
    put(&table, item! { "id" => number("15"), "SK" => "b" }).await;
    assert_eq!(sorts(&table, Query::new(number("1.5")).strong()).await, ["a"]);
    assert_eq!(sorts(&table, Query::new(number("150e-1")).strong()).await, ["b"]);
    assert_eq!(sorts(&table, Query::new(number("1")).strong()).await, [""; 0]);
}

pub(super) async fn partitions_may_be_binary(bench: &TestBench) {
    let key = KeyDefinition {
        partition: roundtable_table::KeyAttribute { name: "id".into(), kind: KeyKind::B },
        sort: None,
    };
    let table = bench.keyed(key.sorted_by("SK", KeyKind::S)).await;
    let partitions: [&[u8]; 4] = [&[0], &[0, 0], &[255], &[0, 255]];
    for partition in partitions {
        put(&table, item! { "id" => bytes(partition), "SK" => format!("{partition:?}") }).await;
    }
    for partition in partitions {
        let query = Query::new(partition).strong();
        assert_eq!(sorts(&table, query).await, [format!("{partition:?}")]);
    }
}

pub(super) async fn a_partition_of_a_table_without_sort_key_is_one_item(bench: &TestBench) {
    let table = bench.keyed(KeyDefinition::partition("PK")).await;
    put(&table, item! { "PK" => "a", "n" => 1 }).await;
    put(&table, item! { "PK" => "b", "n" => 2 }).await;
    assert_eq!(all(&table, Query::new("a").strong()).await, [item! { "PK" => "a", "n" => 1 }]);
}

pub(super) async fn a_limit_ends_the_page(bench: &TestBench) {
    let table = letters(bench).await;
    let page = table.query(Query::new("p").limit(2)).await.unwrap();
    assert_eq!(page.items, [row("p", "a"), row("p", "b")]);
    assert_eq!(page.evaluated, 2);
    let expected = Position { base: Key::new("p", "b"), index: None };
    assert_eq!(page.next, Some(expected));
    let page = table.query(Query::new("p").descending().limit(2)).await.unwrap();
    assert_eq!(page.items, [row("p", "e"), row("p", "d")]);
}

pub(super) async fn a_page_starts_behind_its_position(bench: &TestBench) {
    let table = letters(bench).await;
    let position = Position { base: Key::new("p", "b"), index: None };
    let query = || Query::new("p").after(position.clone()).strong();
    let found = table.query(query()).await.unwrap().items;
    assert_eq!(super::steps::texts(&found, "SK"), ["c", "d", "e"]);
    let found = table.query(query().descending()).await.unwrap().items;
    assert_eq!(super::steps::texts(&found, "SK"), ["a"]);
}

pub(super) async fn a_position_need_not_exist(bench: &TestBench) {
    let table = letters(bench).await;
    let position = Position { base: Key::new("p", "bb"), index: None };
    let query = || Query::new("p").after(position.clone()).strong();
    let found = table.query(query()).await.unwrap().items;
    assert_eq!(super::steps::texts(&found, "SK"), ["c", "d", "e"]);
    let found = table.query(query().descending()).await.unwrap().items;
    assert_eq!(super::steps::texts(&found, "SK"), ["b", "a"]);
}

pub(super) async fn a_position_outside_the_range_is_refused(bench: &TestBench) {
    let table = letters(bench).await;
    let at =
        |partition: &str, sort: &str| Position { base: Key::new(partition, sort), index: None };
    let queries = [
        Query::new("p").after(at("q", "b")),
        Query::new("p").sort(SortRange::Greater("c".into())).after(at("p", "b")),
        Query::new("p").sort(SortRange::Greater("c".into())).after(at("p", "c")),
        Query::new("p").sort(SortRange::Less("c".into())).after(at("p", "d")),
        Query::new("p").begins_with("a").after(at("p", "b")),
    ];
    for query in queries {
        let error = invalid(table.query(query.clone()).await);
        assert!(matches!(error, Invalid::InvalidStart { .. }), "{query:?}: {error}");
    }
}

pub(super) async fn a_filter_comes_after_the_limit(bench: &TestBench) {
    let table = bench.table().await;
    let rows = ["a", "b", "c", "d"].map(|sort| row("p", sort));
    put_all(&table, rows).await;
    put(&table, row("p", "c").with("x", 1)).await;
    let page = table.query(Query::new("p").limit(2).filter(exists("x"))).await.unwrap();
    assert_eq!((page.items.len(), page.evaluated), (0, 2));
    assert!(page.next.is_some());
    let found = sorts(&table, Query::new("p").limit(2).filter(exists("x")).strong()).await;
    assert_eq!(found, ["c"]);
}

pub(super) async fn a_filter_keeps_what_it_holds_for(bench: &TestBench) {
    let table = bench.table().await;
    for (at, sort) in (0..).zip(["a", "b", "c", "d", "e"]) {
        put(&table, row("p", sort).with("n", at)).await;
    }
    let odd = attribute("n").one_of([1, 3]);
    assert_eq!(sorts(&table, Query::new("p").filter(odd.clone()).strong()).await, ["b", "d"]);
    let page = table.query(Query::new("p").filter(odd.negate()).descending()).await.unwrap();
    assert_eq!(super::steps::texts(&page.items, "SK"), ["e", "c", "a"]);
    assert_eq!(page.evaluated, 5);
}

pub(super) async fn a_filter_on_a_key_is_refused(bench: &TestBench) {
    let table = letters(bench).await;
    for name in ["PK", "SK"] {
        let query = Query::new("p").filter(attribute("n").eq(1).or(exists(name)));
        let expected = Invalid::FilterOnKey { attribute: name.into() };
        assert_eq!(invalid(table.query(query).await), expected);
    }
}

pub(super) async fn a_query_returns_only_the_projected_parts(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "a").with("n", 1).with("m", Value::map([("x", 1), ("y", 2)]))).await;
    put(&table, row("p", "b").with("o", 1)).await;
    let query = Query::new("p").project([Path::new("n"), Path::new("m").field("y")]).strong();
    let page = table.query(query).await.unwrap();
    let first = item! { "n" => 1, "m" => Value::map([("y", 2)]) };
    assert_eq!(page.items, [first, item! {}]);
}

pub(super) async fn a_projection_does_not_hide_the_position(bench: &TestBench) {
    let table = letters(bench).await;
    let page = table.query(Query::new("p").project(["x"]).limit(1)).await.unwrap();
    assert_eq!(page.next, Some(Position { base: Key::new("p", "a"), index: None }));
}

pub(super) async fn a_filter_sees_what_the_projection_hides(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "a").with("n", 1)).await;
    put(&table, row("p", "b").with("n", 2)).await;
    let query = Query::new("p").project(["SK"]).filter(attribute("n").eq(2)).strong();
    assert_eq!(table.query(query).await.unwrap().items, [item! { "SK" => "b" }]);
}

pub(super) async fn a_range_and_a_limit_and_an_order_go_together(bench: &TestBench) {
    let table = letters(bench).await;
    let range = SortRange::Between("b".into(), "d".into());
    for order in [Order::Ascending, Order::Descending] {
        let mut query = Query::new("p").sort(range.clone()).limit(1).strong();
        query.order = order;
        let mut expected = vec!["b", "c", "d"];
        if order == Order::Descending {
            expected.reverse();
        }
        assert_eq!(sorts(&table, query).await, expected);
    }
}

pub(super) async fn a_strong_query_sees_the_last_write(bench: &TestBench) {
    let table = bench.table().await;
    for at in 0..20 {
        let sort = format!("{at:02}");
        put(&table, row("p", &sort)).await;
        let found = sorts(&table, Query::new("p").strong().descending().limit(1)).await;
        assert_eq!(found.first(), Some(&sort));
    }
}
