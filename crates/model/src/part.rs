//! The parts of keys between `#`. Only these types can be in a key: plain text could hold a `#`,
//! and a plain number would not sort numerically.

use std::fmt;
use std::iter::Map;
use std::ops::Range;

use roundtable_table::{ValueRef, ValueSlot};

use crate::attribute::{Attribute, InvalidValue};

/// A value that can be a part of a key. Its text has no `#` or control character and orders like
/// the value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a part of a key: it may hold a `#`, or not sort like its text",
    note = "ids, names, times, enums and `Score` can"
)]
pub trait KeyPart {
    /// The length of the longest text.
    const BYTES_MAX: usize;

    /// Appends the text to a key.
    fn write_part(&self, key: &mut String);
}

impl<T: KeyPart> KeyPart for &T {
    const BYTES_MAX: usize = T::BYTES_MAX;

    fn write_part(&self, key: &mut String) {
        (*self).write_part(key);
    }
}

#[cfg(test)]
pub(crate) fn key_text(part: &impl KeyPart) -> String {
    let mut key = String::new();
    part.write_part(&mut key);
    key
}

/// Returns the decimal digits of a number with at most `N` of them, with leading zeros.
pub(crate) fn digits<const N: usize>(mut number: u64) -> [u8; N] {
    let mut digits = [b'0'; N];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
    digits
}

/// One of several partitions that share the load of a hot one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Shard(u16);

impl Shard {
    /// The first shard, whose keys look unsharded.
    pub const ZERO: Self = Self(0);

    /// The length of the longest text that [`Shard::write_suffix`] appends.
    pub const SUFFIX_BYTES_MAX: usize = "#999".len();

    const EXPECTED: &'static str = "a shard from 0 to 999";

    pub fn new(number: u16) -> Result<Self, InvalidValue> {
        if number < Shards::MAX.0 {
            Ok(Self(number))
        } else {
            Err(InvalidValue::new(Self::EXPECTED, number))
        }
    }

    /// Returns the shard of an object with this id. Stored keys depend on it, so the same text must
    /// always give the same shard.
    pub fn of(hash_source: &str, shards: Shards) -> Self {
        Self(u16::try_from(stable_hash(hash_source) % u64::from(shards.0)).unwrap_or(0))
    }

    pub const fn number(self) -> u16 {
        self.0
    }

    /// Appends nothing for shard 0 and `#n` for the others, so that the first shard's keys look
    /// unsharded.
    pub fn write_suffix(&self, key: &mut String) {
        if *self != Self::ZERO {
            key.push('#');
            let digits = digits::<3>(self.0.into());
            let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
            key.extend(digits.iter().skip(zeros).copied().map(char::from));
        }
    }
}

/// FNV-1a with `MurmurHash3`'s finalizer: without it, ids that differ only in their last character
/// would share most of their hash.
pub(crate) fn stable_hash(text: &str) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let mut hash = text.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, mix);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Attribute for Shard {
    const KIND: &'static str = "shard";

    fn fill(&self, slot: ValueSlot<'_>) {
        self.0.fill(slot);
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, InvalidValue> {
        let number = u16::from_value(value);
        number.map_err(|_| InvalidValue::of_value(Self::EXPECTED, value)).and_then(Self::new)
    }
}

/// The number of shards, 1 to 1000. It can be raised, never lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shards(u16);

impl Shards {
    pub const ONE: Self = Self(1);
    /// The upper limit: each shard costs a reader one more query.
    pub const MAX: Self = Self(1000);

    const EXPECTED: &'static str = "1 to 1000 shards";

    pub fn new(count: u16) -> Result<Self, InvalidValue> {
        if (Self::ONE.0..=Self::MAX.0).contains(&count) {
            Ok(Self(count))
        } else {
            Err(InvalidValue::new(Self::EXPECTED, count))
        }
    }

    pub const fn count(self) -> u16 {
        self.0
    }

    pub fn iter(self) -> <Self as IntoIterator>::IntoIter {
        self.into_iter()
    }
}

impl IntoIterator for Shards {
    type Item = Shard;
    type IntoIter = Map<Range<u16>, fn(u16) -> Shard>;

    fn into_iter(self) -> Self::IntoIter {
        (0..self.0).map(Shard)
    }
}

impl Attribute for Shards {
    const KIND: &'static str = "number of shards";

    fn fill(&self, slot: ValueSlot<'_>) {
        self.0.fill(slot);
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, InvalidValue> {
        let count = u16::from_value(value);
        count.map_err(|_| InvalidValue::of_value(Self::EXPECTED, value)).and_then(Self::new)
    }
}

/// A half-open range of key parts; an absent end is unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span<T> {
    /// The first value in it.
    pub from: Option<T>,
    /// The first value after it.
    pub to: Option<T>,
}

impl<T> Span<T> {
    pub const ALL: Self = Self { from: None, to: None };

    /// All values from `from` on.
    pub const fn since(from: T) -> Self {
        Self { from: Some(from), to: None }
    }

    /// All values before `to`.
    pub const fn until(to: T) -> Self {
        Self { from: None, to: Some(to) }
    }

    /// All values from `from` on, before `to`.
    pub const fn between(from: T, to: T) -> Self {
        Self { from: Some(from), to: Some(to) }
    }

    pub fn contains(&self, one: &T) -> bool
    where
        T: PartialOrd,
    {
        self.from.as_ref().is_none_or(|from| from <= one)
            && self.to.as_ref().is_none_or(|to| one < to)
    }
}

/// A number of at most 12 digits that keys sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Score(u64);

impl Score {
    pub const MAX: Self = Self(999_999_999_999);

    /// Returns the score, limited to [`Score::MAX`].
    pub const fn new(score: u64) -> Self {
        if score > Self::MAX.0 { Self::MAX } else { Self(score) }
    }

    pub const fn value(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl KeyPart for Score {
    const BYTES_MAX: usize = 12;

    fn write_part(&self, key: &mut String) {
        // As text, 999 would sort above 1000.
        key.extend(digits::<{ Self::BYTES_MAX }>(self.0).map(char::from));
    }
}

impl Attribute for Score {
    const KIND: &'static str = "score";

    fn fill(&self, slot: ValueSlot<'_>) {
        self.0.fill(slot);
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, InvalidValue> {
        match u64::from_value(value) {
            Ok(score) if score <= Self::MAX.0 => Ok(Self(score)),
            _ => Err(InvalidValue::of_value("a score of at most 12 digits", value)),
        }
    }
}

#[cfg(test)]
mod tests;
