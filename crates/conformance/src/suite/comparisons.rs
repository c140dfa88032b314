//! Comparisons in conditions: equality and order, of every type.

use roundtable_table::{Operand, Value, attribute};

use super::conditions::{KINDS, blobs, motley};
use super::steps::{bytes, number, subject, truths};
use crate::TestBench;

pub(super) async fn equality_holds_for_every_type(bench: &TestBench) {
    let table = bench.table().await;
    let item = motley();
    for (name, _) in KINDS {
        let value = item.get(name).unwrap().to_value();
        let equal = attribute(name).eq(value.clone());
        truths(&table, Some(&item), [(equal, true), (attribute(name).ne(value), false)]).await;
    }
}

pub(super) async fn different_values_are_unequal_for_every_type(bench: &TestBench) {
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

pub(super) async fn sets_are_equal_whatever_their_order(bench: &TestBench) {
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

pub(super) async fn values_of_different_types_are_unequal_and_unordered(bench: &TestBench) {
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

pub(super) async fn a_missing_attribute_is_unequal_and_unordered(bench: &TestBench) {
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

pub(super) async fn a_negated_comparison_of_a_missing_attribute_holds(bench: &TestBench) {
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

async fn ordered(bench: &TestBench, low: Value, middle: Value, high: Value) {
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

pub(super) async fn texts_are_ordered(bench: &TestBench) {
    ordered(bench, "abc".into(), "abd".into(), "abda".into()).await;
}

pub(super) async fn texts_are_ordered_by_their_bytes(bench: &TestBench) {
    // U+FF5E comes before U+1F389 by bytes and by code points, but not in UTF-16.
    ordered(bench, "Z".into(), "\u{ff5e}".into(), "\u{1f389}".into()).await;
}

pub(super) async fn numbers_are_ordered(bench: &TestBench) {
    ordered(bench, 9.into(), 10.into(), number("10.5").into()).await;
}

pub(super) async fn bytes_are_ordered_unsigned(bench: &TestBench) {
    ordered(bench, bytes(&[127]), bytes(&[128]), bytes(&[128, 0])).await;
}

pub(super) async fn two_attributes_can_be_compared(bench: &TestBench) {
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

pub(super) async fn unordered_types_in_attributes_compare_as_neither(bench: &TestBench) {
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

pub(super) async fn a_constant_may_stand_on_the_left(bench: &TestBench) {
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

pub(super) async fn in_finds_one_of_many(bench: &TestBench) {
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

pub(super) async fn in_takes_a_hundred_operands(bench: &TestBench) {
    let table = bench.table().await;
    let item = subject().with("a", 99);
    truths(&table, Some(&item), [(attribute("a").one_of(0..100), true)]).await;
}
