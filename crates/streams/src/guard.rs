//! Up to where a counter has counted the stream, so that a change which comes again is not counted
//! again.
//!
//! The embedded stream has one shard for ever, and the text of a guard is its sequence, in 40 digits.
//! DynamoDB may spread the items of one busy partition over several shards, whose sequences say nothing
//! about each other: there each sequence carries its shard, the last one counted first:
//!
//! ```text
//! 0000000000000000000000000000000000004711
//! 0000000000000000000461370200000000052841@shardId-0001-ab 0000…52840@shardId-0001-cd
//! ```

use std::fmt;

use roundtable_model::Misfit;
use roundtable_model::table::Sequence;

/// How many shards a guard remembers. A shard is left behind after some hours, and then never read
/// again; this many of one partition at once are not expected.
const SHARDS_MAX: usize = 16;

/// Up to where each shard of the stream has been counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard(Vec<(Option<String>, Sequence)>);

impl Guard {
    /// Reads what [`Display`](fmt::Display) wrote. An empty text has counted nothing.
    pub fn parse(text: &str) -> Result<Self, Misfit> {
        let entry = |text: &str| {
            let (digits, shard) = match text.split_once('@') {
                Some((digits, shard)) => (digits, Some(shard.to_owned())),
                None => (text, None),
            };
            let sequence = Sequence::parse(digits);
            sequence.map(|sequence| (shard, sequence)).map_err(|_| {
                Misfit::in_text("40 digits, or 40 digits and a shard each", "something else", text)
            })
        };
        text.split_ascii_whitespace().map(entry).collect::<Result<_, _>>().map(Self)
    }

    /// Whether this change of this shard has been counted. A stream with one shard gives no name.
    pub fn has(&self, shard: Option<&str>, sequence: &Sequence) -> bool {
        self.0.iter().any(|(of, counted)| of.as_deref() == shard && sequence <= counted)
    }

    /// Everything of this shard up to here has been counted.
    pub fn raise(&mut self, shard: Option<&str>, sequence: &Sequence) {
        if self.has(shard, sequence) {
            return;
        }
        self.0.retain(|(of, _)| of.as_deref() != shard);
        self.0.insert(0, (shard.map(str::to_owned), sequence.clone()));
        self.0.truncate(SHARDS_MAX);
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (shard, sequence)) in self.0.iter().enumerate() {
            let between = if at == 0 { "" } else { " " };
            write!(f, "{between}{}", sequence.as_str())?;
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
    fn one_shard_is_forty_digits() {
        let mut guard = Guard::parse("").unwrap();
        assert!(!guard.has(None, &sequence(1)));
        guard.raise(None, &sequence(7));
        guard.raise(None, &sequence(5));
        assert_eq!(guard.to_string(), format!("{:0>40}", 7));
        assert!(guard.has(None, &sequence(7)) && !guard.has(None, &sequence(8)));
    }

    #[test]
    fn shards_are_counted_each_for_itself() {
        let mut guard = Guard::default();
        guard.raise(Some("left"), &sequence(900));
        assert!(!guard.has(Some("right"), &sequence(3)), "a lower sequence of another shard");
        guard.raise(Some("right"), &sequence(3));
        let read = Guard::parse(&guard.to_string()).unwrap();
        assert_eq!(read, guard);
        assert!(read.has(Some("left"), &sequence(900)) && read.has(Some("right"), &sequence(3)));
        assert!(!read.has(None, &sequence(1)));
    }

    #[test]
    fn the_shards_counted_longest_ago_are_forgotten() {
        let mut guard = Guard::default();
        for shard in 0..=SHARDS_MAX {
            guard.raise(Some(&format!("s{shard}")), &sequence(1));
        }
        assert!(!guard.has(Some("s0"), &sequence(1)) && guard.has(Some("s1"), &sequence(1)));
    }

    #[test]
    fn what_is_no_guard_is_refused() {
        assert!(Guard::parse("yesterday").is_err());
        assert!(Guard::parse("12@a b").is_err());
    }
}
