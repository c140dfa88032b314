//! Where a question looks: which partitions, and which of their sort keys.

use std::fmt;

use roundtable_table::SortRange;

use crate::{Day, Days, KeyPart, Span, Time};

/// The most days one question walks: ten years. Each is a query for each shard on DynamoDB, however
/// empty it is.
pub(super) const DAYS_MAX: usize = 3_660;

/// The partitions a question reads.
pub enum Partitions {
    /// One.
    One(String),
    /// Several, merged by sort key.
    Many(Vec<String>),
    /// Those of days, walked as far as a page needs.
    Days {
        /// The days.
        days: Days,
        /// The partitions of one of them.
        of: PartitionsOfDay,
    },
}

/// Tells the partitions of a day.
type PartitionsOfDay = Box<dyn Fn(Day) -> Vec<String> + Send + Sync>;

impl Partitions {
    #[doc(hidden)]
    pub fn days(days: Days, of: impl Fn(Day) -> Vec<String> + Send + Sync + 'static) -> Self {
        Self::Days { days, of: Box::new(of) }
    }
}

impl fmt::Debug for Partitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(partition) => f.write_str(partition),
            Self::Many(partitions) => write!(f, "{} partitions", partitions.len()),
            Self::Days { days, .. } => write!(f, "{days:?}"),
        }
    }
}

/// Which sort keys a question reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Range {
    /// All.
    All,
    /// This one.
    Exactly(String),
    /// Those that begin so.
    Begins(String),
    /// From the first to before the second.
    Between(String, String),
    /// Those below.
    Below(String),
    /// None: the span asked for holds nothing.
    Empty,
}

impl Range {
    #[doc(hidden)]
    pub fn within(prefix: String, span: &Span<Time>) -> Self {
        let bound = |time: &Time| {
            let mut bound = prefix.clone();
            time.write_part(&mut bound);
            bound
        };
        match (span.from.as_ref().map(bound), span.to.as_ref().map(bound)) {
            (None, None) if prefix.is_empty() => Self::All,
            (None, None) => Self::Begins(prefix),
            (Some(from), Some(to)) if from >= to => Self::Empty,
            // The part is followed by a `#`, so no key equals the bound, and those of the end's own
            // time lie behind it: the end stays out.
            (Some(from), Some(to)) => Self::Between(from, to),
            (None, Some(to)) if prefix.is_empty() => Self::Below(to),
            (None, Some(to)) => Self::Between(prefix, to),
            // Times are digits: all below `~`.
            (Some(from), None) => Self::Between(from, prefix + "~"),
        }
    }

    /// The condition on the sort key; `None` when nothing can be there.
    pub(super) fn condition(&self) -> Option<SortRange> {
        match self {
            Self::All => Some(SortRange::All),
            Self::Exactly(key) => Some(SortRange::Equal(key.as_str().into())),
            Self::Begins(prefix) => Some(SortRange::BeginsWith(prefix.as_str().into())),
            Self::Between(from, to) => {
                Some(SortRange::Between(from.as_str().into(), to.as_str().into()))
            }
            Self::Below(to) => Some(SortRange::Less(to.as_str().into())),
            Self::Empty => None,
        }
    }
}
