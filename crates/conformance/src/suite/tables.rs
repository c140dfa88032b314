//! Tables: created, described, listed, deleted.

use roundtable_table::{
    Error, IndexProjection, Invalid, KeyAttribute, KeyDefinition, KeyKind, Limit, Scan, Store,
    TableDefinition,
};

use super::steps::{changes, everything, get, invalid, key, put, subject};
use crate::TestBench;

pub(super) async fn a_made_table_is_empty(bench: &TestBench) {
    let table = bench.table().await;
    assert_eq!(everything(&table, Scan::new().strong()).await.len(), 0);
    changes(&table, 0).await;
}

pub(super) async fn making_a_table_again_keeps_it(bench: &TestBench) {
    let definition = bench.standard();
    let table = bench.table_of(definition.clone()).await;
    put(&table, subject()).await;
    let again = bench.table_of(definition).await;
    assert_eq!(get(&again, key()).await, Some(subject()));
}

async fn exists_differently(store: &Store, definition: TableDefinition) {
    let name = definition.name.clone();
    let done = store.create_table(definition).await;
    assert!(matches!(&done, Err(Error::TableExists { table }) if *table == name), "{done:?}");
}

pub(super) async fn making_a_table_otherwise_is_refused(bench: &TestBench) {
    let standard = bench.standard();
    let table = bench.table_of(standard.clone()).await;
    put(&table, subject()).await;
    let name = standard.name.clone();
    let key_definition = || KeyDefinition::texts("PK", "SK");
    exists_differently(&bench.store, TableDefinition::new(&name, key_definition())).await;
    let fewer = TableDefinition { indexes: standard.indexes[..1].to_vec(), ..standard.clone() };
    exists_differently(&bench.store, fewer).await;
    let numbers = KeyDefinition::partition("PK").sorted_by("SK", KeyKind::N);
    exists_differently(&bench.store, TableDefinition { key: numbers, ..standard.clone() }).await;
    exists_differently(&bench.store, TableDefinition { stream: false, ..standard.clone() }).await;
    exists_differently(&bench.store, TableDefinition { ttl: None, ..standard }).await;
    assert_eq!(get(&table, key()).await, Some(subject()));
}

pub(super) async fn a_table_describes_itself(bench: &TestBench) {
    let include = IndexProjection::Include(vec!["a".into(), "b".into()]);
    let odd = TableDefinition::new(bench.name(), KeyDefinition::partition("id"))
        .with_index_of(
            "by-number",
            KeyDefinition::partition("x").sorted_by("n", KeyKind::N),
            include,
        )
        .with_index_of("by.bytes", KeyDefinition::texts("x", "y"), IndexProjection::KeysOnly)
        .with_index("whole", KeyDefinition::partition("y"));
    for mut definition in [bench.standard(), odd] {
        bench.table_of(definition.clone()).await;
        let table = bench.store.table(&definition.name).await.unwrap();
        let mut described = (**table.definition()).clone();
        described.indexes.sort_by(|a, b| a.name.cmp(&b.name));
        definition.indexes.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(described, definition);
    }
}

pub(super) async fn a_missing_table_cannot_be_described(bench: &TestBench) {
    let name = bench.name();
    let done = bench.store.table(&name).await;
    assert!(matches!(&done, Err(Error::TableNotFound { table }) if *table == name), "{done:?}");
}

pub(super) async fn tables_are_listed_by_name(bench: &TestBench) {
    let (one, other) = (bench.table().await, bench.table().await);
    let names = bench.store.list_tables().await.unwrap();
    assert!(names.is_sorted());
    assert!(names.contains(&one.definition().name));
    assert!(names.contains(&other.definition().name));
}

pub(super) async fn a_deleted_table_is_gone(bench: &TestBench) {
    let table = bench.table().await;
    let name = &table.definition().name;
    bench.store.delete_table(name).await.unwrap();
    assert!(!bench.store.list_tables().await.unwrap().contains(name));
    let done = bench.store.delete_table(name).await;
    assert!(matches!(done, Err(Error::TableNotFound { .. })), "{done:?}");
    let done = table.get(roundtable_table::Get::new(key())).await;
    assert!(matches!(done, Err(Error::TableNotFound { .. })), "{done:?}");
}

pub(super) async fn a_table_made_after_a_deletion_is_empty(bench: &TestBench) {
    let definition = bench.standard();
    let table = bench.table_of(definition.clone()).await;
    put(&table, subject().with("GSI1PK", "g").with("GSI1SK", "1")).await;
    changes(&table, 1).await;
    bench.store.delete_table(&definition.name).await.unwrap();
    let table = bench.table_of(definition).await;
    assert_eq!(get(&table, key()).await, None);
    assert_eq!(everything(&table, Scan::new().strong()).await.len(), 0);
    assert_eq!(everything(&table, Scan::new().index("GSI1")).await.len(), 0);
}

pub(super) async fn the_stream_of_a_table_made_again_starts_afresh(bench: &TestBench) {
    let definition = bench.standard();
    let table = bench.table_of(definition.clone()).await;
    put(&table, subject()).await;
    changes(&table, 1).await;
    bench.store.delete_table(&definition.name).await.unwrap();
    let table = bench.table_of(definition).await;
    changes(&table, 0).await;
    put(&table, subject()).await;
    changes(&table, 1).await;
}

pub(super) async fn tables_do_not_mix(bench: &TestBench) {
    let (one, other) = (bench.table().await, bench.table().await);
    put(&one, subject().with("at", "one")).await;
    put(&other, subject().with("at", "other")).await;
    assert_eq!(get(&one, key()).await, Some(subject().with("at", "one")));
    assert_eq!(everything(&other, Scan::new().strong()).await, [subject().with("at", "other")]);
}

async fn refuses(bench: &TestBench, definition: TableDefinition) -> Invalid {
    let name = definition.name.clone();
    let error = invalid(bench.store.create_table(definition).await);
    assert!(!bench.store.list_tables().await.unwrap().contains(&name));
    error
}

pub(super) async fn a_bad_name_is_refused(bench: &TestBench) {
    let long = "x".repeat(256);
    for name in ["", "ab", "with blank", "sl/ash", "ünïcode", &long] {
        let definition = TableDefinition::new(name, KeyDefinition::partition("id"));
        assert_eq!(refuses(bench, definition).await, Invalid::Name { name: name.into() });
        let definition = TableDefinition::new(bench.name(), KeyDefinition::partition("id"))
            .with_index(name, KeyDefinition::partition("x"));
        assert_eq!(refuses(bench, definition).await, Invalid::Name { name: name.into() });
    }
}

pub(super) async fn twenty_indexes_are_the_most(bench: &TestBench) {
    let with = |count: usize| {
        let table = TableDefinition::new(bench.name(), KeyDefinition::partition("id"));
        (0..count).fold(table, |table, at| {
            table.with_index(format!("index-{at}"), KeyDefinition::partition("x"))
        })
    };
    bench.table_of(with(20)).await;
    let definition = with(21);
    let subject = definition.name.clone();
    let expected = Invalid::OverLimit { limit: Limit::Indexes, actual: 21, max: 20, subject };
    assert_eq!(refuses(bench, definition).await, expected);
}

pub(super) async fn an_index_name_used_twice_is_refused(bench: &TestBench) {
    let definition = bench.standard().with_index("GSI1", KeyDefinition::partition("x"));
    assert_eq!(refuses(bench, definition).await, Invalid::DuplicateIndex { index: "GSI1".into() });
}

pub(super) async fn an_attribute_with_two_key_types_is_refused(bench: &TestBench) {
    let definition = bench
        .standard()
        .with_index("odd", KeyDefinition::partition("x").sorted_by("PK", KeyKind::N));
    assert_eq!(
        refuses(bench, definition).await,
        Invalid::KeyTypeConflict { attribute: "PK".into() }
    );
    let twice = TableDefinition::new(bench.name(), KeyDefinition::texts("PK", "PK"));
    assert_eq!(refuses(bench, twice).await, Invalid::KeyTypeConflict { attribute: "PK".into() });
}

pub(super) async fn a_key_name_has_255_bytes_at_most(bench: &TestBench) {
    let named = |length: usize| {
        let partition = KeyAttribute { name: "x".repeat(length), kind: KeyKind::S };
        TableDefinition::new(bench.name(), KeyDefinition { partition, sort: None })
    };
    bench.table_of(named(255)).await;
    for length in [0, 256] {
        let error = refuses(bench, named(length)).await;
        let Invalid::OverLimit { limit: Limit::NameBytes, actual, max: 255, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(actual, length);
    }
}
