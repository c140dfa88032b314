//! Numbers of the table: exact decimals with DynamoDB's precision and range. Nothing is ever rounded:
//! a value that does not fit is an error.

use std::cmp::Ordering;

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
/// Most characters of an invalid text that its error quotes.
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

/// The reason why a text or a sum is not a [`Number`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    #[error("`{text}` is not a number: expected digits with an optional sign, point and exponent")]
    Malformed { text: String },
    /// The exact value has more significant digits than a number holds.
    #[error("a number of {digits} significant digits: at most {max} are supported")]
    TooManyDigits {
        /// Significant digits of the exact value.
        digits: usize,
        max: usize,
    },
    /// The magnitude is above the range.
    #[error(
        "the number {text} is too large: \
         the largest magnitude is 9.9999999999999999999999999999999999999E+125"
    )]
    TooLarge { text: String },
    /// The magnitude is below the range, and not zero.
    #[error("the number {text} is too small: the smallest magnitude above zero is 1E-130")]
    TooSmall { text: String },
}

impl Number {
    pub const ZERO: Number = Number { negative: false, mantissa: 0, exponent: 0 };

    /// Returns the exact sum.
    ///
    /// A sum outside the range or of more than 38 digits is an error, as in DynamoDB Local: a
    /// counter that silently stops counting is worse than one that fails.
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

    /// Returns the exact difference, with the same errors as [`Number::checked_add`].
    pub fn checked_sub(self, other: Number) -> Result<Number, NumberError> {
        // Zero has no sign to invert.
        if other.mantissa == 0 {
            return Ok(self);
        }
        self.checked_add(Number { negative: !other.negative, ..other })
    }

    /// Returns the value if it is a whole number within `i64`.
    pub fn to_i64(self) -> Option<i64> {
        let magnitude = self.magnitude_u64()?;
        if self.negative {
            0_i64.checked_sub_unsigned(magnitude)
        } else {
            0_i64.checked_add_unsigned(magnitude)
        }
    }

    /// Returns the value if it is a whole number within `u64`.
    pub fn to_u64(self) -> Option<u64> {
        if self.negative { None } else { self.magnitude_u64() }
    }

    /// Returns the smallest whole number that is not below this one, if it is within `u64` and this
    /// one is not negative.
    pub fn ceil_to_u64(self) -> Option<u64> {
        if self.negative || self.exponent >= 0 {
            return self.to_u64();
        }
        // Beyond the powers that fit, all 38 digits are behind the point.
        let unit = 10_u128.checked_pow(u32::from(self.exponent.unsigned_abs()));
        let below = unit.map_or(0, |unit| self.mantissa / unit);
        // There is a fraction, because the mantissa has no trailing zeros.
        u64::try_from(below).ok()?.checked_add(1)
    }

    /// Returns the value if it is a whole number within `u128`.
    pub fn to_u128(self) -> Option<u128> {
        if self.negative {
            return None;
        }
        shifted(self.mantissa, u32::try_from(self.exponent).ok()?)
    }

    /// Appends the ordered encoding: the bytes of two numbers compare as the numbers do, and no
    /// number's bytes are a prefix of another's, so a key may continue after them.
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
            // Dividing 64 bits is many times faster than 128, and enough for 19 digits.
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

    /// Reads a number from the front of `bytes`; returns it and its length in bytes.
    ///
    /// Returns `None` for anything that [`Number::encode`] does not write.
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
                // Overflows at the last pair at most, and then the number is rejected.
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

    /// Returns the bytes the number counts in an item's size, by DynamoDB's rule: one per two
    /// significant digits and one more, another if it is negative, at most 21.
    pub fn stored_bytes(self) -> usize {
        let pairs = digits_of(self.mantissa).div_ceil(2) as usize;
        (1 + pairs + usize::from(self.negative)).min(NUMBER_STORED_BYTES_MAX)
    }

    /// Builds a number from a canonical mantissa if it is within the limits; `text` describes it.
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

    /// Builds a whole number, which is always within the limits.
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
        // A negative exponent is a fraction, because the mantissa has no trailing zeros.
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
        // With the first digits at the same power, aligned mantissas have no more than 38 digits.
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

/// Appends `value` to the mantissa, if that fits.
fn appended(mantissa: u128, base: u128, value: u8) -> Option<u128> {
    mantissa.checked_mul(base)?.checked_add(value.into())
}

/// Appends `zeros` zeros to the mantissa, if that fits.
fn shifted(mantissa: u128, zeros: u32) -> Option<u128> {
    match (mantissa, zeros) {
        (0, _) | (_, 0) => Some(mantissa),
        _ => mantissa.checked_mul(10_u128.checked_pow(zeros)?),
    }
}

/// Returns the number of decimal digits; 0 for zero.
fn digits_of(mantissa: u128) -> u32 {
    match u64::try_from(mantissa) {
        Ok(short) => short.checked_ilog10().map_or(0, |power| power + 1),
        Err(_) => mantissa.ilog10() + 1,
    }
}

/// Removes trailing zeros; returns the mantissa and their number.
fn without_trailing_zeros(mut mantissa: u128) -> (u128, u32) {
    let mut zeros = 0;
    while mantissa != 0 && mantissa.is_multiple_of(10) {
        mantissa /= 10;
        zeros += 1;
    }
    (mantissa, zeros)
}

/// Returns the digits of `coarse` shifted left plus `fine`, when that does not fit in 128 bits.
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

#[cfg(test)]
mod tests;
mod text;
