//! Numbers as text, in every notation DynamoDB accepts.

use std::fmt;
use std::str::FromStr;

use super::{NUMBER_DIGITS_MAX, Number, NumberError, PLAIN_CHARS_MAX, QUOTED_CHARS_MAX, shifted};

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

/// Splits off the sign; returns whether it is a minus, and the rest.
fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    }
}

/// The part of a number's text before the exponent.
struct Significand {
    /// Without trailing zeros; meaningless if there are too many digits.
    mantissa: u128,
    /// Significant digits: from the first nonzero digit to the last.
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

/// Parses signed digits; saturates at `i64`, far outside the range of any number.
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

/// Splits digits, which are one byte each.
fn split(digits: &str, at: usize) -> (&str, &str) {
    digits.split_at_checked(at).unwrap_or((digits, ""))
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
