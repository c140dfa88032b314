//! The change stream: the changes of a table's items, in order.

use std::fmt;
use std::iter::successors;
use std::time::Duration;

use crate::{Condition, Invalid, Item, Key, TableDefinition, limits};

/// Digits of a sequence number as text: DynamoDB's have up to 40.
const SEQUENCE_DIGITS: usize = 40;

/// A sequence number in a stream. Text of 40 digits, so that text order is stream order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence([u8; SEQUENCE_DIGITS]);

impl Sequence {
    pub fn parse(digits: &str) -> Result<Self, Invalid> {
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if plain && digits.len() <= SEQUENCE_DIGITS {
            Ok(Self::of(digits.bytes().rev()))
        } else {
            Err(Invalid::Rejected { detail: format!("{digits:?} is not a sequence number") })
        }
    }

    /// Builds the number from its digits, the last of them first.
    fn of(digits: impl Iterator<Item = u8>) -> Self {
        let mut text = [b'0'; SEQUENCE_DIGITS];
        for (slot, digit) in text.iter_mut().rev().zip(digits) {
            *slot = digit;
        }
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns the digits without leading zeros, as DynamoDB writes them.
    pub fn trimmed(&self) -> &str {
        let digits = self.as_str().trim_start_matches('0');
        if digits.is_empty() { "0" } else { digits }
    }

    /// Returns the number, if it fits.
    pub fn to_u64(&self) -> Option<u64> {
        self.trimmed().parse().ok()
    }
}

impl From<u64> for Sequence {
    fn from(number: u64) -> Self {
        let tens = successors(Some(number), |rest| (*rest >= 10).then_some(rest / 10));
        Self::of(tens.map(|rest| b'0' + (rest % 10) as u8))
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.trimmed())
    }
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.trimmed())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Insert,
    Modify,
    Remove,
}

/// One change of one item. At least one image is present, and the two are never equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Position in its shard.
    pub sequence: Sequence,
    /// Time of the write, in milliseconds since the epoch (DynamoDB: to the second).
    pub at_ms: u64,
    pub key: Key,
    pub old: Option<Item>,
    pub new: Option<Item>,
    /// The item was removed because it had expired.
    pub expired: bool,
}

impl Change {
    pub const fn kind(&self) -> ChangeKind {
        match (&self.old, &self.new) {
            (None, _) => ChangeKind::Insert,
            (Some(_), Some(_)) => ChangeKind::Modify,
            (Some(_), None) => ChangeKind::Remove,
        }
    }

    /// Reads the key from the new image, or else from the old one.
    pub fn key_of(
        definition: &TableDefinition,
        old: Option<&Item>,
        new: Option<&Item>,
    ) -> Option<Key> {
        new.or(old).and_then(|item| definition.key.read(item))
    }
}

/// A part of a stream whose changes are in order. The embedded engine always has exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardInfo {
    pub id: String,
    /// The shard that must be read to its end before this one.
    pub parent: Option<String>,
}

/// The position at which a read of a shard starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamStart {
    /// The oldest change still held.
    Oldest,
    /// Only changes from now on.
    Latest,
    /// The changes after this one.
    After(Sequence),
}

#[derive(Clone, Debug)]
pub struct StreamRead {
    pub shard: String,
    pub start: StreamStart,
    /// Maximum number of changes to read, before the filter.
    pub limit: usize,
    /// Maximum wait for the first change, filtered out or not, when there is none yet.
    pub wait: Duration,
    /// Selects the changes to return: those whose old or new image satisfies the condition. Unlike a
    /// query's filter, it may name key attributes.
    pub filter: Option<Condition>,
}

impl StreamRead {
    /// Reads a page of the maximum size, without a filter and without waiting.
    pub fn new(shard: impl Into<String>, start: StreamStart) -> Self {
        let (limit, wait) = (limits::STREAM_CHANGES_MAX, Duration::ZERO);
        Self { shard: shard.into(), start, limit, wait, filter: None }
    }

    /// Reads at most `limit` changes.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Waits up to `wait` for the first change.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Returns only changes whose old or new image satisfies `filter`.
    #[must_use]
    pub fn filter(mut self, filter: Condition) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Returns whether the filter selects a change between these two images.
    pub fn matches(&self, old: Option<&Item>, new: Option<&Item>) -> bool {
        self.filter.as_ref().is_none_or(|filter| {
            [new, old].into_iter().flatten().any(|item| filter.holds(Some(item)))
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamPage {
    /// The selected changes, in order.
    pub changes: Vec<Change>,
    /// Number of changes read, including those the filter left out.
    pub evaluated: usize,
    /// The last change read, after which the next read should start. `None` only if there is no
    /// change to start after yet; then start from the same position again.
    pub next: Option<Sequence>,
    /// The shard has ended and was read to its end.
    pub ended: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_its_number_and_sorts_like_it() {
        let numbers = [0, 1, 9, 10, 99, 1_000, u64::MAX - 1, u64::MAX];
        let sequences = numbers.map(Sequence::from);
        assert!(sequences.is_sorted());
        for (number, sequence) in numbers.into_iter().zip(&sequences) {
            assert_eq!(sequence.to_u64(), Some(number));
            assert_eq!(sequence.to_string(), number.to_string());
            assert_eq!(sequence.as_str(), format!("{number:040}"));
            for text in [sequence.as_str(), sequence.trimmed()] {
                assert_eq!(Sequence::parse(text).as_ref(), Ok(sequence));
            }
        }
    }

    /// DynamoDB's sequence numbers can exceed a `u64`.
    #[test]
    fn a_sequence_has_up_to_forty_digits_and_nothing_else() {
        let longest = "9".repeat(SEQUENCE_DIGITS);
        let sequence = Sequence::parse(&longest).unwrap();
        assert_eq!((sequence.as_str(), sequence.to_u64()), (&*longest, None));
        assert!(sequence > Sequence::from(u64::MAX));
        for wrong in ["", " ", "-1", "1.0", "12a", "１", &"1".repeat(SEQUENCE_DIGITS + 1)] {
            assert!(Sequence::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
