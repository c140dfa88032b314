//! Functions in conditions: types, beginnings, members and sizes.

use roundtable_table::{Condition, Operand, Path, Value, attribute, size_of};

use super::conditions::{KINDS, motley};
use super::steps::{bytes, number, subject, truths};
use crate::TestBench;

pub(super) async fn is_a_tells_the_types_apart(bench: &TestBench) {
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

pub(super) fn begins(path: impl Into<Path>, prefix: impl Into<Operand>) -> Condition {
    Condition::BeginsWith(path.into(), prefix.into())
}

pub(super) async fn begins_with_sees_the_start_of_texts_and_bytes(bench: &TestBench) {
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

pub(super) async fn begins_with_is_false_of_other_types_and_of_nothing(bench: &TestBench) {
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

pub(super) fn contains(path: impl Into<Path>, member: impl Into<Operand>) -> Condition {
    Condition::Contains(path.into(), member.into())
}

pub(super) async fn contains_finds_a_part_of_a_text(bench: &TestBench) {
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

pub(super) async fn contains_finds_a_member_of_a_set(bench: &TestBench) {
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

pub(super) async fn contains_finds_an_element_of_a_list(bench: &TestBench) {
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

pub(super) async fn contains_is_false_of_other_types_and_of_nothing(bench: &TestBench) {
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

pub(super) async fn size_measures_texts_bytes_and_containers(bench: &TestBench) {
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

pub(super) async fn size_counts_a_text_in_utf16_units(bench: &TestBench) {
    let table = bench.table().await;
    let item = subject().with("t", "🎉é");
    truths(&table, Some(&item), [(size_of("t").eq(3), true)]).await;
}

pub(super) async fn size_of_other_types_compares_as_missing(bench: &TestBench) {
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
