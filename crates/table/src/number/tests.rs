//! Tests of parsing, formatting, arithmetic, order and encoding.

use super::*;
use proptest::prelude::*;

const LARGEST: &str = "9.9999999999999999999999999999999999999E+125";
const SMALLEST: &str = "1E-130";

fn number(text: &str) -> Number {
    text.parse().unwrap()
}

fn error(text: &str) -> NumberError {
    text.parse::<Number>().unwrap_err()
}

fn encoded(number: Number) -> Vec<u8> {
    let mut out = Vec::new();
    number.encode(&mut out);
    out
}

#[test]
fn spellings_of_one_number_are_equal() {
    for text in ["1", "+1", "1.0", "01", "1e0", "0.1e1", "10E-1", ".1e+1", "1.", "1E-00"] {
        assert_eq!(number(text), Number::from(1), "{text}");
    }
    for text in ["0", "-0", "+0.00", "0e999999999999999999999", "-0E-7", ".0", "0."] {
        assert_eq!(number(text), Number::ZERO, "{text}");
    }
}

#[test]
fn text_that_is_not_a_number_is_malformed() {
    let texts = [
        "", " ", "1 ", " 1", "+", "-", ".", "-.", "e1", ".e1", "1e", "1e+", "1e1.5", "1.2.3",
        "--1", "+-1", "1-", "0x10", "NaN", "inf", "Infinity", "1_000", "1,5", "١", "1e1e1",
    ];
    for text in texts {
        assert_eq!(error(text), NumberError::Malformed { text: text.into() });
    }
}

#[test]
fn an_error_quotes_only_the_beginning_of_a_long_text() {
    let error = error(&"é".repeat(1_000));
    assert_eq!(error, NumberError::Malformed { text: "é".repeat(QUOTED_CHARS_MAX) });
}

#[test]
fn the_ends_of_the_range_are_in_it() {
    for text in [LARGEST, SMALLEST, "1.2345678901234567890123456789012345678E-130"] {
        assert_eq!(number(text).to_string(), text);
        assert_eq!(number(&format!("-{text}")).to_string(), format!("-{text}"));
    }
    let zeros = format!("{}1{}", "0".repeat(500), "0".repeat(125));
    assert_eq!(number(&zeros), number("1e125"));
}

#[test]
fn the_error_says_whether_a_number_is_too_large_or_too_small() {
    for text in ["1E126", "-1E126", "10e125", "1e99999999999999999999"] {
        assert_eq!(error(text), NumberError::TooLarge { text: text.into() });
    }
    for text in ["1E-131", "-9.9E-131", "0.1e-130", "1e-99999999999999999999"] {
        assert_eq!(error(text), NumberError::TooSmall { text: text.into() });
    }
    assert_eq!(
        error("1E126").to_string(),
        format!("the number 1E126 is too large: the largest magnitude is {LARGEST}"),
    );
    assert_eq!(
        error("1E-131").to_string(),
        format!("the number 1E-131 is too small: the smallest magnitude above zero is {SMALLEST}"),
    );
}

#[test]
fn more_than_38_digits_are_refused_but_zeros_around_them_do_not_count() {
    let nines = "9".repeat(38);
    assert_eq!(number(&format!("00{nines}00.00")).to_string(), format!("{nines}00"));
    assert_eq!(number(&format!("0.000{nines}00")), number(&format!("{nines}E-41")));
    for (text, digits) in
        [(format!("{nines}9"), 39), (format!("1{}1", "0".repeat(60)), 62), ("12".repeat(99), 198)]
    {
        assert_eq!(error(&text), NumberError::TooManyDigits { digits, max: 38 });
    }
    assert_eq!(
        error(&format!("{nines}.9")).to_string(),
        "a number of 39 significant digits: at most 38 are supported",
    );
}

#[test]
fn text_is_plain_until_it_gets_long() {
    for (text, shown) in [
        ("-12.50", "-12.5"),
        ("1200", "1200"),
        ("1e3", "1000"),
        ("-5e-3", "-0.005"),
        ("1e39", "1000000000000000000000000000000000000000"),
        ("1e40", "1E+40"),
        ("1e-38", "0.00000000000000000000000000000000000001"),
        ("1e-39", "1E-39"),
        ("-123e100", "-1.23E+102"),
        ("-0", "0"),
    ] {
        assert_eq!(number(text).to_string(), shown);
        assert_eq!(format!("{:?}", number(text)), shown);
    }
}

#[test]
fn whole_numbers_convert_within_the_range_of_the_type() {
    assert_eq!(Number::from(i64::MIN).to_i64(), Some(i64::MIN));
    assert_eq!(Number::from(i64::MAX).to_i64(), Some(i64::MAX));
    assert_eq!(number("9223372036854775808").to_i64(), None);
    assert_eq!(number("-9223372036854775809").to_i64(), None);
    assert_eq!(Number::from(u64::MAX).to_u64(), Some(u64::MAX));
    assert_eq!(number("18446744073709551616").to_u64(), None);
    assert_eq!(number("18446744073709551616").to_u128(), Some(1 << 64));
    assert_eq!(number("1e38").to_u128(), Some(10_u128.pow(38)));
    assert_eq!(number("1e39").to_u128(), None);
    assert_eq!(number("120e2").to_i64(), Some(12_000));
    assert_eq!(Number::ZERO.to_i64(), Some(0));
    for fraction in ["0.5", "-0.5", "1e-130"] {
        assert_eq!(number(fraction).to_i64(), None);
        assert_eq!(number(fraction).to_u128(), None);
    }
    assert_eq!(Number::from(-1).to_u64(), None);
    assert_eq!(Number::from(-1).to_u128(), None);
}

#[test]
fn sums_are_exact_or_refused() {
    let nines = number(&"9".repeat(38));
    let one = Number::from(1);
    assert_eq!(number("0.1").checked_add(number("0.2")), Ok(number("0.3")));
    assert_eq!(number("2.5").checked_sub(number("2.5")), Ok(Number::ZERO));
    assert_eq!(Number::ZERO.checked_sub(one), Ok(Number::from(-1)));
    assert_eq!(one.checked_sub(Number::ZERO), Ok(one));
    assert_eq!(Number::ZERO.checked_sub(Number::ZERO), Ok(Number::ZERO));
    assert_eq!(nines.checked_add(one), Ok(number("1e38")));
    assert_eq!(number("1e38").checked_sub(one), Ok(nines));
    assert_eq!(number("-1e38").checked_add(one), Number::ZERO.checked_sub(nines));
}

#[test]
fn a_sum_of_too_many_digits_says_how_many() {
    for (left, right, digits) in [
        ("1e38", "1", 39),
        ("1e39", "-1", 39),
        ("1e40", "-1", 40),
        ("1e125", "1e-130", 256),
        ("1e125", "-1e-130", 255),
        ("99999999999999999999999999999999999999", "0.1", 39),
        ("99999999999999999999999999999999999999", "0.9999999999999999999999999999999999999", 75),
        ("99999999999999999999999999999999999999", "1.1", 40),
        ("99999999999999999999999999999999999999e1", "11", 40),
        ("1e39", "-99999999999999999999999999999999999999", 39),
    ] {
        let refused = Err(NumberError::TooManyDigits { digits, max: 38 });
        assert_eq!(number(left).checked_add(number(right)), refused, "{left} + {right}");
        assert_eq!(number(right).checked_add(number(left)), refused, "{right} + {left}");
    }
}

#[test]
fn a_sum_out_of_range_is_refused() {
    let largest = number(LARGEST);
    let tenfold = "1E126".to_owned();
    assert_eq!(largest.checked_add(number("1e88")), Err(NumberError::TooLarge { text: tenfold }));
    let text = "-1E126".to_owned();
    assert_eq!(
        Number::ZERO.checked_sub(largest).unwrap().checked_sub(number("1e88")),
        Err(NumberError::TooLarge { text }),
    );
    let text = "1E-131".to_owned();
    assert_eq!(
        number("1.1e-130").checked_sub(number(SMALLEST)),
        Err(NumberError::TooSmall { text }),
    );
}

#[test]
fn the_encoding_is_the_documented_one() {
    for (text, bytes) in [
        ("0", vec![0x80, 0x00]),
        ("1", vec![0xC1, 0x02]),
        ("99", vec![0xC1, 0xC6]),
        ("100", vec![0xC2, 0x02]),
        ("123.4", vec![0xC2, 0x03, 0x2F, 0x50]),
        ("-1", vec![0x3E, 0xFD]),
        ("1e-130", vec![0x80, 0x02]),
        ("1e125", vec![0xFF, 0x14]),
        ("-1e125", vec![0x00, 0xEB]),
    ] {
        assert_eq!(encoded(number(text)), bytes, "{text}");
    }
    assert_eq!(encoded(number(LARGEST)).len(), 20);
    assert_eq!(encoded(number(&format!("{}e1", "9".repeat(38)))).len(), 21);
}

#[test]
fn bytes_that_no_number_encodes_to_are_refused() {
    let pairs_20 = [[0xC1_u8].as_slice(), &[0xC7; 19], &[0xC6]].concat();
    let pairs_21 = [[0xC1_u8].as_slice(), &[0x03], &[0xC7; 19], &[0x14]].concat();
    for bytes in [
        [].as_slice(),
        &[0x80],             // no pairs
        &[0xC1, 0x03],       // the last pair is missing
        &[0xC1, 0x00],       // the first pair is zero
        &[0xC1, 0x01, 0x02], // the first pair is zero
        &[0x80, 0x01, 0x02], // the first pair is zero
        &[0xC1, 0x03, 0x00], // the last pair is zero
        &[0xC1, 0xC8],       // a pair of 100
        &[0x7F, 0xFF],       // negative zero
        &pairs_20,           // 40 digits
        &pairs_21,           // 21 pairs
    ] {
        assert_eq!(Number::decode(bytes), None, "{bytes:x?}");
    }
}

#[test]
fn stored_bytes_follow_the_published_rule() {
    for (text, bytes) in [
        ("0", 1),
        ("1", 2),
        ("-1", 3),
        ("12", 2),
        ("123", 3),
        ("1200", 2),
        ("0.012", 2),
        ("12345678901234567890123456789012345678", 20),
        ("-12345678901234567890123456789012345678", 21),
    ] {
        assert_eq!(number(text).stored_bytes(), bytes, "{text}");
    }
}

/// Numbers of every length and power, and many that are close to each other.
fn numbers() -> impl Strategy<Value = Number> {
    let spread = (any::<bool>(), 1_u32..=38, any::<u128>(), -130_i32..=125).prop_map(
        |(negative, digits, seed, power)| {
            let mantissa = (seed % 10_u128.pow(digits)).to_string();
            let exponent = power + 1 - i32::try_from(mantissa.len()).unwrap();
            let sign = if negative { "-" } else { "" };
            number(&format!("{sign}{mantissa}e{exponent}"))
        },
    );
    let close = (-1_200_i32..=1_200, -4_i32..=4)
        .prop_map(|(mantissa, exponent)| number(&format!("{mantissa}e{exponent}")));
    let ends = prop::sample::select(vec![
        number(LARGEST),
        number(SMALLEST),
        number(&format!("-{LARGEST}")),
        number(&format!("-{SMALLEST}")),
        Number::ZERO,
    ]);
    prop_oneof![4 => spread, 4 => close, 2 => any::<i64>().prop_map(Number::from), 1 => ends]
}

#[test]
fn the_next_whole_number_is_exact() {
    let cases = [
        ("0", Some(0)),
        ("7", Some(7)),
        ("1E3", Some(1000)),
        ("0.5", Some(1)),
        ("6.000000000000000000000000000000000001", Some(7)),
        ("1E-130", Some(1)),
        ("99.9E1", Some(999)),
        ("18446744073709551615", Some(u64::MAX)),
        ("18446744073709551614.5", Some(u64::MAX)),
        ("18446744073709551615.5", None),
        ("18446744073709551616", None),
        ("1E125", None),
        ("-0.5", None),
        ("-1", None),
    ];
    for (text, expected) in cases {
        assert_eq!(number(text).ceil_to_u64(), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn text_and_number_are_inverse(number in numbers()) {
        prop_assert_eq!(number.to_string().parse(), Ok(number));
    }

    #[test]
    fn bytes_and_number_are_inverse(number in numbers(), tail: Vec<u8>) {
        let mut bytes = encoded(number);
        let length = bytes.len();
        prop_assert!(length <= NUMBER_STORED_BYTES_MAX);
        bytes.extend(tail);
        prop_assert_eq!(Number::decode(&bytes), Some((number, length)));
    }

    #[test]
    fn decoding_accepts_only_encoded_numbers(bytes: Vec<u8>, header in 0x7E_u8..0xC4) {
        for bytes in [bytes.clone(), [vec![header], bytes].concat()] {
            if let Some((number, length)) = Number::decode(&bytes) {
                prop_assert_eq!(encoded(number), &bytes[..length]);
            }
        }
    }

    #[test]
    fn bytes_order_as_numbers_do_and_begin_no_other(left in numbers(), right in numbers()) {
        prop_assert_eq!(encoded(left).cmp(&encoded(right)), left.cmp(&right));
        prop_assert_eq!(left.cmp(&right) == Ordering::Equal, left == right);
        prop_assert_eq!(encoded(left).starts_with(&encoded(right)), left == right);
    }

    #[test]
    fn whole_numbers_order_as_integers_do(left: i64, right: i64, small in -999_i64..999) {
        prop_assert_eq!(Number::from(left).cmp(&Number::from(right)), left.cmp(&right));
        prop_assert_eq!(Number::from(left).cmp(&Number::from(small)), left.cmp(&small));
        prop_assert_eq!(Number::from(left).to_i64(), Some(left));
    }

    #[test]
    fn fractions_order_as_scaled_integers_do(left: i32, right: i32, places in 0_u32..9) {
        let fraction = number(&format!("{left}e-{places}"));
        let scaled = i64::from(right) * 10_i64.pow(places);
        prop_assert_eq!(fraction.cmp(&Number::from(right)), i64::from(left).cmp(&scaled));
    }

    #[test]
    fn sums_agree_with_integers(
        left: i64,
        right: i64,
        shift in 0_u32..=18,
        scale in -60_i32..=60,
    ) {
        let wide = i128::from(left) * 10_i128.pow(shift);
        let (left, right, sum, difference) = (
            number(&format!("{wide}e{scale}")),
            number(&format!("{right}e{scale}")),
            number(&format!("{}e{scale}", wide + i128::from(right))),
            number(&format!("{}e{scale}", wide - i128::from(right))),
        );
        prop_assert_eq!(left.checked_add(right), Ok(sum));
        prop_assert_eq!(right.checked_add(left), Ok(sum));
        prop_assert_eq!(left.checked_sub(right), Ok(difference));
    }

    #[test]
    fn a_sum_that_is_not_refused_can_be_taken_back(left in numbers(), right in numbers()) {
        if let Ok(sum) = left.checked_add(right) {
            prop_assert_eq!(sum.checked_sub(right), Ok(left));
            prop_assert_eq!(sum.cmp(&left), right.cmp(&Number::ZERO));
        }
    }
}
