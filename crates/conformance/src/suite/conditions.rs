//! Conditions: existence, paths into documents, and trees of conditions.

use roundtable_table::{
    Condition, Delete, Item, Path, Put, Update, Value, ValueKind, attribute, exists, not_exists,
    size_of,
};

use super::functions::{begins, contains};
use super::steps::{bytes, condition_failed, get, key, put, row, subject, truths};
use crate::TestBench;

/// One attribute of each type.
pub(super) fn motley() -> Item {
    subject()
        .with("S", "m")
        .with("N", 5)
        .with("B", bytes(&[5]))
        .with("BOOL", true)
        .with("NULL", Value::Null)
        .with("L", Value::list([1, 2]))
        .with("M", Value::map([("x", 1)]))
        .with("SS", Value::texts(["a", "b"]))
        .with("NS", Value::numbers([1, 2]))
        .with("BS", blobs(&[&[1], &[2]]))
}

pub(super) fn blobs(members: &[&[u8]]) -> Value {
    Value::Bs(members.iter().map(|member| member.to_vec().into()).collect())
}

pub(super) const KINDS: [(&str, ValueKind); 10] = [
    ("S", ValueKind::S),
    ("N", ValueKind::N),
    ("B", ValueKind::B),
    ("BOOL", ValueKind::Bool),
    ("NULL", ValueKind::Null),
    ("L", ValueKind::L),
    ("M", ValueKind::M),
    ("SS", ValueKind::Ss),
    ("NS", ValueKind::Ns),
    ("BS", ValueKind::Bs),
];

pub(super) async fn exists_sees_attributes_of_every_type(bench: &TestBench) {
    let table = bench.table().await;
    for (name, _) in KINDS {
        let expected = [(exists(name), true), (not_exists(name), false)];
        truths(&table, Some(&motley()), expected).await;
    }
}

pub(super) async fn not_exists_sees_what_is_missing(bench: &TestBench) {
    let table = bench.table().await;
    truths(&table, Some(&subject()), [(not_exists("a"), true), (exists("a"), false)]).await;
}

pub(super) async fn an_absent_item_has_no_attributes(bench: &TestBench) {
    let table = bench.table().await;
    truths(&table, None, [(not_exists("PK"), true), (exists("PK"), false)]).await;
}

pub(super) async fn a_put_if_absent_happens_once(bench: &TestBench) {
    let table = bench.table().await;
    table.put(Put::new(subject().with("n", 1)).when(not_exists("PK"))).await.unwrap();
    condition_failed(table.put(Put::new(subject().with("n", 2)).when(not_exists("PK"))).await);
    assert_eq!(get(&table, key()).await, Some(subject().with("n", 1)));
}

pub(super) async fn a_condition_looks_at_its_own_item_only(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "other").with("a", 1)).await;
    condition_failed(table.put(Put::new(subject()).when(exists("a"))).await);
}

pub(super) async fn a_delete_can_be_conditional(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    condition_failed(table.delete(Delete::new(key()).when(attribute("n").eq(2))).await);
    assert!(get(&table, key()).await.is_some());
    table.delete(Delete::new(key()).when(attribute("n").eq(1))).await.unwrap();
    assert_eq!(get(&table, key()).await, None);
}

pub(super) async fn an_update_can_be_conditional(bench: &TestBench) {
    let table = bench.table().await;
    let raise = |from: i32| Update::new(key()).set("n", from + 1).when(attribute("n").eq(from));
    condition_failed(table.update(raise(1)).await);
    assert_eq!(get(&table, key()).await, None);
    put(&table, subject().with("n", 1)).await;
    table.update(raise(1)).await.unwrap();
    condition_failed(table.update(raise(1)).await);
    assert_eq!(get(&table, key()).await, Some(subject().with("n", 2)));
}

fn nested() -> Item {
    let inner = Value::L(vec![Value::from(1), Value::map([("z", "deep")])]);
    subject().with("m", Value::map([("x", inner)])).with("t", "text")
}

pub(super) async fn paths_reach_into_maps_and_lists(bench: &TestBench) {
    let table = bench.table().await;
    let x = || Path::new("m").field("x");
    truths(
        &table,
        Some(&nested()),
        [
            (attribute(x().index(0)).eq(1), true),
            (attribute(x().index(1).field("z")).eq("deep"), true),
            (exists(x().index(1)), true),
            (size_of(x()).eq(2), true),
            (begins(x().index(1).field("z"), "de"), true),
            (contains(x(), 1), true),
            (Condition::IsA(x(), ValueKind::L), true),
        ],
    )
    .await;
}

pub(super) async fn a_path_that_leads_nowhere_is_missing(bench: &TestBench) {
    let table = bench.table().await;
    let missing = [
        Path::new("m").field("y"),
        Path::new("m").field("x").index(2),
        Path::new("m").index(0),
        Path::new("m").field("x").field("z"),
        Path::new("t").field("x"),
        Path::new("t").index(0),
        Path::new("nothing").field("x").index(1),
    ];
    for path in missing {
        let expected = [(not_exists(path.clone()), true), (attribute(path).ne(1), true)];
        truths(&table, Some(&nested()), expected).await;
    }
}

pub(super) async fn all_demands_each(bench: &TestBench) {
    let table = bench.table().await;
    let (yes, no) = (|| exists("PK"), || exists("missing"));
    truths(
        &table,
        Some(&subject()),
        [
            (yes().and(yes()), true),
            (yes().and(no()), false),
            (no().and(yes()), false),
            (yes().and(yes()).and(no()), false),
        ],
    )
    .await;
}

pub(super) async fn any_demands_one(bench: &TestBench) {
    let table = bench.table().await;
    let (yes, no) = (|| exists("PK"), || exists("missing"));
    truths(
        &table,
        Some(&subject()),
        [
            (yes().or(no()), true),
            (no().or(yes()), true),
            (no().or(no()), false),
            (no().or(no()).or(yes()), true),
        ],
    )
    .await;
}

pub(super) async fn not_turns_around_and_nests(bench: &TestBench) {
    let table = bench.table().await;
    let (yes, no) = (|| exists("PK"), || exists("missing"));
    truths(
        &table,
        Some(&subject()),
        [
            (yes().negate(), false),
            (no().negate(), true),
            (yes().negate().negate(), true),
            (yes().and(no()).negate(), true),
            (yes().or(no()).negate(), false),
            (no().or(yes()).and(no().negate()), true),
            (no().and(yes()).or(yes().and(no().or(yes()))), true),
        ],
    )
    .await;
}

pub(super) async fn several_conditions_of_one_write_must_all_hold(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("a", 1).with("b", 2)).await;
    let attempt = |b: i32| {
        Update::new(key()).set("done", true).when(attribute("a").eq(1)).when(attribute("b").eq(b))
    };
    condition_failed(table.update(attempt(3)).await);
    table.update(attempt(2)).await.unwrap();
}

pub(super) async fn a_deep_tree_of_conditions_is_evaluated(bench: &TestBench) {
    let table = bench.table().await;
    let item = subject().with("n", 49);
    let each = (0..50).map(|n| attribute("n").eq(n).or(attribute("n").eq(n + 1000)));
    let any = Condition::Any(each.collect());
    truths(&table, Some(&item), [(any, true)]).await;
}

pub(super) async fn conditions_see_key_attributes(bench: &TestBench) {
    let table = bench.table().await;
    truths(
        &table,
        Some(&subject()),
        [
            (attribute("PK").eq("p").and(attribute("SK").eq("s")), true),
            (attribute("SK").eq("t"), false),
            (begins("PK", "p"), true),
        ],
    )
    .await;
}
