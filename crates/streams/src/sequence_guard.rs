//! Records how far a counter has counted the stream, so that a change delivered again is not
//! counted again.
//!
//! The embedded stream always has one shard, and the text of a guard is its sequence in 40 digits.
//! DynamoDB may spread the items of one busy partition over several shards, whose sequences are not
//! comparable. There each sequence carries its shard, the last counted one first:
//!
//! ```text
//! 0000000000000000000000000000000000004711
//! 0000000000000000000461370200000000052841@shardId-0001-ab 0000…52840@shardId-0001-cd
//! ```

use std::fmt;

use roundtable_model::InvalidValue;
use roundtable_model::table::Sequence;

/// The number of shards a guard remembers. A shard is closed after some hours and never read again;
/// more than this many at once are not expected for one partition.
const SHARDS_MAX: usize = 16;

/// The last counted sequence of each shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequenceGuard(Vec<(Option<String>, Sequence)>);

impl SequenceGuard {
    /// Parses the output of [`Display`](fmt::Display). An empty text has counted nothing.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let entry = |text: &str| {
            let (digits, shard) = match text.split_once('@') {
                Some((digits, shard)) => (digits, Some(shard.to_owned())),
                None => (text, None),
            };
            let sequence = Sequence::parse(digits);
            sequence.map(|sequence| (shard, sequence)).map_err(|_| {
                InvalidValue::in_text(
                    "40 digits, or 40 digits and a shard each",
                    "something else",
                    text,
                )
            })
        };
        text.split_ascii_whitespace().map(entry).collect::<Result<_, _>>().map(Self)
    }

    /// Returns whether this change of this shard has been counted. `shard` is `None` for a stream
    /// with a single shard.
    pub fn covers(&self, shard: Option<&str>, sequence: &Sequence) -> bool {
        self.0.iter().any(|(of, counted)| of.as_deref() == shard && sequence <= counted)
    }

    /// Marks everything of this shard up to `sequence` as counted.
    pub fn advance(&mut self, shard: Option<&str>, sequence: &Sequence) {
        if self.covers(shard, sequence) {
            return;
        }
        self.0.retain(|(of, _)| of.as_deref() != shard);
        self.0.insert(0, (shard.map(str::to_owned), sequence.clone()));
        self.0.truncate(SHARDS_MAX);
    }
}

impl fmt::Display for SequenceGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (shard, sequence)) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { " " };
            write!(f, "{separator}{}", sequence.as_str())?;
            if let Some(shard) = shard {
                write!(f, "@{shard}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(number: u64) -> Sequence {
        Sequence::from(number)
    }

    #[test]
    fn a_guard_of_one_shard_is_written_as_forty_digits() {
        let mut guard = SequenceGuard::parse("").unwrap();
        assert!(!guard.covers(None, &sequence(1)));
        guard.advance(None, &sequence(7));
        guard.advance(None, &sequence(5));
        assert_eq!(guard.to_string(), format!("{:0>40}", 7));
        assert!(guard.covers(None, &sequence(7)) && !guard.covers(None, &sequence(8)));
    }

    #[test]
    fn shards_are_counted_independently() {
        let mut guard = SequenceGuard::default();
        guard.advance(Some("left"), &sequence(900));
        assert!(!guard.covers(Some("right"), &sequence(3)), "a lower sequence of another shard");
        guard.advance(Some("right"), &sequence(3));
        let read = SequenceGuard::parse(&guard.to_string()).unwrap();
        assert_eq!(read, guard);
        assert!(
            read.covers(Some("left"), &sequence(900)) && read.covers(Some("right"), &sequence(3))
        );
        assert!(!read.covers(None, &sequence(1)));
    }

    #[test]
    fn the_least_recently_counted_shards_are_dropped() {
        let mut guard = SequenceGuard::default();
        for shard in 0..=SHARDS_MAX {
            guard.advance(Some(&format!("s{shard}")), &sequence(1));
        }
        assert!(!guard.covers(Some("s0"), &sequence(1)) && guard.covers(Some("s1"), &sequence(1)));
    }

    #[test]
    fn a_malformed_guard_is_rejected() {
        assert!(SequenceGuard::parse("yesterday").is_err());
        assert!(SequenceGuard::parse("12@a b").is_err());
    }
}
