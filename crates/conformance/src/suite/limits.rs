//! Limits: each breach names the limit, the value and the key, and leaves nothing behind.

use roundtable_table::{
    BatchGet, BatchWrite, Condition, Delete, Get, IndexProjection, Invalid, Item, Key,
    KeyDefinition, KeyKind, Limit, Merge, Number, NumberError, Operand, Path, Put, Query, Scalar,
    Scan, SortRange, TableDefinition, TableGet, Term, Transaction, Update, Value, ValueKind,
    attribute, exists, item, limits,
};

use super::items::largest;
use super::steps::{
    bytes, get, invalid, key, long, number, put, put_all, refused, refused_by_item, row, subject,
    truths,
};
use crate::TestBench;

fn over(limit: Limit, actual: usize, max: usize, subject: impl std::fmt::Display) -> Invalid {
    Invalid::OverLimit { limit, actual, max, subject: subject.to_string() }
}

fn empty(attribute: &str, key: &Key) -> Invalid {
    Invalid::KeyEmpty { attribute: attribute.into(), key: key.to_string() }
}

pub(super) async fn an_item_over_400_kb_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let item = largest().with("b", "");
    let expected = || over(Limit::ItemBytes, 400 * 1024 + 1, 400 * 1024, key());
    refused(&table, table.put(Put::new(item.clone())), expected()).await;
    let batch = vec![BatchWrite::Put(row("p", "fits")), BatchWrite::Put(item.clone())];
    refused(&table, table.batch_write(batch), expected()).await;
    let transaction =
        Transaction::new().with(&table, Put::new(row("p", "fits"))).with(&table, Put::new(item));
    refused(&table, bench.store.transact(transaction), expected()).await;
}

pub(super) async fn a_too_large_item_does_not_replace_the_old_one(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    let expected = over(Limit::ItemBytes, 400 * 1024 + 1, 400 * 1024, key());
    refused(&table, table.put(Put::new(largest().with("b", ""))), expected).await;
    assert_eq!(get(&table, key()).await, Some(subject().with("n", 1)));
}

pub(super) async fn a_too_long_partition_key_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let partition = long(2049);
    let at = Key::new(&partition, "s");
    let expected = || over(Limit::PartitionKeyBytes, 2049, 2048, &at);
    refused(&table, table.put(Put::new(row(&partition, "s"))), expected()).await;
    refused(&table, table.update(Update::new(at.clone()).set("a", 1)), expected()).await;
    refused(&table, table.delete(Delete::new(at.clone())), expected()).await;
    refused(&table, table.get(Get::new(at.clone())), expected()).await;
    refused(&table, table.batch_get(BatchGet::new([at.clone()])), expected()).await;
    let error = invalid(table.query(Query::new(&partition)).await);
    let alone = Scalar::from(&partition);
    assert_eq!(error, over(Limit::PartitionKeyBytes, 2049, 2048, alone));
}

pub(super) async fn a_too_long_sort_key_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let sort = long(1025);
    let at = Key::new("p", &sort);
    let expected = || over(Limit::SortKeyBytes, 1025, 1024, &at);
    refused(&table, table.put(Put::new(row("p", &sort))), expected()).await;
    refused(&table, table.update(Update::new(at.clone()).set("a", 1)), expected()).await;
    refused(&table, table.delete(Delete::new(at.clone())), expected()).await;
    refused(&table, table.get(Get::new(at.clone())), expected()).await;
    let error = invalid(table.query(Query::new("p").begins_with(&sort)).await);
    assert_eq!(error, over(Limit::SortKeyBytes, 1025, 1024, &at));
}

pub(super) async fn key_lengths_count_bytes(bench: &TestBench) {
    let table = bench.table().await;
    let sort = "é".repeat(513);
    let at = Key::new("p", &sort);
    let expected = over(Limit::SortKeyBytes, 1026, 1024, &at);
    refused(&table, table.put(Put::new(row("p", &sort))), expected).await;
    put(&table, row("p", &"é".repeat(512))).await;
}

pub(super) async fn an_empty_partition_key_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let at = Key::new("", "s");
    refused(&table, table.put(Put::new(row("", "s"))), empty("PK", &at)).await;
    refused(&table, table.get(Get::new(at.clone())), empty("PK", &at)).await;
    refused(&table, table.update(Update::new(at.clone()).set("a", 1)), empty("PK", &at)).await;
    let error = invalid(table.query(Query::new("")).await);
    assert_eq!(error, Invalid::KeyEmpty { attribute: "PK".into(), key: "\"\"".into() });
}

pub(super) async fn an_empty_sort_key_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let at = Key::new("p", "");
    refused(&table, table.put(Put::new(row("p", ""))), empty("SK", &at)).await;
    refused(&table, table.delete(Delete::new(at.clone())), empty("SK", &at)).await;
    let error = invalid(table.query(Query::new("p").begins_with("")).await);
    assert!(matches!(error, Invalid::KeyEmpty { .. }), "{error}");
}

pub(super) async fn an_empty_binary_key_is_refused(bench: &TestBench) {
    let table = bench.keyed(KeyDefinition::partition("PK").sorted_by("SK", KeyKind::B)).await;
    let item = item! { "PK" => "p", "SK" => bytes(&[]) };
    let error = invalid(table.put(Put::new(item)).await);
    assert!(matches!(error, Invalid::KeyEmpty { .. }), "{error}");
}

pub(super) async fn a_key_of_the_wrong_type_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let at = Key::new("p", 1);
    let expected = || Invalid::KeyType {
        attribute: "SK".into(),
        expected: ValueKind::S,
        found: ValueKind::N,
        key: at.to_string(),
    };
    refused(&table, table.put(Put::new(item! { "PK" => "p", "SK" => 1 })), expected()).await;
    refused(&table, table.get(Get::new(at.clone())), expected()).await;
    refused(&table, table.update(Update::new(at.clone()).set("a", 1)), expected()).await;
    refused(&table, table.delete(Delete::new(at.clone())), expected()).await;
    refused(&table, table.batch_get(BatchGet::new([at.clone()])), expected()).await;
}

pub(super) async fn a_key_of_a_type_no_key_can_have_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let values = [Value::Null, Value::from(true), Value::list([1]), Value::texts(["s"])];
    for value in values {
        let expected = Invalid::KeyType {
            attribute: "SK".into(),
            expected: ValueKind::S,
            found: value.kind(),
            key: "of the item written".into(),
        };
        let item = item! { "PK" => "p", "SK" => value };
        refused(&table, table.put(Put::new(item)), expected).await;
    }
}

pub(super) async fn a_missing_key_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let expected = |attribute: &str, key: &str| Invalid::KeyMissing {
        attribute: attribute.into(),
        key: key.into(),
    };
    let without = |item: Item| table.put(Put::new(item));
    refused(&table, without(item! { "PK" => "p" }), expected("SK", "of the item written")).await;
    refused(&table, without(item! { "SK" => "s" }), expected("PK", "of the item written")).await;
    let half = Get::new(Key::single("p"));
    refused(&table, table.get(half), expected("SK", "\"p\"")).await;
}

pub(super) async fn an_unexpected_sort_key_is_refused(bench: &TestBench) {
    let table = bench.keyed(KeyDefinition::partition("PK")).await;
    let expected = Invalid::KeyUnexpected { key: key().to_string() };
    assert_eq!(invalid(table.get(Get::new(key())).await), expected);
    let error = invalid(table.query(Query::new("p").begins_with("s")).await);
    assert_eq!(error, Invalid::KeyUnexpected { key: "\"p\"".into() });
}

pub(super) async fn a_too_long_index_key_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    let cases = [("GSI1PK", Limit::PartitionKeyBytes, 2048), ("GSI1SK", Limit::SortKeyBytes, 1024)];
    for (name, limit, max) in cases {
        let value = long(max + 1);
        let source = over(limit, max + 1, max, Scalar::from(&value));
        let expected =
            || Invalid::IndexKey { index: "GSI1".into(), source: Box::new(source.clone()) };
        let item = row("p", "t").with(name, value.clone());
        refused(&table, table.put(Put::new(item)), expected()).await;
        let set = Update::new(key()).set(name, value.clone());
        refused(&table, table.update(set), expected()).await;
    }
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(Value::from("x"), |inner, at| match at % 2 {
        0 => Value::L(vec![inner]),
        _ => Value::map([("k", inner)]),
    })
}

pub(super) async fn nesting_goes_32_levels_deep(bench: &TestBench) {
    let table = bench.table().await;
    // The item itself is the first level.
    let item = subject().with("a", nested(31));
    put(&table, item.clone()).await;
    assert_eq!(get(&table, key()).await, Some(item));
    let expected = over(Limit::Nesting, 33, 32, format!("\"a\" of {}", key()));
    let attempt = table.put(Put::new(subject().with("a", nested(32))));
    refused(&table, attempt, expected).await;
}

pub(super) async fn an_update_cannot_nest_deeper(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("a", nested(31)).with("b", Value::list([1]))).await;
    let deeper = Update::new(key()).set("a", nested(32));
    refused_by_item(&table, table.update(deeper)).await;
    let deeper = Update::new(key()).set(Path::new("b").index(0), nested(31));
    refused_by_item(&table, table.update(deeper)).await;
}

pub(super) async fn an_attribute_name_has_65535_bytes_at_most(bench: &TestBench) {
    let table = bench.table().await;
    let item = subject().with(long(65_535), 1);
    put(&table, item.clone()).await;
    assert_eq!(get(&table, key()).await, Some(item));
    let expected = over(Limit::NameBytes, 65_536, 65_535, key());
    refused(&table, table.put(Put::new(subject().with(long(65_536), 1))), expected).await;
}

pub(super) async fn an_empty_attribute_name_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let expected = || Invalid::EmptyName { subject: key().to_string() };
    refused(&table, table.put(Put::new(subject().with("", 1))), expected()).await;
    let inside = subject().with("m", Value::map([("", 1)]));
    refused(&table, table.put(Put::new(inside)), expected()).await;
}

pub(super) async fn an_empty_set_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("m", Value::map([("x", 1)]))).await;
    let expected = || Invalid::EmptySet { attribute: "a".into(), subject: key().to_string() };
    let nothing: [&str; 0] = [];
    let sets = [Value::texts(nothing), Value::Ns([].into()), Value::Bs([].into())];
    for set in sets {
        refused(&table, table.put(Put::new(subject().with("a", set.clone()))), expected()).await;
        let inside = subject().with("a", Value::L(vec![set.clone()]));
        refused(&table, table.put(Put::new(inside)), expected()).await;
        refused(&table, table.update(Update::new(key()).add("a", set.clone())), expected()).await;
        let subtract = Update::new(key()).subtract("a", set.clone());
        refused(&table, table.update(subtract), expected()).await;
        refused_by_item(&table, table.update(Update::new(key()).set("a", set))).await;
    }
}

pub(super) async fn numbers_out_of_range_are_refused(_bench: &TestBench) {
    let error = |text: &str| text.parse::<Number>().unwrap_err();
    assert!(matches!(error("1E126"), NumberError::TooLarge { .. }));
    assert!(matches!(error("1E-131"), NumberError::TooSmall { .. }));
    let digits = "1".repeat(39);
    assert_eq!(error(&digits), NumberError::TooManyDigits { digits: 39, max: 38 });
    assert!(matches!(error("one"), NumberError::Malformed { .. }));
}

pub(super) async fn a_condition_has_a_limit_of_operators(bench: &TestBench) {
    let table = bench.table().await;
    let any =
        |count: usize| Condition::Any((0..count).map(|at| exists(format!("a{at}"))).collect());
    truths(&table, Some(&subject()), [(any(148), false)]).await;
    let attempt = Put::new(subject()).when(any(149));
    let expected = over(Limit::Operators, 298, limits::OPERATORS_MAX, "one condition");
    refused(&table, table.put(attempt), expected).await;
}

pub(super) async fn an_update_has_a_limit_of_operators(bench: &TestBench) {
    let table = bench.table().await;
    let sets = |count: usize| {
        (0..count).fold(Update::new(key()), |update, at| update.set(format!("a{at}"), 1))
    };
    table.update(sets(296)).await.unwrap();
    assert_eq!(get(&table, key()).await.unwrap().len(), 298);
    let expected = over(Limit::Operators, 297, limits::OPERATORS_MAX, key());
    refused(&table, table.update(sets(297)), expected).await;
}

pub(super) async fn in_takes_no_more_than_100_operands_and_no_fewer_than_one(bench: &TestBench) {
    let table = bench.table().await;
    let attempt = Put::new(subject()).when(attribute("a").one_of(0..101));
    let expected = over(Limit::InOperands, 101, 100, "one IN");
    refused(&table, table.put(attempt), expected).await;
    let attempt = Put::new(subject()).when(Condition::In(attribute("a"), Vec::new()));
    let error = invalid(table.put(attempt).await);
    assert!(matches!(error, Invalid::EmptyRequest { .. }), "{error}");
}

pub(super) async fn a_path_has_32_elements_at_most(bench: &TestBench) {
    let table = bench.table().await;
    let path = |steps: usize| (0..steps).fold(Path::new("a"), |path, _| path.index(0));
    let item = subject().with("a", (0..31).fold(Value::from(7), |inner, _| Value::L(vec![inner])));
    truths(&table, Some(&item), [(attribute(path(31)).eq(7), true)]).await;
    let found = table.get(Get::new(key()).project([path(31)])).await.unwrap().item.unwrap();
    assert_eq!(found.len(), 1);
    let deep = path(32);
    let expected = || over(Limit::PathDepth, 33, 32, &deep);
    refused(&table, table.get(Get::new(key()).project([deep.clone()])), expected()).await;
    let attempt = Put::new(subject()).when(exists(deep.clone()));
    refused(&table, table.put(attempt), expected()).await;
    let attempt = Update::new(key()).set(deep.clone(), 1);
    refused(&table, table.update(attempt), expected()).await;
}

pub(super) async fn a_limit_of_zero_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    assert_eq!(invalid(table.query(Query::new("p").limit(0)).await), Invalid::ZeroLimit);
    assert_eq!(invalid(table.scan(Scan::new().limit(0)).await), Invalid::ZeroLimit);
    assert_eq!(invalid(table.merge(Merge::newest(["p"], 0)).await), Invalid::ZeroLimit);
}

pub(super) async fn a_scan_of_too_many_segments_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let expected = over(Limit::ScanSegments, 1_000_001, 1_000_000, &table.definition().name);
    assert_eq!(invalid(table.scan(Scan::new().segment(0, 1_000_001)).await), expected);
}

pub(super) async fn a_range_the_wrong_way_round_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let range = SortRange::Between("b".into(), "a".into());
    let expected = Invalid::EmptyRange { low: "\"b\"".into(), high: "\"a\"".into() };
    assert_eq!(invalid(table.query(Query::new("p").sort(range)).await), expected);
}

pub(super) async fn a_prefix_of_a_number_is_refused(bench: &TestBench) {
    let table = bench.keyed(KeyDefinition::partition("PK").sorted_by("at", KeyKind::N)).await;
    let error = invalid(table.query(Query::new("p").begins_with(1)).await);
    assert_eq!(error, Invalid::PrefixOfNumber { attribute: "at".into() });
}

pub(super) async fn a_bound_of_the_wrong_type_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let ranges = [
        SortRange::Equal(1.into()),
        SortRange::Less(1.into()),
        SortRange::Between("a".into(), 1.into()),
        SortRange::BeginsWith(Scalar::from(vec![1])),
    ];
    for range in ranges {
        let error = invalid(table.query(Query::new("p").sort(range)).await);
        assert!(matches!(error, Invalid::KeyType { .. }), "{error}");
    }
    let error = invalid(table.query(Query::new(1)).await);
    assert!(matches!(error, Invalid::KeyType { .. }), "{error}");
}

pub(super) async fn an_order_of_unordered_constants_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let constants = [
        Value::from(true),
        Value::Null,
        Value::list([1]),
        Value::map([("a", 1)]),
        Value::texts(["a"]),
    ];
    for constant in constants {
        let conditions = [
            attribute("a").lt(constant.clone()),
            attribute("a").ge(constant.clone()),
            attribute("a").between(constant.clone(), constant.clone()),
            Condition::BeginsWith("a".into(), Operand::Value(constant)),
        ];
        for condition in conditions {
            let error = invalid(table.put(Put::new(subject()).when(condition)).await);
            assert!(matches!(error, Invalid::OperandType { .. }), "{error}");
        }
    }
    let number = Condition::BeginsWith("a".into(), 1.into());
    let error = invalid(table.put(Put::new(subject()).when(number)).await);
    assert!(matches!(error, Invalid::OperandType { .. }), "{error}");
    assert_eq!(get(&table, key()).await, None);
}

pub(super) async fn a_between_that_nothing_can_satisfy_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    for condition in [attribute("a").between(2, 1), attribute("a").between(1, "2")] {
        let error = invalid(table.put(Put::new(subject()).when(condition)).await);
        assert!(matches!(error, Invalid::EmptyRange { .. }), "{error}");
    }
}

pub(super) async fn a_comparison_of_a_path_with_itself_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let conditions = [
        attribute("a").eq(attribute("a")),
        attribute("a").between(attribute("a"), 7),
        attribute("a").one_of([attribute("a")]),
        Condition::Contains("a".into(), attribute("a")),
        exists("PK").and(attribute("a").lt(attribute("a"))).negate(),
    ];
    for condition in conditions {
        let error = invalid(table.put(Put::new(subject()).when(condition)).await);
        assert_eq!(error, Invalid::SameOperand { path: "a".into() });
    }
}

pub(super) async fn projected_paths_may_not_overlap(bench: &TestBench) {
    let table = bench.table().await;
    let paths = || [Path::new("m"), Path::new("m").field("x")];
    let expected = || {
        let [first, second] = paths();
        Invalid::PathOverlap { first, second }
    };
    assert_eq!(invalid(table.get(Get::new(key()).project(paths())).await), expected());
    assert_eq!(invalid(table.query(Query::new("p").project(paths())).await), expected());
    assert_eq!(invalid(table.scan(Scan::new().project(paths())).await), expected());
    let batch = BatchGet::new([key()]).project(paths());
    assert_eq!(invalid(table.batch_get(batch).await), expected());
}

pub(super) async fn arithmetic_of_many_terms_counts_its_operators(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 0)).await;
    let terms = |count: usize| (0..count).fold(Term::Path("n".into()), |sum, _| sum.plus(1));
    let deep = Update::new(key()).set("n", terms(301));
    let error = invalid(table.update(deep).await);
    assert!(matches!(error, Invalid::OverLimit { limit: Limit::Operators, .. }), "{error}");
    assert_eq!(get(&table, key()).await, Some(subject().with("n", number("0"))));
}

pub(super) async fn a_merge_returns_a_thousand_items_at_most(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    assert_eq!(table.merge(Merge::newest(["p"], 1000)).await.unwrap().items, [subject()]);
    let name = &table.definition().name;
    for limit in [1001, usize::MAX] {
        let expected = over(Limit::MergeItems, limit, 1000, name);
        assert_eq!(invalid(table.merge(Merge::newest(["p"], limit)).await), expected);
    }
}

pub(super) async fn a_transactional_read_of_more_than_4_mb_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let item = |at: usize| row("p", &format!("{at:02}")).with("a", long(390 * 1024));
    put_all(&table, (0..11).map(item)).await;
    let reads = |count: usize| {
        let get = |at: usize| Get::new(Key::new("p", format!("{at:02}")));
        let table = || table.definition().clone();
        (0..count).map(|at| TableGet { table: table(), get: get(at) }).collect::<Vec<_>>()
    };
    let found = bench.store.transact_get(reads(10)).await.unwrap();
    assert_eq!(found.items.into_iter().flatten().count(), 10);
    let expected = over(
        Limit::TransactionBytes,
        11 * item(0).size(),
        4 * 1024 * 1024,
        "one transactional read",
    );
    assert_eq!(invalid(bench.store.transact_get(reads(11)).await), expected);
}

pub(super) async fn an_expression_has_4_kb_of_text_at_most(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    let deep = |at: usize| (0..30).fold(Path::new(format!("a{at}")), |path, _| path.field("x"));
    let paths = |count: usize| (0..count).map(deep).collect::<Vec<_>>();
    let is_over = |error: Invalid| {
        let Invalid::OverLimit { limit, actual, max, .. } = error else { panic!("{error}") };
        assert_eq!((limit, max), (Limit::ExpressionBytes, 4096));
        assert!(actual > max);
    };
    // Thirty-one names and thirty dots each: at most 155 bytes.
    let any = |count: usize| Condition::Any(paths(count).into_iter().map(exists).collect());
    truths(&table, Some(&subject()), [(any(20), false)]).await;
    is_over(invalid(table.put(Put::new(subject()).when(any(40))).await));
    is_over(invalid(table.delete(Delete::new(key()).when(any(40))).await));
    is_over(invalid(table.query(Query::new("p").filter(any(40))).await));
    is_over(invalid(table.scan(Scan::new().filter(any(40))).await));
    let copies = |count: usize| {
        let update = Update::new(key());
        paths(count).into_iter().enumerate().fold(update, |update, (at, path)| {
            update.set(format!("b{at}"), Term::if_not_exists(path, 1))
        })
    };
    table.update(copies(20)).await.unwrap();
    is_over(invalid(table.update(copies(40)).await));
    let found = table.get(Get::new(key()).project(paths(20))).await.unwrap().item;
    assert_eq!(found, Some(item! {}));
    is_over(invalid(table.get(Get::new(key()).project(paths(40))).await));
    is_over(invalid(table.batch_get(BatchGet::new([key()]).project(paths(40))).await));
    assert_eq!(get(&table, key()).await.unwrap().len(), 22, "only what fitted was done");
}

pub(super) async fn the_indexes_of_a_table_include_100_attributes_at_most(bench: &TestBench) {
    let with = |indexes: usize, each: usize| {
        let table = TableDefinition::new(bench.name(), KeyDefinition::partition("id"));
        (0..indexes).fold(table, |table, at| {
            let names = (0..each).map(|name| format!("a{name}")).collect();
            let included = IndexProjection::Include(names);
            table.with_index_of(format!("index-{at}"), KeyDefinition::partition("x"), included)
        })
    };
    bench.table_of(with(5, 20)).await;
    let over = |actual: usize, definition: TableDefinition| {
        let expected = over(Limit::IncludedAttributes, actual, 100, &definition.name);
        async move { assert_eq!(invalid(bench.store.create_table(definition).await), expected) }
    };
    over(102, with(6, 17)).await;
    // Indexes need the ttl to tell expired items.
    over(105, with(5, 20).with_ttl("ttl")).await;
}
