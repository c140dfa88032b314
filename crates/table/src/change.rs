//! The stream: what happened to the items of a table, in order.

use std::fmt;
use std::iter::successors;
use std::time::Duration;

use crate::{Condition, Invalid, Item, Key, TableDefinition, limits};

/// The digits of a sequence number as text: DynamoDB's are up to 40 long.
const SEQUENCE_DIGITS: usize = 40;

/// A place in a stream. Text of 40 digits, so that text order is stream order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence([u8; SEQUENCE_DIGITS]);

impl Sequence {
    /// Reads a decimal sequence number.
    pub fn parse(digits: &str) -> Result<Self, Invalid> {
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if plain && digits.len() <= SEQUENCE_DIGITS {
            Ok(Self::of(digits.bytes().rev()))
        } else {
            Err(Invalid::Refused { detail: format!("{digits:?} is not a sequence number") })
        }
    }

    /// The number with these digits, the last of them first.
    fn of(digits: impl Iterator<Item = u8>) -> Self {
        let mut text = [b'0'; SEQUENCE_DIGITS];
        for (place, digit) in text.iter_mut().rev().zip(digits) {
            *place = digit;
        }
        Self(text)
    }

    /// The 40 digits.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The digits without leading zeros, as DynamoDB writes them.
    pub fn trimmed(&self) -> &str {
        let digits = self.as_str().trim_start_matches('0');
        if digits.is_empty() { "0" } else { digits }
    }

    /// As a number, for streams whose sequences fit.
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

/// What happened to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there before.
    Insert,
    /// It was there before.
    Modify,
    /// It is not there any more.
    Remove,
}

/// One change of one item. At least one image is there; they are never equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where it stands in its shard.
    pub sequence: Sequence,
    /// When it was written, in milliseconds since the epoch (DynamoDB: to the second).
    pub at_ms: u64,
    /// The item's key.
    pub key: Key,
    /// The item before.
    pub old: Option<Item>,
    /// The item after.
    pub new: Option<Item>,
    /// Whether it went because its time was over.
    pub expired: bool,
}

impl Change {
    /// What happened.
    pub const fn kind(&self) -> ChangeKind {
        match (&self.old, &self.new) {
            (None, _) => ChangeKind::Insert,
            (Some(_), Some(_)) => ChangeKind::Modify,
            (Some(_), None) => ChangeKind::Remove,
        }
    }

    /// The key in whichever image there is.
    pub fn key_of(
        definition: &TableDefinition,
        old: Option<&Item>,
        new: Option<&Item>,
    ) -> Option<Key> {
        new.or(old).and_then(|item| definition.key.read(item))
    }
}

/// A part of a stream that is in order in itself. The embedded engine has one for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its name.
    pub id: String,
    /// The shard that must be read to its end before this one.
    pub parent: Option<String>,
}

/// Where to read a shard from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamStart {
    /// The oldest change it still holds.
    Oldest,
    /// Whatever comes from now on.
    Latest,
    /// What follows this change.
    After(Sequence),
}

/// Reads a part of a shard.
#[derive(Clone, Debug)]
pub struct StreamRead {
    /// Which shard.
    pub shard: String,
    /// From where.
    pub start: StreamStart,
    /// How many changes to look at; the filter comes after.
    pub limit: usize,
    /// How long to wait for the first change, wanted or not, when there is none.
    pub wait: Duration,
    /// Which of the changes looked at to return: those of an item of which this holds, before or after, where
    /// there is one. It may be asked about keys as well.
    pub filter: Option<Condition>,
}

impl StreamRead {
    /// As much as there may be in a page, of all changes, without waiting.
    pub fn new(shard: impl Into<String>, start: StreamStart) -> Self {
        let (limit, wait) = (limits::STREAM_CHANGES_MAX, Duration::ZERO);
        Self { shard: shard.into(), start, limit, wait, filter: None }
    }

    /// Looking at so many changes at most.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Waiting for the first so long.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Returning only these.
    #[must_use]
    pub fn filter(mut self, filter: Condition) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Whether a change between these two is to be returned.
    pub fn wants(&self, old: Option<&Item>, new: Option<&Item>) -> bool {
        self.filter.as_ref().is_none_or(|filter| {
            [new, old].into_iter().flatten().any(|item| filter.holds(Some(item)))
        })
    }
}

/// What a read of a shard found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamPage {
    /// The changes that are wanted, in order.
    pub changes: Vec<Change>,
    /// How many were looked at: these, and those that the filter left out.
    pub evaluated: usize,
    /// Where the next read should start: after everything this one has looked at. `None` only when
    /// nothing was ever there to start after; start from the same place again.
    pub next: Option<Sequence>,
    /// Whether the shard has ended and was read to its end.
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

    /// DynamoDB's can be longer than any number of ours.
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
