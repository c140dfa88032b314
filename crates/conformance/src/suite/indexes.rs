//! Sparse indexes: items appear, move and disappear with the attributes that are its keys.

use roundtable_table::{
    Delete, IndexProjection, Invalid, Item, Key, KeyDefinition, KeyKind, Position, Put, Query,
    Scan, SortRange, Table, TableDefinition, Update, Value, attribute, item,
};

use super::steps::{
    all, bytes, everything, invalid, key, nothing, number, put, put_all, refused, refused_by_item,
    row, sorts, subject, texts, update,
};
use crate::TestBench;

fn entry(partition: &str, sort: &str, index_sort: &str) -> Item {
    row(partition, sort).with("GSI1PK", "g").with("GSI1SK", index_sort)
}

fn gsi1(partition: &str) -> Query {
    Query::new(partition).index("GSI1")
}

pub(super) async fn an_item_without_index_keys_is_in_no_index(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    put(&table, row("p", "half").with("GSI1PK", "g")).await;
    put(&table, row("p", "other half").with("GSI1SK", "1")).await;
    assert_eq!(everything(&table, Scan::new().index("GSI1")).await, nothing());
    assert_eq!(everything(&table, Scan::new().index("GSI2")).await, nothing());
}

pub(super) async fn an_item_with_index_keys_is_found_whole(bench: &TestBench) {
    let table = bench.table().await;
    let item = entry("p", "s", "1").with("a", 1);
    put(&table, item.clone()).await;
    assert_eq!(all(&table, gsi1("g")).await, [item]);
    assert_eq!(all(&table, gsi1("h")).await, nothing());
}

pub(super) async fn an_index_gathers_partitions_in_its_own_order(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, [entry("a", "1", "3"), entry("b", "1", "1"), entry("a", "2", "2")]).await;
    let items = all(&table, gsi1("g")).await;
    assert_eq!(texts(&items, "GSI1SK"), ["1", "2", "3"]);
    let items = all(&table, gsi1("g").descending()).await;
    assert_eq!(texts(&items, "GSI1SK"), ["3", "2", "1"]);
}

pub(super) async fn an_index_has_ranges(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, ["1", "2", "3", "31", "4"].map(|at| entry(at, "s", at))).await;
    let ranges: [(SortRange, &[&str]); 7] = [
        (SortRange::Equal("2".into()), &["2"]),
        (SortRange::Less("3".into()), &["1", "2"]),
        (SortRange::LessOrEqual("3".into()), &["1", "2", "3"]),
        (SortRange::Greater("3".into()), &["31", "4"]),
        (SortRange::GreaterOrEqual("3".into()), &["3", "31", "4"]),
        (SortRange::Between("2".into(), "31".into()), &["2", "3", "31"]),
        (SortRange::BeginsWith("3".into()), &["3", "31"]),
    ];
    for (range, expected) in ranges {
        let items = all(&table, gsi1("g").sort(range)).await;
        assert_eq!(texts(&items, "GSI1SK"), expected);
    }
}

pub(super) async fn an_item_appears_when_it_gets_its_index_keys(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    update(&table, Update::new(key()).set("GSI1PK", "g")).await;
    assert_eq!(all(&table, gsi1("g")).await.len(), 0);
    update(&table, Update::new(key()).set("GSI1SK", "1")).await;
    assert_eq!(all(&table, gsi1("g")).await, [entry("p", "s", "1")]);
}

pub(super) async fn an_item_moves_when_its_index_sort_key_changes(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, [entry("a", "s", "1"), entry("b", "s", "2"), entry("c", "s", "3")]).await;
    update(&table, Update::new(("a", "s")).set("GSI1SK", "9")).await;
    let items = all(&table, gsi1("g")).await;
    assert_eq!(texts(&items, "PK"), ["b", "c", "a"]);
}

pub(super) async fn an_item_moves_when_its_index_partition_changes(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, entry("p", "s", "1")).await;
    put(&table, subject().with("GSI1PK", "h").with("GSI1SK", "1")).await;
    assert_eq!(all(&table, gsi1("g")).await.len(), 0);
    assert_eq!(all(&table, gsi1("h")).await.len(), 1);
    assert_eq!(everything(&table, Scan::new().index("GSI1")).await.len(), 1);
}

pub(super) async fn an_item_disappears_when_it_loses_an_index_key(bench: &TestBench) {
    let table = bench.table().await;
    for name in ["GSI1PK", "GSI1SK"] {
        put(&table, entry("p", "s", "1")).await;
        assert_eq!(all(&table, gsi1("g")).await.len(), 1);
        update(&table, Update::new(key()).remove(name)).await;
        assert_eq!(all(&table, gsi1("g")).await.len(), 0);
    }
}

pub(super) async fn an_item_disappears_when_a_put_drops_its_index_keys(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, entry("p", "s", "1")).await;
    put(&table, subject()).await;
    assert_eq!(everything(&table, Scan::new().index("GSI1")).await.len(), 0);
}

pub(super) async fn a_deleted_item_leaves_its_indexes(bench: &TestBench) {
    let table = bench.table().await;
    let item = entry("p", "s", "1").with("GSI2PK", "h").with("GSI2SK", "2");
    put(&table, item).await;
    table.delete(Delete::new(key())).await.unwrap();
    assert_eq!(everything(&table, Scan::new().index("GSI1")).await.len(), 0);
    assert_eq!(everything(&table, Scan::new().index("GSI2")).await.len(), 0);
}

pub(super) async fn indexes_are_independent(bench: &TestBench) {
    let table = bench.table().await;
    let item = entry("p", "s", "1").with("GSI2PK", "h").with("GSI2SK", "2");
    put(&table, item.clone()).await;
    assert_eq!(all(&table, Query::new("h").index("GSI2")).await, [item]);
    update(&table, Update::new(key()).remove("GSI1PK")).await;
    assert_eq!(all(&table, gsi1("g")).await.len(), 0);
    assert_eq!(all(&table, Query::new("h").index("GSI2")).await.len(), 1);
}

pub(super) async fn an_index_shows_updates_of_other_attributes(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, entry("p", "s", "1").with("n", 1)).await;
    update(&table, Update::new(key()).add("n", 1)).await;
    assert_eq!(all(&table, gsi1("g")).await, [entry("p", "s", "1").with("n", 2)]);
}

pub(super) async fn items_with_equal_index_keys_are_all_there(bench: &TestBench) {
    let table = bench.table().await;
    let names: Vec<_> = (0..9).map(|at| format!("{at}")).collect();
    put_all(&table, names.iter().map(|name| entry(name, "s", "same"))).await;
    let mut found = texts(&all(&table, gsi1("g").limit(2)).await, "PK");
    found.sort();
    assert_eq!(found, names, "each once, page by page");
    let mut found = texts(&all(&table, gsi1("g").limit(2).descending()).await, "PK");
    found.sort();
    assert_eq!(found, names, "each once, page by page, backwards");
}

pub(super) async fn an_index_position_carries_both_keys(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, [entry("a", "s", "1"), entry("b", "s", "2")]).await;
    let page = table.query(gsi1("g").limit(1)).await.unwrap();
    let expected = Position { base: Key::new("a", "s"), index: Some(Key::new("g", "1")) };
    assert_eq!(page.next, Some(expected.clone()));
    let page = table.query(gsi1("g").after(expected)).await.unwrap();
    assert_eq!(texts(&page.items, "PK"), ["b"]);
}

pub(super) async fn an_index_position_need_not_exist(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, ["1", "2", "3"].map(|at| entry(at, "s", at))).await;
    let page = table.query(gsi1("g").limit(2)).await.unwrap();
    table.delete(Delete::new(("2", "s"))).await.unwrap();
    let rest = table.query(gsi1("g").after(page.next)).await.unwrap();
    assert_eq!(texts(&rest.items, "PK"), ["3"]);
}

pub(super) async fn an_index_filters_on_attributes_and_base_keys(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, ["1", "2", "3"].map(|at| entry(at, "s", at).with("n", number(at)))).await;
    let items = all(&table, gsi1("g").filter(attribute("n").ge(2))).await;
    assert_eq!(texts(&items, "PK"), ["2", "3"]);
    let items = all(&table, gsi1("g").filter(attribute("PK").eq("1"))).await;
    assert_eq!(texts(&items, "PK"), ["1"]);
    let filter = attribute("GSI1SK").eq("1");
    let expected = Invalid::FilterOnKey { attribute: "GSI1SK".into() };
    assert_eq!(invalid(table.query(gsi1("g").filter(filter)).await), expected);
}

async fn projecting(bench: &TestBench, projection: IndexProjection) -> Table {
    let definition = TableDefinition::new(bench.name(), KeyDefinition::texts("PK", "SK"));
    let keys = KeyDefinition::texts("GSI1PK", "GSI1SK");
    bench.table_of(definition.with_index_of("GSI1", keys, projection)).await
}

pub(super) async fn a_keys_only_index_shows_the_keys_only(bench: &TestBench) {
    let table = projecting(bench, IndexProjection::KeysOnly).await;
    put(&table, entry("p", "s", "1").with("a", 1)).await;
    assert_eq!(all(&table, gsi1("g")).await, [entry("p", "s", "1")]);
    assert_eq!(everything(&table, Scan::new().index("GSI1")).await, [entry("p", "s", "1")]);
}

pub(super) async fn an_including_index_shows_the_keys_and_those(bench: &TestBench) {
    let projection = IndexProjection::Include(vec!["a".into(), "missing".into()]);
    let table = projecting(bench, projection).await;
    put(&table, entry("p", "s", "1").with("a", 1).with("b", 2)).await;
    assert_eq!(all(&table, gsi1("g")).await, [entry("p", "s", "1").with("a", 1)]);
    let filtered = all(&table, gsi1("g").filter(attribute("a").eq(1))).await;
    assert_eq!(filtered.len(), 1);
}

pub(super) async fn what_an_index_does_not_carry_cannot_be_asked_of_it(bench: &TestBench) {
    let table = projecting(bench, IndexProjection::KeysOnly).await;
    put(&table, entry("p", "s", "1").with("a", 1)).await;
    let expected = || Invalid::NotProjected { index: "GSI1".into(), attribute: "a".into() };
    assert_eq!(invalid(table.query(gsi1("g").project(["PK", "a"])).await), expected());
    let filter = attribute("a").eq(1);
    assert_eq!(invalid(table.query(gsi1("g").filter(filter.clone())).await), expected());
    assert_eq!(invalid(table.scan(Scan::new().index("GSI1").filter(filter)).await), expected());
    let found = table.query(gsi1("g").project(["SK"])).await.unwrap().items;
    assert_eq!(found, [item! { "SK" => "s" }]);
}

pub(super) async fn an_index_may_lack_a_sort_key(bench: &TestBench) {
    let definition = TableDefinition::new(bench.name(), KeyDefinition::texts("PK", "SK"))
        .with_index("email", KeyDefinition::partition("mail"));
    let table = bench.table_of(definition).await;
    put(&table, row("p", "1").with("mail", "a@b")).await;
    put(&table, row("p", "2").with("mail", "a@b")).await;
    put(&table, row("p", "3")).await;
    let mut found = sorts(&table, Query::new("a@b").index("email").limit(1)).await;
    found.sort();
    assert_eq!(found, ["1", "2"]);
}

pub(super) async fn index_keys_may_be_numbers_and_bytes(bench: &TestBench) {
    let definition = TableDefinition::new(bench.name(), KeyDefinition::texts("PK", "SK"))
        .with_index("score", KeyDefinition::partition("game").sorted_by("points", KeyKind::N))
        .with_index("hash", KeyDefinition::partition("game").sorted_by("hash", KeyKind::B));
    let table = bench.table_of(definition).await;
    let games = [("a", "-5", 200), ("b", "10", 3), ("c", "9.5", 127)];
    for (sort, points, hash) in games {
        let item = row("p", sort).with("game", "g").with("points", number(points));
        put(&table, item.with("hash", bytes(&[hash]))).await;
    }
    let score = Query::new("g").index("score");
    assert_eq!(sorts(&table, score.clone()).await, ["a", "c", "b"]);
    let above = score.sort(SortRange::Greater(number("9").into())).descending();
    assert_eq!(sorts(&table, above).await, ["b", "c"]);
    assert_eq!(sorts(&table, Query::new("g").index("hash")).await, ["b", "c", "a"]);
}

pub(super) async fn an_index_may_share_a_key_attribute_with_the_table(bench: &TestBench) {
    let definition = TableDefinition::new(bench.name(), KeyDefinition::texts("PK", "SK"))
        .with_index("inverted", KeyDefinition::texts("SK", "PK"));
    let table = bench.table_of(definition).await;
    put_all(&table, [row("a", "x"), row("b", "x"), row("a", "y")]).await;
    let items = all(&table, Query::new("x").index("inverted").limit(1)).await;
    assert_eq!(texts(&items, "PK"), ["a", "b"]);
}

pub(super) async fn an_index_key_of_the_wrong_type_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    let expected = |found| Invalid::IndexKey {
        index: "GSI1".into(),
        source: Box::new(Invalid::KeyType {
            attribute: "GSI1PK".into(),
            expected: roundtable_table::ValueKind::S,
            found,
            key: "1".into(),
        }),
    };
    let number = roundtable_table::ValueKind::N;
    let attempt = table.put(Put::new(row("p", "t").with("GSI1PK", 1)));
    refused(&table, attempt, expected(number)).await;
    let attempt = table.update(Update::new(key()).set("GSI1PK", 1));
    refused(&table, attempt, expected(number)).await;
    for value in [Value::Null, Value::list([1]), Value::texts(["g"])] {
        let item = row("p", "t").with("GSI1SK", value.clone());
        refused_by_item(&table, table.put(Put::new(item))).await;
        let attempt = table.update(Update::new(key()).set("GSI1SK", value));
        refused_by_item(&table, attempt).await;
    }
}

pub(super) async fn an_empty_index_key_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    for name in ["GSI1PK", "GSI2SK"] {
        let expected = || Invalid::IndexKey {
            index: name[..4].into(),
            source: Box::new(Invalid::KeyEmpty { attribute: name.into(), key: "\"\"".into() }),
        };
        refused(&table, table.put(Put::new(row("p", "t").with(name, ""))), expected()).await;
        refused(&table, table.update(Update::new(key()).set(name, "")), expected()).await;
    }
}

pub(super) async fn an_unknown_index_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let expected =
        || Invalid::NoSuchIndex { table: table.definition().name.clone(), index: "GSI9".into() };
    assert_eq!(invalid(table.query(Query::new("g").index("GSI9")).await), expected());
    assert_eq!(invalid(table.scan(Scan::new().index("GSI9")).await), expected());
}

pub(super) async fn a_strong_index_read_happens_or_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, entry("p", "s", "1")).await;
    let done = table.query(gsi1("g").strong()).await;
    if bench.store.capabilities().strong_index_reads {
        assert_eq!(done.unwrap().items, [entry("p", "s", "1")]);
    } else {
        assert_eq!(invalid(done), Invalid::StrongIndexRead { index: "GSI1".into() });
    }
}

pub(super) async fn a_position_of_the_table_is_no_position_of_an_index(bench: &TestBench) {
    let table = bench.table().await;
    let base = Position { base: key(), index: None };
    let both = Position { base: key(), index: Some(Key::new("g", "1")) };
    let error = invalid(table.query(gsi1("g").after(base)).await);
    assert!(matches!(error, Invalid::InvalidStart { .. }), "{error}");
    let error = invalid(table.query(Query::new("p").after(both)).await);
    assert!(matches!(error, Invalid::InvalidStart { .. }), "{error}");
}

pub(super) async fn an_index_always_equals_the_base(bench: &TestBench) {
    let table = bench.table().await;
    let mut seed = 7_u32;
    for _ in 0..150 {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let draw = |shift: u32, below: u32| (seed >> shift) % below;
        let sort = format!("{}", draw(16, 12));
        match draw(8, 4) {
            0 => drop(table.delete(Delete::new(("p", &*sort))).await.unwrap()),
            1 => put(&table, row("p", &sort)).await,
            _ => {
                let place = format!("{}", draw(20, 3));
                let item = row("p", &sort).with("GSI1PK", "g").with("GSI1SK", place);
                put(&table, item).await;
            }
        }
    }
    let base = everything(&table, Scan::new().strong()).await;
    let expected: Vec<_> = base.into_iter().filter(|item| item.get("GSI1SK").is_some()).collect();
    assert_eq!(everything(&table, Scan::new().index("GSI1")).await, expected);
    let mut queried = all(&table, gsi1("g").limit(2)).await;
    queried.sort_by_key(|item| format!("{item:?}"));
    assert_eq!(queried, expected);
}
