//! Keys at the limits of length, with zero bytes, and with shared beginnings.

use bytes::Bytes;
use roundtable_table::{
    Delete, Item, Key, KeyAttribute, KeyDefinition, KeyKind, Merge, Query, Scalar, Scan, SortRange,
    Table, TableDefinition, Value, item,
};

use super::steps::{all, everything, get, long, nothing, put, put_all, row, sorts, texts};
use crate::TestBench;

fn binary() -> KeyDefinition {
    let partition = KeyAttribute { name: "PK".into(), kind: KeyKind::B };
    KeyDefinition { partition, sort: None }.sorted_by("SK", KeyKind::B)
}

fn blob(byte: u8, length: usize) -> Bytes {
    vec![byte; length].into()
}

pub(super) async fn the_longest_keys_hold_items(bench: &TestBench) {
    let table = bench.table().await;
    let (partition, sort) = (long(2048), long(1024));
    let item = row(&partition, &sort).with("a", 1);
    put(&table, item.clone()).await;
    assert_eq!(get(&table, (&partition, &sort)).await, Some(item.clone()));
    assert_eq!(all(&table, Query::new(&partition).strong()).await, vec![item.clone()]);
    assert_eq!(everything(&table, Scan::new().strong()).await, [item]);
    table.delete(Delete::new((&partition, &sort))).await.unwrap();
    assert_eq!(get(&table, (&partition, &sort)).await, None);
}

pub(super) async fn long_keys_that_differ_at_the_end_are_different(bench: &TestBench) {
    let table = bench.table().await;
    let base = long(2047);
    for end in ["a", "b", "c"] {
        let partition = format!("{base}{end}");
        let sorted = format!("{}{end}", long(1023));
        put_all(&table, [row(&partition, &sorted).with("at", end), row(&partition, "s")]).await;
    }
    for end in ["a", "b", "c"] {
        let partition = format!("{base}{end}");
        let found = sorts(&table, Query::new(&partition).strong()).await;
        assert_eq!(found, ["s".to_owned(), format!("{}{end}", long(1023))]);
    }
}

pub(super) async fn long_sort_keys_are_in_order(bench: &TestBench) {
    let table = bench.table().await;
    let beginning = long(1000);
    let mut expected: Vec<String> =
        ["", "a", "aa", "b", "c", "d", "e", "f"].map(|end| format!("{beginning}{end}")).to_vec();
    put_all(&table, expected.iter().rev().map(|sort| row("p", sort))).await;
    put_all(&table, [row("p", "a"), row("p", "z")]).await;
    expected.insert(0, "a".into());
    expected.push("z".into());
    assert_eq!(sorts(&table, Query::new("p").limit(3).strong()).await, expected);
    expected.reverse();
    assert_eq!(sorts(&table, Query::new("p").limit(3).descending().strong()).await, expected);
}

pub(super) async fn long_sort_keys_have_ranges(bench: &TestBench) {
    let table = bench.table().await;
    let sort = |end: &str| format!("{}{end}", long(1010));
    put_all(&table, ["a", "b", "c", "d"].map(|end| row("p", &sort(end)))).await;
    let at = |end: &str| Scalar::from(sort(end));
    let ranges: [(SortRange, &[&str]); 6] = [
        (SortRange::Less(at("c")), &["a", "b"]),
        (SortRange::LessOrEqual(at("c")), &["a", "b", "c"]),
        (SortRange::Greater(at("b")), &["c", "d"]),
        (SortRange::Between(at("b"), at("c")), &["b", "c"]),
        (SortRange::BeginsWith(at("")), &["a", "b", "c", "d"]),
        (SortRange::Equal(at("d")), &["d"]),
    ];
    for (range, ends) in ranges {
        let mut expected: Vec<_> = ends.iter().map(|end| sort(end)).collect();
        let query = Query::new("p").sort(range).strong();
        assert_eq!(sorts(&table, query.clone()).await, expected);
        expected.reverse();
        assert_eq!(sorts(&table, query.descending()).await, expected);
    }
}

pub(super) async fn the_longest_binary_keys_of_zeros_hold_items(bench: &TestBench) {
    let table = bench.keyed(binary()).await;
    for byte in [0, 1, 255] {
        let item = item! { "PK" => blob(byte, 2048), "SK" => blob(byte, 1024), "n" => 1 };
        put(&table, item.clone()).await;
        let key = Key::new(blob(byte, 2048), blob(byte, 1024));
        assert_eq!(get(&table, key).await, Some(item.clone()));
        assert_eq!(all(&table, Query::new(blob(byte, 2048)).strong()).await, [item]);
    }
    assert_eq!(everything(&table, Scan::new().strong()).await.len(), 3);
}

pub(super) async fn zeros_of_every_length_are_different_sort_keys(bench: &TestBench) {
    let table = bench.keyed(binary()).await;
    let lengths = [1, 2, 3, 255, 256, 511, 512, 513, 1000, 1023, 1024];
    for length in lengths.iter().rev() {
        put(&table, item! { "PK" => blob(0, 1), "SK" => blob(0, *length) }).await;
    }
    let found = all(&table, Query::new(blob(0, 1)).limit(2).strong()).await;
    let expected: Vec<_> = lengths.iter().map(|length| Value::B(blob(0, *length))).collect();
    let found: Vec<_> = found.iter().map(|item| item.get("SK").unwrap().to_value()).collect();
    assert_eq!(found, expected, "shorter ones first");
}

pub(super) async fn partitions_with_zero_bytes_do_not_mix(bench: &TestBench) {
    let table = bench.table().await;
    let partitions = ["a", "a\0", "a\0b", "a\0\0", "a\0\u{1}", "ab", "\0", "a\u{1}"];
    for partition in partitions {
        put_all(&table, ["x", "\0", "b\0x"].map(|sort| row(partition, sort))).await;
    }
    for partition in partitions {
        let items = all(&table, Query::new(partition).strong()).await;
        assert_eq!(texts(&items, "PK"), [partition; 3]);
        assert_eq!(texts(&items, "SK"), ["\0", "b\0x", "x"]);
        let backwards = all(&table, Query::new(partition).descending().limit(1).strong()).await;
        assert_eq!(texts(&backwards, "SK"), ["x", "b\0x", "\0"]);
    }
    assert_eq!(everything(&table, Scan::new().strong()).await.len(), 24);
}

pub(super) async fn binary_partitions_with_shared_beginnings_do_not_mix(bench: &TestBench) {
    let table = bench.keyed(binary()).await;
    let partitions: [&[u8]; 7] =
        [&[0], &[0, 0], &[0, 255], &[255], &[255, 0], &[255, 255], &[0, 1, 0]];
    for partition in partitions {
        for sort in partitions {
            put(&table, item! { "PK" => partition, "SK" => sort }).await;
        }
    }
    for partition in partitions {
        let items = all(&table, Query::new(partition).strong()).await;
        assert_eq!(items.len(), partitions.len());
        let own = |item: &Item| item.get("PK").unwrap().to_value() == Value::from(partition);
        assert!(items.iter().all(own), "{items:?}");
    }
}

pub(super) async fn zero_bytes_in_sort_keys_keep_their_order(bench: &TestBench) {
    let table = bench.table().await;
    let rising = ["\0", "\0\0", "\0\u{1}", "\u{1}", "a", "a\0", "a\0b", "a\u{1}", "ab"];
    put_all(&table, rising.iter().rev().map(|sort| row("p", sort))).await;
    assert_eq!(sorts(&table, Query::new("p").strong()).await, rising);
    let prefix = Query::new("p").begins_with("a\0").strong();
    assert_eq!(sorts(&table, prefix).await, ["a\0", "a\0b"]);
    let range = SortRange::Between("a\0".into(), "a\u{1}".into());
    let between = Query::new("p").sort(range).strong();
    assert_eq!(sorts(&table, between).await, ["a\0", "a\0b", "a\u{1}"]);
}

fn indexed(partition: &str, sort: &str, index: (&str, &str)) -> Item {
    row(partition, sort).with("GSI1PK", index.0).with("GSI1SK", index.1)
}

async fn found(table: &Table, query: Query) -> Vec<String> {
    texts(&all(table, query.index("GSI1")).await, "SK")
}

pub(super) async fn the_longest_index_keys_hold_items(bench: &TestBench) {
    let table = bench.table().await;
    let (partition, sort) = (long(2048), long(1024));
    let item = indexed(&partition, &sort, (&partition, &sort));
    put(&table, item.clone()).await;
    assert_eq!(all(&table, Query::new(&partition).index("GSI1")).await, vec![item.clone()]);
    put(&table, item.with("GSI1SK", "short")).await;
    let items = all(&table, Query::new(&partition).index("GSI1")).await;
    assert_eq!(texts(&items, "GSI1SK"), ["short"]);
    table.delete(Delete::new((&partition, &sort))).await.unwrap();
    assert_eq!(everything(&table, Scan::new().index("GSI1")).await, nothing());
}

pub(super) async fn long_index_keys_are_in_order(bench: &TestBench) {
    let table = bench.table().await;
    let (partition, beginning) = (long(2048), long(1020));
    for end in ["d", "b", "a", "c"] {
        let sort = format!("{beginning}{end}");
        put(&table, indexed(&format!("{partition:.2040}{end}"), end, (&partition, &sort))).await;
    }
    let query = || Query::new(&partition).limit(1);
    assert_eq!(found(&table, query()).await, ["a", "b", "c", "d"]);
    assert_eq!(found(&table, query().descending()).await, ["d", "c", "b", "a"]);
    let bound = Scalar::from(format!("{beginning}b"));
    assert_eq!(found(&table, query().sort(SortRange::Greater(bound))).await, ["c", "d"]);
}

pub(super) async fn index_keys_with_zero_bytes_do_not_mix(bench: &TestBench) {
    let table = bench.table().await;
    let keys = [("a", "b"), ("a\0", "b"), ("a\0b", "b"), ("a", "\0b"), ("a", "b\0"), ("ab", "\0")];
    for (at, index) in keys.iter().enumerate() {
        put(&table, indexed("p", &at.to_string(), *index)).await;
        put(&table, indexed("p\0", &at.to_string(), *index)).await;
    }
    assert_eq!(found(&table, Query::new("a")).await, ["3", "3", "0", "0", "4", "4"]);
    assert_eq!(found(&table, Query::new("a\0")).await, ["1", "1"]);
    assert_eq!(found(&table, Query::new("a\0b")).await, ["2", "2"]);
    assert_eq!(found(&table, Query::new("ab")).await, ["5", "5"]);
}

pub(super) async fn long_keys_merge_in_order(bench: &TestBench) {
    let table = bench.table().await;
    let partitions = ["a", "b", "c"].map(|end| format!("{}{end}", long(2047)));
    for (at, partition) in partitions.iter().enumerate() {
        for step in 0..3 {
            put(&table, row(partition, &format!("{}{}", long(1000), step * 3 + at))).await;
        }
    }
    let page = table.merge(Merge::oldest(&partitions, 100)).await.unwrap();
    let expected: Vec<_> = (0..9).map(|at| format!("{}{at}", long(1000))).collect();
    assert_eq!(texts(&page.items, "SK"), expected);
}

pub(super) async fn the_longest_keys_page_a_table_without_sort_key(bench: &TestBench) {
    let definition = TableDefinition::new(bench.name(), KeyDefinition::partition("PK"));
    let table = bench.table_of(definition).await;
    let names: Vec<_> = ["a", "b", "c"].map(|end| format!("{}{end}", long(2047))).to_vec();
    put_all(&table, names.iter().map(|name| item! { "PK" => name })).await;
    let found = everything(&table, Scan::new().limit(1).strong()).await;
    assert_eq!(texts(&found, "PK"), names);
}
