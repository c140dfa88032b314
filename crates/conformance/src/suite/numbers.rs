//! Numbers: 38 exact digits, one value however it is spelled.

use roundtable_table::{
    Invalid, Number, NumberError, Put, Returning, Term, Update, Value, attribute,
};

use super::steps::{get, key, number, put, refused_by_item, subject, truths, update};
use crate::TestBench;

const LARGEST: &str = "9.9999999999999999999999999999999999999E+125";

async fn sum(bench: &TestBench, left: &str, right: &str) -> Option<Number> {
    let table = bench.table().await;
    put(&table, subject().with("n", number(left))).await;
    let add = Update::new(key()).add("n", number(right)).returning(Returning::New);
    update(&table, add).await.item.unwrap().number("n")
}

pub(super) async fn thirty_eight_digits_read_back_exactly(bench: &TestBench) {
    let table = bench.table().await;
    for text in [
        "12345678901234567890123456789012345678",
        "-0.12345678901234567890123456789012345678",
        "99999999999999999999999999999999999999",
        "1234567890123456789.0123456789012345678",
    ] {
        put(&table, subject().with("n", number(text))).await;
        assert_eq!(get(&table, key()).await.unwrap().number("n"), Some(number(text)));
    }
}

pub(super) async fn the_ends_of_the_range_read_back_exactly(bench: &TestBench) {
    let table = bench.table().await;
    for text in [LARGEST, "1E-130", "1E125", "-1E125", "-1E-130"] {
        put(&table, subject().with("n", number(text))).await;
        assert_eq!(get(&table, key()).await.unwrap().number("n"), Some(number(text)), "{text}");
    }
}

pub(super) async fn spellings_of_a_number_are_one_value(bench: &TestBench) {
    let table = bench.table().await;
    for text in ["1", "1.0", "01", "1e0", "10E-1", "+1"] {
        let item = subject().with("n", number(text));
        let condition = attribute("n").eq(number("1.000"));
        truths(&table, Some(&item), [(condition, true)]).await;
    }
    put(&table, subject().with("n", number("-0"))).await;
    assert_eq!(get(&table, key()).await.unwrap().number("n"), Some(Number::ZERO));
}

pub(super) async fn a_number_set_holds_each_value_once(bench: &TestBench) {
    let table = bench.table().await;
    let set = Value::numbers([number("1"), number("1.0"), number("1e0"), number("2")]);
    put(&table, subject().with("ns", set)).await;
    let found = get(&table, key()).await.unwrap();
    assert_eq!(found.get("ns").unwrap().to_value(), Value::numbers([1, 2]));
}

pub(super) async fn sums_are_exact(bench: &TestBench) {
    assert_eq!(sum(bench, "0.1", "0.2").await, Some(number("0.3")));
    assert_eq!(
        sum(bench, "99999999999999999999999999999999999999", "1").await.unwrap(),
        number("1e38")
    );
    assert_eq!(
        sum(bench, "1e20", "1e-17").await.unwrap(),
        number("100000000000000000000.00000000000000001")
    );
    assert_eq!(sum(bench, "5", "-5").await, Some(Number::ZERO));
    assert_eq!(sum(bench, "-1.5", "0.25").await, Some(number("-1.25")));
}

pub(super) async fn a_sum_of_more_than_38_digits_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", number("1e38"))).await;
    refused_by_item(&table, table.update(Update::new(key()).add("n", 1))).await;
    let plus = Term::Path("n".into()).plus(number("0.1"));
    refused_by_item(&table, table.update(Update::new(key()).set("n", plus))).await;
}

pub(super) async fn a_sum_above_the_range_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", number(LARGEST))).await;
    let attempt = table.update(Update::new(key()).add("n", number("1e88")));
    let error = refused_by_item(&table, attempt).await;
    assert!(
        matches!(error, Invalid::Number(NumberError::TooLarge { .. }) | Invalid::Rejected { .. }),
        "{error}"
    );
}

pub(super) async fn a_difference_below_the_range_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", number("1.1e-130"))).await;
    let minus = Term::Path("n".into()).minus(number("1e-130"));
    refused_by_item(&table, table.update(Update::new(key()).set("n", minus))).await;
}

pub(super) async fn numbers_compare_by_value_at_any_scale(bench: &TestBench) {
    let table = bench.table().await;
    let item = subject().with("n", number("0.5"));
    truths(
        &table,
        Some(&item),
        [
            (attribute("n").gt(number("0.49999999999999999999999999999999999999")), true),
            (attribute("n").lt(number("5E-1")), false),
            (attribute("n").le(number("5E-1")), true),
            (attribute("n").gt(number("-1e125")), true),
            (attribute("n").lt(number("1e-130")), false),
        ],
    )
    .await;
}

pub(super) async fn negative_numbers_are_below_zero(bench: &TestBench) {
    let table = bench.table().await;
    let item = subject().with("n", number("-2"));
    truths(
        &table,
        Some(&item),
        [
            (attribute("n").lt(number("-1")), true),
            (attribute("n").lt(0), true),
            (attribute("n").gt(number("-3")), true),
            (attribute("n").gt(number("-1.9999")), false),
        ],
    )
    .await;
}

pub(super) async fn a_number_is_never_equal_to_its_text(bench: &TestBench) {
    let table = bench.table().await;
    let item = subject().with("n", 1).with("t", "1");
    truths(
        &table,
        Some(&item),
        [
            (attribute("n").eq("1"), false),
            (attribute("t").eq(1), false),
            (attribute("n").eq(attribute("t")), false),
        ],
    )
    .await;
}

pub(super) async fn a_put_of_another_spelling_changes_nothing(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", number("10"))).await;
    table.put(Put::new(subject().with("n", number("1e1")))).await.unwrap();
    super::steps::changes(&table, 1).await;
}
