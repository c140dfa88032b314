//! Conditions: every comparison and function, on every type, on what is there and what is not.

use roundtable_table::{
    Condition, Delete, Item, Kind, Operand, Path, Put, Update, Value, attribute, exists,
    not_exists, size_of,
};

use super::steps::{bytes, condition_failed, get, key, number, put, row, subject, truths};
use crate::Bench;

/// One attribute of each type.
fn motley() -> Item {
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

fn blobs(members: &[&[u8]]) -> Value {
    Value::Bs(members.iter().map(|member| member.to_vec().into()).collect())
}

const KINDS: [(&str, Kind); 10] = [
    ("S", Kind::S),
    ("N", Kind::N),
    ("B", Kind::B),
    ("BOOL", Kind::Bool),
    ("NULL", Kind::Null),
    ("L", Kind::L),
    ("M", Kind::M),
    ("SS", Kind::Ss),
    ("NS", Kind::Ns),
    ("BS", Kind::Bs),
];

pub(super) async fn exists_sees_attributes_of_every_type(bench: &Bench) {
    let table = bench.table().await;
    for (name, _) in KINDS {
        let expected = [(exists(name), true), (not_exists(name), false)];
        truths(&table, Some(&motley()), expected).await;
    }
}

pub(super) async fn not_exists_sees_what_is_missing(bench: &Bench) {
    let table = bench.table().await;
    truths(&table, Some(&subject()), [(not_exists("a"), true), (exists("a"), false)]).await;
}

pub(super) async fn an_absent_item_has_no_attributes(bench: &Bench) {
    let table = bench.table().await;
    truths(&table, None, [(not_exists("PK"), true), (exists("PK"), false)]).await;
}

pub(super) async fn a_put_if_absent_happens_once(bench: &Bench) {
    let table = bench.table().await;
    table.put(Put::new(subject().with("n", 1)).when(not_exists("PK"))).await.unwrap();
    condition_failed(table.put(Put::new(subject().with("n", 2)).when(not_exists("PK"))).await);
    assert_eq!(get(&table, key()).await, Some(subject().with("n", 1)));
}

pub(super) async fn a_condition_looks_at_its_own_item_only(bench: &Bench) {
    let table = bench.table().await;
    put(&table, row("p", "other").with("a", 1)).await;
    condition_failed(table.put(Put::new(subject()).when(exists("a"))).await);
}

pub(super) async fn a_delete_can_be_conditional(bench: &Bench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    condition_failed(table.delete(Delete::new(key()).when(attribute("n").eq(2))).await);
    assert!(get(&table, key()).await.is_some());
    table.delete(Delete::new(key()).when(attribute("n").eq(1))).await.unwrap();
    assert_eq!(get(&table, key()).await, None);
}

pub(super) async fn an_update_can_be_conditional(bench: &Bench) {
    let table = bench.table().await;
    let raise = |from: i32| Update::new(key()).set("n", from + 1).when(attribute("n").eq(from));
    condition_failed(table.update(raise(1)).await);
    assert_eq!(get(&table, key()).await, None);
    put(&table, subject().with("n", 1)).await;
    table.update(raise(1)).await.unwrap();
    condition_failed(table.update(raise(1)).await);
    assert_eq!(get(&table, key()).await, Some(subject().with("n", 2)));
}

pub(super) async fn equality_holds_for_every_type(bench: &Bench) {
    let table = bench.table().await;
    let item = motley();
    for (name, _) in KINDS {
        let value = item.get(name).unwrap().to_value();
        let equal = attribute(name).eq(value.clone());
        truths(&table, Some(&item), [(equal, true), (attribute(name).ne(value), false)]).await;
    }
}

pub(super) async fn different_values_are_unequal_for_every_type(bench: &Bench) {
    let table = bench.table().await;
    let others: [(&str, Value); 10] = [
        ("S", "n".into()),
        ("N", 6.into()),
        ("B", bytes(&[5, 0])),
        ("BOOL", false.into()),
        ("NULL", "null".into()),
        ("L", Value::list([2, 1])),
        ("M", Value::map([("x", 2)])),
        ("SS", Value::texts(["a"])),
        ("NS", Value::numbers([1, 2, 3])),
        ("BS", blobs(&[&[1]])),
    ];
    for (name, other) in others {
        let unequal = attribute(name).ne(other.clone());
        truths(&table, Some(&motley()), [(unequal, true), (attribute(name).eq(other), false)])
            .await;
    }
}

pub(super) async fn sets_are_equal_whatever_their_order(bench: &Bench) {
    let table = bench.table().await;
    let item = subject().with("ss", Value::texts(["x", "y"])).with("l", Value::list(["x", "y"]));
    truths(
        &table,
        Some(&item),
        [
            (attribute("ss").eq(Value::texts(["y", "x"])), true),
            (attribute("l").eq(Value::list(["y", "x"])), false),
            (attribute("ss").eq(Value::list(["x", "y"])), false),
        ],
    )
    .await;
}

pub(super) async fn values_of_different_types_are_unequal_and_unordered(bench: &Bench) {
    let table = bench.table().await;
    let item = subject().with("n", 5);
    truths(
        &table,
        Some(&item),
        [
            (attribute("n").eq("5"), false),
            (attribute("n").ne("5"), true),
            (attribute("n").lt("9"), false),
            (attribute("n").ge("0"), false),
            (attribute("n").lt(bytes(&[9])), false),
        ],
    )
    .await;
}

pub(super) async fn a_missing_attribute_is_unequal_and_unordered(bench: &Bench) {
    let table = bench.table().await;
    for item in [Some(subject()), None] {
        truths(
            &table,
            item.as_ref(),
            [
                (attribute("a").eq(1), false),
                (attribute("a").ne(1), true),
                (attribute("a").lt(1), false),
                (attribute("a").le(1), false),
                (attribute("a").gt(1), false),
                (attribute("a").ge(1), false),
                (attribute("a").eq(attribute("b")), false),
                (attribute("a").ne(attribute("b")), true),
            ],
        )
        .await;
    }
}

pub(super) async fn a_negated_comparison_of_a_missing_attribute_holds(bench: &Bench) {
    let table = bench.table().await;
    truths(
        &table,
        Some(&subject()),
        [
            (attribute("a").lt(1).negate(), true),
            (attribute("a").eq(1).negate(), true),
            (attribute("a").ne(1).negate(), false),
        ],
    )
    .await;
}

async fn ordered(bench: &Bench, low: Value, middle: Value, high: Value) {
    let table = bench.table().await;
    let item = subject().with("a", middle.clone());
    let a = || attribute("a");
    truths(
        &table,
        Some(&item),
        [
            (a().lt(low.clone()), false),
            (a().lt(middle.clone()), false),
            (a().lt(high.clone()), true),
            (a().le(low.clone()), false),
            (a().le(middle.clone()), true),
            (a().le(high.clone()), true),
            (a().gt(low.clone()), true),
            (a().gt(middle.clone()), false),
            (a().gt(high.clone()), false),
            (a().ge(low.clone()), true),
            (a().ge(middle.clone()), true),
            (a().ge(high.clone()), false),
            (a().between(low.clone(), high.clone()), true),
            (a().between(middle.clone(), middle.clone()), true),
            (a().between(low.clone(), low.clone()), false),
            (a().between(high.clone(), high), false),
        ],
    )
    .await;
}

pub(super) async fn texts_are_ordered(bench: &Bench) {
    ordered(bench, "abc".into(), "abd".into(), "abda".into()).await;
}

pub(super) async fn texts_are_ordered_by_their_bytes(bench: &Bench) {
    // U+FF5E comes before U+1F389 by bytes and by code points, but not in UTF-16.
    ordered(bench, "Z".into(), "\u{ff5e}".into(), "\u{1f389}".into()).await;
}

pub(super) async fn numbers_are_ordered(bench: &Bench) {
    ordered(bench, 9.into(), 10.into(), number("10.5").into()).await;
}

pub(super) async fn bytes_are_ordered_unsigned(bench: &Bench) {
    ordered(bench, bytes(&[127]), bytes(&[128]), bytes(&[128, 0])).await;
}

pub(super) async fn two_attributes_can_be_compared(bench: &Bench) {
    let table = bench.table().await;
    let item = subject().with("a", 1).with("b", 2).with("c", 1);
    truths(
        &table,
        Some(&item),
        [
            (attribute("a").lt(attribute("b")), true),
            (attribute("a").eq(attribute("c")), true),
            (attribute("a").eq(attribute("b")), false),
            (attribute("b").between(attribute("a"), attribute("c")), false),
            (attribute("c").between(attribute("a"), attribute("b")), true),
        ],
    )
    .await;
}

pub(super) async fn unordered_types_in_attributes_compare_as_neither(bench: &Bench) {
    let table = bench.table().await;
    let item = subject().with("a", true).with("b", true);
    truths(
        &table,
        Some(&item),
        [
            (attribute("a").le(attribute("b")), false),
            (attribute("a").ge(attribute("b")), false),
            (attribute("a").eq(attribute("b")), true),
        ],
    )
    .await;
}

pub(super) async fn a_constant_may_stand_on_the_left(bench: &Bench) {
    let table = bench.table().await;
    let item = subject().with("a", 5);
    truths(
        &table,
        Some(&item),
        [
            (Operand::from(4).lt(attribute("a")), true),
            (Operand::from(5).lt(attribute("a")), false),
            (Operand::from(5).eq(attribute("a")), true),
            (Operand::from(4).lt(5), true),
        ],
    )
    .await;
}

pub(super) async fn in_finds_one_of_many(bench: &Bench) {
    let table = bench.table().await;
    let item = subject().with("a", 5).with("t", "x").with("b", 7);
    truths(
        &table,
        Some(&item),
        [
            (attribute("a").one_of([1, 5, 9]), true),
            (attribute("a").one_of([1, 9]), false),
            (attribute("a").one_of(["5"]), false),
            (attribute("t").one_of(["y", "x"]), true),
            (attribute("missing").one_of([1]), false),
            (attribute("b").one_of([attribute("a"), Operand::from(7)]), true),
        ],
    )
    .await;
}

pub(super) async fn in_takes_a_hundred_operands(bench: &Bench) {
    let table = bench.table().await;
    let item = subject().with("a", 99);
    truths(&table, Some(&item), [(attribute("a").one_of(0..100), true)]).await;
}

pub(super) async fn is_a_tells_the_types_apart(bench: &Bench) {
    let table = bench.table().await;
    for (at, (name, kind)) in KINDS.into_iter().enumerate() {
        let other = KINDS[(at + 1) % KINDS.len()].1;
        truths(
            &table,
            Some(&motley()),
            [
                (Condition::IsA(name.into(), kind), true),
                (Condition::IsA(name.into(), other), false),
                (Condition::IsA("missing".into(), kind), false),
            ],
        )
        .await;
    }
}

fn begins(path: impl Into<Path>, prefix: impl Into<Operand>) -> Condition {
    Condition::BeginsWith(path.into(), prefix.into())
}

pub(super) async fn begins_with_sees_the_start_of_texts_and_bytes(bench: &Bench) {
    let table = bench.table().await;
    let item = subject().with("t", "abc").with("b", bytes(&[1, 2, 3])).with("p", "ab");
    truths(
        &table,
        Some(&item),
        [
            (begins("t", "ab"), true),
            (begins("t", "abc"), true),
            (begins("t", "abcd"), false),
            (begins("t", "b"), false),
            (begins("t", ""), true),
            (begins("b", bytes(&[1, 2])), true),
            (begins("b", bytes(&[2])), false),
            (begins("t", attribute("p")), true),
            (begins("p", attribute("t")), false),
        ],
    )
    .await;
}

pub(super) async fn begins_with_is_false_of_other_types_and_of_nothing(bench: &Bench) {
    let table = bench.table().await;
    let item = subject().with("n", 12).with("l", Value::list(["a"]));
    truths(
        &table,
        Some(&item),
        [
            (begins("n", "1"), false),
            (begins("l", "a"), false),
            (begins("missing", "a"), false),
            (begins("l", bytes(&[1])), false),
        ],
    )
    .await;
}

fn contains(path: impl Into<Path>, member: impl Into<Operand>) -> Condition {
    Condition::Contains(path.into(), member.into())
}

pub(super) async fn contains_finds_a_part_of_a_text(bench: &Bench) {
    let table = bench.table().await;
    let item = subject().with("t", "abcd").with("b", bytes(&[1, 2, 3]));
    truths(
        &table,
        Some(&item),
        [
            (contains("t", "bc"), true),
            (contains("t", "bd"), false),
            (contains("t", ""), true),
            (contains("t", 1), false),
            (contains("b", bytes(&[2, 3])), true),
            (contains("b", bytes(&[3, 2])), false),
        ],
    )
    .await;
}

pub(super) async fn contains_finds_a_member_of_a_set(bench: &Bench) {
    let table = bench.table().await;
    let item = motley();
    truths(
        &table,
        Some(&item),
        [
            (contains("SS", "a"), true),
            (contains("SS", "c"), false),
            (contains("SS", ""), false),
            (contains("NS", number("2.0")), true),
            (contains("NS", 3), false),
            (contains("NS", "2"), false),
            (contains("BS", bytes(&[1])), true),
            (contains("BS", bytes(&[3])), false),
        ],
    )
    .await;
}

pub(super) async fn contains_finds_an_element_of_a_list(bench: &Bench) {
    let table = bench.table().await;
    let list = Value::L(vec![1.into(), "x".into(), Value::list([7]), true.into(), Value::Null]);
    let item = subject().with("l", list);
    truths(
        &table,
        Some(&item),
        [
            (contains("l", 1), true),
            (contains("l", "x"), true),
            (contains("l", "1"), false),
            (contains("l", Value::list([7])), true),
            (contains("l", 7), false),
            (contains("l", true), true),
            (contains("l", false), false),
            (contains("l", Value::Null), true),
        ],
    )
    .await;
}

pub(super) async fn contains_is_false_of_other_types_and_of_nothing(bench: &Bench) {
    let table = bench.table().await;
    truths(
        &table,
        Some(&motley()),
        [
            (contains("M", "x"), false),
            (contains("N", 5), false),
            (contains("BOOL", true), false),
            (contains("missing", 1), false),
        ],
    )
    .await;
}

pub(super) async fn size_measures_texts_bytes_and_containers(bench: &Bench) {
    let table = bench.table().await;
    let item = subject()
        .with("t", "abc")
        .with("empty", "")
        .with("b", bytes(&[1, 2]))
        .with("l", Value::list([1, 2, 3, 4]))
        .with("m", Value::map([("x", 1)]))
        .with("ss", Value::texts(["a", "b"]))
        .with("ns", Value::numbers([1, 2, 3]));
    truths(
        &table,
        Some(&item),
        [
            (size_of("t").eq(3), true),
            (size_of("empty").eq(0), true),
            (size_of("b").eq(2), true),
            (size_of("l").eq(4), true),
            (size_of("m").eq(1), true),
            (size_of("ss").eq(2), true),
            (size_of("ns").ge(3), true),
            (size_of("t").lt(size_of("l")), true),
            (size_of("t").between(3, 4), true),
            (size_of("t").one_of([1, 3]), true),
        ],
    )
    .await;
}

pub(super) async fn size_counts_a_text_in_utf16_units(bench: &Bench) {
    let table = bench.table().await;
    let item = subject().with("t", "🎉é");
    truths(&table, Some(&item), [(size_of("t").eq(3), true)]).await;
}

pub(super) async fn size_of_other_types_compares_as_missing(bench: &Bench) {
    let table = bench.table().await;
    let item = subject().with("n", 12).with("yes", true).with("null", Value::Null);
    truths(
        &table,
        Some(&item),
        [
            (size_of("n").eq(2), false),
            (size_of("n").ne(2), true),
            (size_of("yes").gt(0), false),
            (size_of("null").ge(0), false),
            (size_of("missing").ge(0), false),
            (size_of("missing").ne(0), true),
        ],
    )
    .await;
}

fn nested() -> Item {
    let inner = Value::L(vec![Value::from(1), Value::map([("z", "deep")])]);
    subject().with("m", Value::map([("x", inner)])).with("t", "text")
}

pub(super) async fn paths_reach_into_maps_and_lists(bench: &Bench) {
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
            (Condition::IsA(x(), Kind::L), true),
        ],
    )
    .await;
}

pub(super) async fn a_path_that_leads_nowhere_is_missing(bench: &Bench) {
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

pub(super) async fn all_demands_each(bench: &Bench) {
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

pub(super) async fn any_demands_one(bench: &Bench) {
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

pub(super) async fn not_turns_around_and_nests(bench: &Bench) {
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

pub(super) async fn several_conditions_of_one_write_must_all_hold(bench: &Bench) {
    let table = bench.table().await;
    put(&table, subject().with("a", 1).with("b", 2)).await;
    let attempt = |b: i32| {
        Update::new(key()).set("done", true).when(attribute("a").eq(1)).when(attribute("b").eq(b))
    };
    condition_failed(table.update(attempt(3)).await);
    table.update(attempt(2)).await.unwrap();
}

pub(super) async fn a_deep_tree_of_conditions_is_evaluated(bench: &Bench) {
    let table = bench.table().await;
    let item = subject().with("n", 49);
    let each = (0..50).map(|n| attribute("n").eq(n).or(attribute("n").eq(n + 1000)));
    let any = Condition::Any(each.collect());
    truths(&table, Some(&item), [(any, true)]).await;
}

pub(super) async fn conditions_see_key_attributes(bench: &Bench) {
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
