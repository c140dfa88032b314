//! Owns the table's numbers: exact decimals with DynamoDB's precision and range. Refuses to round;
//! whatever does not fit is an error.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Most significant digits of a number.
pub(crate) const NUMBER_DIGITS_MAX: u32 = 38;
/// Power of ten of the first digit of the smallest magnitude, 1E-130.
pub(crate) const NUMBER_POWER_MIN: i16 = -130;
/// Power of ten of the first digit of the largest magnitude, 9.99…E+125 with 38 nines.
pub(crate) const NUMBER_POWER_MAX: i16 = 125;
/// Most bytes a number counts in DynamoDB's item sizes.
pub(crate) const NUMBER_STORED_BYTES_MAX: usize = 21;

/// 10^38, the first mantissa with too many digits.
const MANTISSA_END: u128 = 10_u128.pow(NUMBER_DIGITS_MAX);
/// Longest plain notation: any 38 digits fit, with a leading `0.` or a point between them.
const PLAIN_CHARS_MAX: usize = 40;
/// How much of a refused text its error quotes.
const QUOTED_CHARS_MAX: usize = 64;

/// The lowest header of a number that is not negative; see [`Number::encode`].
const HEADER_POSITIVE: u8 = 0x80;
/// Plus the power of 100 of the first digit pair, the header of a positive number.
const HEADER_BIAS: i16 = HEADER_POSITIVE as i16 - NUMBER_POWER_MIN.div_euclid(2);
/// A first pair of zero, which no other number has, under the lowest header.
const ZERO_ENCODED: [u8; 2] = [HEADER_POSITIVE, 0];
/// 38 digits touch 20 pairs when the first one is the low half of its pair.
const PAIRS_MAX: usize = NUMBER_DIGITS_MAX as usize / 2 + 1;

// Each power of 100 has its own header, and the headers end where the byte does.
const _: () = assert!(NUMBER_POWER_MAX.div_euclid(2) + HEADER_BIAS == u8::MAX as i16);
const _: () = assert!(NUMBER_STORED_BYTES_MAX == 1 + PAIRS_MAX);

/// A decimal number with up to 38 significant digits and a magnitude of 1E-130 to
/// 9.9999999999999999999999999999999999999E+125, or zero.
///
/// Spellings of one number are one value: `1.0`, `1` and `1e0` are equal, and so are `0` and `-0`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number {
    /// False for zero.
    negative: bool,
    /// Below 10^38 and, except for zero, not divisible by ten: one representation per value.
    mantissa: u128,
    /// The power of ten the mantissa is multiplied by; 0 for zero.
    exponent: i16,
}

/// Why a text, or a sum, is not a [`Number`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// The text is not a decimal number.
    #[error("`{text}` is not a number: expected digits with an optional sign, point and exponent")]
    Malformed {
        /// The beginning of the text.
        text: String,
    },
    /// The exact value has more significant digits than a number holds.
    #[error("a number of {digits} significant digits: at most {max} are supported")]
    TooManyDigits {
        /// Significant digits of the exact value.
        digits: usize,
        /// The limit.
        max: usize,
    },
    /// The magnitude is above the range.
    #[error(
        "the number {text} is too large: \
         the largest magnitude is 9.9999999999999999999999999999999999999E+125"
    )]
    TooLarge {
        /// The beginning of the number.
        text: String,
    },
    /// The magnitude is below the range, and not zero.
    #[error("the number {text} is too small: the smallest magnitude above zero is 1E-130")]
    TooSmall {
        /// The beginning of the number.
        text: String,
    },
}

impl Number {
    /// Zero.
    pub const ZERO: Number = Number { negative: false, mantissa: 0, exponent: 0 };

    /// The exact sum.
    ///
    /// A sum outside the range or of more than 38 digits is refused, as DynamoDB Local does: a
    /// counter that silently stops counting is worse than one that says so.
    pub fn checked_add(self, other: Number) -> Result<Number, NumberError> {
        if self.mantissa == 0 {
            return Ok(other);
        }
        if other.mantissa == 0 {
            return Ok(self);
        }
        let (coarse, fine) =
            if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let shift = u32::from(coarse.exponent.abs_diff(fine.exponent));
        let sum = shifted(coarse.mantissa, shift).and_then(|aligned| {
            if coarse.negative == fine.negative {
                Some((coarse.negative, aligned.checked_add(fine.mantissa)?))
            } else if aligned >= fine.mantissa {
                Some((coarse.negative, aligned - fine.mantissa))
            } else {
                Some((fine.negative, fine.mantissa - aligned))
            }
        });
        // No sum that overflows fits in 38 digits. Its magnitude is above 3.4E38 less a fine
        // mantissa below 1E38, and as only a shifted addend gets that large, its last digit is the
        // last one of the fine mantissa, which is not a zero that could be dropped.
        let (negative, mantissa) = sum.ok_or_else(|| NumberError::TooManyDigits {
            digits: digits_of_overflow(coarse, fine, shift),
            max: NUMBER_DIGITS_MAX as usize,
        })?;
        let (mantissa, zeros) = without_trailing_zeros(mantissa);
        let exponent = i64::from(fine.exponent) + i64::from(zeros);
        Number::bounded(negative, mantissa, exponent, || {
            let sign = if negative { "-" } else { "" };
            format!("{sign}{mantissa}E{exponent}")
        })
    }

    /// The exact difference; refuses what [`Number::checked_add`] refuses.
    pub fn checked_sub(self, other: Number) -> Result<Number, NumberError> {
        // Zero has no sign to turn around.
        if other.mantissa == 0 {
            return Ok(self);
        }
        self.checked_add(Number { negative: !other.negative, ..other })
    }

    /// The value, if it is a whole number within `i64`.
    pub fn to_i64(self) -> Option<i64> {
        let magnitude = self.magnitude_u64()?;
        if self.negative {
            0_i64.checked_sub_unsigned(magnitude)
        } else {
            0_i64.checked_add_unsigned(magnitude)
        }
    }

    /// The value, if it is a whole number within `u64`.
    pub fn to_u64(self) -> Option<u64> {
        if self.negative { None } else { self.magnitude_u64() }
    }

    /// The value, if it is a whole number within `u128`.
    pub fn to_u128(self) -> Option<u128> {
        if self.negative {
            return None;
        }
        shifted(self.mantissa, u32::try_from(self.exponent).ok()?)
    }

    /// Appends the ordered form: the bytes of two numbers compare as the numbers do, and no
    /// number's bytes begin another's, so a key may go on after them.
    ///
    /// ```text
    /// header   1 byte        0x80 + 65 + the power of 100 of the first digit pair
    /// pairs    1 byte each   digits in base 100, the most significant first:
    ///                        2 * pair + 1, and 2 * pair for the last one
    /// ```
    ///
    /// There are no trailing zero pairs, so a number sorts before its continuations: their bytes
    /// differ first in the bit that says whether more pairs follow. Zero is `80 00`. A negative
    /// number is its magnitude with every bit inverted. At most 21 bytes, two for -99 to 99.
    pub fn encode(self, out: &mut Vec<u8>) {
        if self.mantissa == 0 {
            out.extend_from_slice(&ZERO_ENCODED);
            return;
        }
        let mask = inversion(self.negative);
        let start = out.len() + 1;
        // The last digit is the low half of the last pair or, at an odd power, the high half.
        let (mut rest, last) = if self.exponent & 1 == 0 {
            (self.mantissa / 100, self.mantissa % 100)
        } else {
            (self.mantissa / 10, self.mantissa % 10 * 10)
        };
        out.push(low_byte(self.power().div_euclid(2) + HEADER_BIAS) ^ mask);
        out.push((low_byte(last) << 1) ^ mask);
        while rest > 0 {
            // Dividing 64 bits is many times quicker than 128, and enough for 19 digits.
            let pair = if let Ok(short) = u64::try_from(rest) {
                rest = u128::from(short / 100);
                low_byte(short % 100)
            } else {
                let pair = low_byte(rest % 100);
                rest /= 100;
                pair
            };
            out.push((pair << 1 | 1) ^ mask);
        }
        if let Some(pairs) = out.get_mut(start..) {
            pairs.reverse();
        }
    }

    /// Reads a number from the front of `bytes`: its value, and how many bytes it took.
    ///
    /// `None` for anything that [`Number::encode`] does not write.
    pub fn decode(bytes: &[u8]) -> Option<(Number, usize)> {
        let (&header, pairs) = bytes.split_first()?;
        let negative = header < HEADER_POSITIVE;
        let mask = inversion(negative);
        let mut power_100 = i16::from(header ^ mask) - HEADER_BIAS;
        let mut mantissa = 0_u128;
        let mut consumed = 1;
        for &byte in pairs.iter().take(PAIRS_MAX) {
            let byte = byte ^ mask;
            let pair = byte >> 1;
            consumed += 1;
            if pair > 99 || (pair == 0 && mantissa == 0) {
                break;
            }
            if byte & 1 == 1 {
                // Overflows at the last of the pairs at most, where going on means refusal.
                mantissa = mantissa.wrapping_mul(100).wrapping_add(pair.into());
                power_100 -= 1;
                continue;
            }
            let (mantissa, exponent) = match (pair / 10, pair % 10) {
                (0, 0) => return None,
                (high, 0) => (appended(mantissa, 10, high)?, 2 * power_100 + 1),
                _ => (appended(mantissa, 100, pair)?, 2 * power_100),
            };
            let number = Number { negative, mantissa, exponent };
            return (mantissa < MANTISSA_END).then_some((number, consumed));
        }
        bytes.starts_with(&ZERO_ENCODED).then_some((Number::ZERO, ZERO_ENCODED.len()))
    }

    /// Bytes the number counts in an item's size, by DynamoDB's rule: one per two significant
    /// digits and one more, another if it is negative, at most 21.
    pub fn stored_bytes(self) -> usize {
        let pairs = digits_of(self.mantissa).div_ceil(2) as usize;
        (1 + pairs + usize::from(self.negative)).min(NUMBER_STORED_BYTES_MAX)
    }

    /// A number from a canonical mantissa, if it is within the limits; `text` describes it.
    fn bounded(
        negative: bool,
        mantissa: u128,
        exponent: i64,
        text: impl FnOnce() -> String,
    ) -> Result<Number, NumberError> {
        if mantissa == 0 {
            return Ok(Number::ZERO);
        }
        let digits = digits_of(mantissa);
        if digits > NUMBER_DIGITS_MAX {
            let (digits, max) = (digits as usize, NUMBER_DIGITS_MAX as usize);
            return Err(NumberError::TooManyDigits { digits, max });
        }
        let power = exponent.saturating_add(i64::from(digits) - 1);
        if power < i64::from(NUMBER_POWER_MIN) {
            return Err(NumberError::TooSmall { text: text() });
        }
        match i16::try_from(exponent) {
            Ok(exponent) if power <= i64::from(NUMBER_POWER_MAX) => {
                Ok(Number { negative, mantissa, exponent })
            }
            _ => Err(NumberError::TooLarge { text: text() }),
        }
    }

    /// A whole number, which is always within the limits.
    fn whole(negative: bool, magnitude: u64) -> Number {
        if magnitude == 0 {
            return Number::ZERO;
        }
        let (mut mantissa, mut exponent) = (magnitude, 0);
        while mantissa.is_multiple_of(10) {
            mantissa /= 10;
            exponent += 1;
        }
        Number { negative, mantissa: mantissa.into(), exponent }
    }

    fn magnitude_u64(self) -> Option<u64> {
        let mantissa = u64::try_from(self.mantissa).ok()?;
        // A negative exponent is a fraction, because the mantissa has no zeros to give.
        match u32::try_from(self.exponent).ok()? {
            0 => Some(mantissa),
            exponent => mantissa.checked_mul(10_u64.checked_pow(exponent)?),
        }
    }

    /// The power of ten of the first digit.
    fn power(self) -> i16 {
        match digits_of(self.mantissa) {
            0 => 0,
            digits => self.exponent + i16::from(low_byte(digits - 1)),
        }
    }

    fn cmp_magnitude(self, other: Number) -> Ordering {
        if self.exponent == other.exponent || self.mantissa == 0 || other.mantissa == 0 {
            return self.mantissa.cmp(&other.mantissa);
        }
        // With the first digits at the same power, aligning the mantissas takes no more than 38.
        self.power().cmp(&other.power()).then_with(|| {
            let shift = u32::from(self.exponent.abs_diff(other.exponent));
            if self.exponent > other.exponent {
                shifted(self.mantissa, shift).cmp(&Some(other.mantissa))
            } else {
                Some(self.mantissa).cmp(&shifted(other.mantissa, shift))
            }
        })
    }
}

/// Flips the bits of negative numbers, so that larger magnitudes sort first.
fn inversion(negative: bool) -> u8 {
    if negative { 0xFF } else { 0 }
}

/// The low byte of a value known to be below 256.
fn low_byte(value: impl TryInto<u8>) -> u8 {
    value.try_into().unwrap_or(u8::MAX)
}

/// The mantissa with `value` behind it, if that fits.
fn appended(mantissa: u128, base: u128, value: u8) -> Option<u128> {
    mantissa.checked_mul(base)?.checked_add(value.into())
}

/// The mantissa with `zeros` more zeros, if that fits.
fn shifted(mantissa: u128, zeros: u32) -> Option<u128> {
    match (mantissa, zeros) {
        (0, _) | (_, 0) => Some(mantissa),
        _ => mantissa.checked_mul(10_u128.checked_pow(zeros)?),
    }
}

/// Decimal digits; none for zero.
fn digits_of(mantissa: u128) -> u32 {
    match u64::try_from(mantissa) {
        Ok(short) => short.checked_ilog10().map_or(0, |power| power + 1),
        Err(_) => mantissa.ilog10() + 1,
    }
}

/// The mantissa without its trailing zeros, and their number.
fn without_trailing_zeros(mut mantissa: u128) -> (u128, u32) {
    let mut zeros = 0;
    while mantissa != 0 && mantissa.is_multiple_of(10) {
        mantissa /= 10;
        zeros += 1;
    }
    (mantissa, zeros)
}

/// Digits of `coarse` shifted left plus `fine`, when that does not fit in 128 bits.
fn digits_of_overflow(coarse: Number, fine: Number, shift: u32) -> usize {
    // Only the part of the fine mantissa under the coarse one can change the digit count.
    let under = 10_u128.checked_pow(shift).map_or(0, |unit| fine.mantissa / unit);
    let top = if coarse.negative == fine.negative {
        coarse.mantissa + under
    } else {
        coarse.mantissa.saturating_sub(under + 1) // one is borrowed for the digits below
    };
    (digits_of(top) + shift) as usize
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.cmp_magnitude(*other),
            (true, true) => other.cmp_magnitude(*self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<i32> for Number {
    fn from(value: i32) -> Number {
        Number::whole(value < 0, value.unsigned_abs().into())
    }
}

impl From<u32> for Number {
    fn from(value: u32) -> Number {
        Number::whole(false, value.into())
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Number {
        Number::whole(value < 0, value.unsigned_abs())
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Number {
        Number::whole(false, value)
    }
}

impl FromStr for Number {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Number, NumberError> {
        let quoted = || text.chars().take(QUOTED_CHARS_MAX).collect::<String>();
        let malformed = || NumberError::Malformed { text: quoted() };
        let (negative, unsigned) = split_sign(text.as_bytes());
        let mut parts = unsigned.splitn(2, |byte| matches!(byte, b'e' | b'E'));
        let significand = parts.next().and_then(Significand::parse).ok_or_else(malformed)?;
        let exponent = match parts.next() {
            Some(digits) => parse_exponent(digits).ok_or_else(malformed)?,
            None => 0,
        };
        if significand.digits > NUMBER_DIGITS_MAX as usize {
            let (digits, max) = (significand.digits, NUMBER_DIGITS_MAX as usize);
            return Err(NumberError::TooManyDigits { digits, max });
        }
        let exponent = exponent.saturating_add(significand.exponent);
        Number::bounded(negative, significand.mantissa, exponent, quoted)
    }
}

/// Whether the text begins with a minus, and what follows its sign.
fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    }
}

/// The part of a number's text before the exponent.
struct Significand {
    /// Without trailing zeros; meaningless when there are too many digits.
    mantissa: u128,
    /// From the first digit that is not zero to the last one.
    digits: usize,
    exponent: i64,
}

impl Significand {
    fn parse(text: &[u8]) -> Option<Significand> {
        let mut parsed = Significand { mantissa: 0, digits: 0, exponent: 0 };
        let mut zeros = 0; // seen since the last other digit: significant if another one follows
        let mut point = false;
        for &byte in text {
            match byte {
                b'.' if !point => {
                    point = true;
                    continue;
                }
                b'0' => zeros += 1,
                b'1'..=b'9' => {
                    let new_digits = if parsed.digits == 0 { 1 } else { zeros + 1 };
                    parsed.digits += new_digits;
                    if parsed.digits <= NUMBER_DIGITS_MAX as usize {
                        let room = shifted(parsed.mantissa, u32::try_from(new_digits).ok()?)?;
                        parsed.mantissa = room + u128::from(byte - b'0');
                    }
                    zeros = 0;
                }
                _ => return None,
            }
            if point {
                parsed.exponent -= 1;
            }
        }
        parsed.exponent += i64::try_from(zeros).ok()?;
        let has_digits = text.len() > usize::from(point);
        has_digits.then_some(parsed)
    }
}

/// Signed digits; what no significand could bring back into range becomes the nearest `i64`.
fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = split_sign(text);
    if digits.is_empty() {
        return None;
    }
    let mut magnitude = 0_i64;
    for &byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        magnitude = magnitude.saturating_mul(10).saturating_add(i64::from(byte - b'0'));
    }
    Some(if negative { -magnitude } else { magnitude })
}

/// Plain decimal text such as `-12.5`, or the form `1.5E-100` where that would take over 40
/// characters.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.mantissa.to_string();
        let power = self.power();
        let distance = usize::from(self.exponent.unsigned_abs());
        let text = if self.exponent >= 0 && digits.len() + distance <= PLAIN_CHARS_MAX {
            format!("{digits}{:0<distance$}", "")
        } else if self.exponent < 0 && power >= 0 {
            let (whole, fraction) = split(&digits, digits.len() - distance);
            format!("{whole}.{fraction}")
        } else if self.exponent < 0 && "0.".len() + distance <= PLAIN_CHARS_MAX {
            format!("0.{digits:0>distance$}")
        } else {
            let (first, others) = split(&digits, 1);
            let point = if others.is_empty() { "" } else { "." };
            format!("{first}{point}{others}E{power:+}")
        };
        f.pad_integral(!self.negative, "", &text)
    }
}

/// The text's two parts; all digits are one byte each.
fn split(digits: &str, at: usize) -> (&str, &str) {
    digits.split_at_checked(at).unwrap_or((digits, ""))
}

/// As [`Display`](fmt::Display).
impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
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
    fn what_is_not_a_number_is_malformed() {
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
    fn beyond_the_range_the_error_says_which_end() {
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
            format!(
                "the number 1E-131 is too small: the smallest magnitude above zero is {SMALLEST}"
            ),
        );
    }

    #[test]
    fn more_than_38_digits_are_refused_but_zeros_around_them_do_not_count() {
        let nines = "9".repeat(38);
        assert_eq!(number(&format!("00{nines}00.00")).to_string(), format!("{nines}00"));
        assert_eq!(number(&format!("0.000{nines}00")), number(&format!("{nines}E-41")));
        for (text, digits) in [
            (format!("{nines}9"), 39),
            (format!("1{}1", "0".repeat(60)), 62),
            ("12".repeat(99), 198),
        ] {
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
            (
                "99999999999999999999999999999999999999",
                "0.9999999999999999999999999999999999999",
                75,
            ),
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
        assert_eq!(
            largest.checked_add(number("1e88")),
            Err(NumberError::TooLarge { text: tenfold })
        );
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
        fn decoding_accepts_only_what_encoding_writes(bytes: Vec<u8>, header in 0x7E_u8..0xC4) {
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
}
