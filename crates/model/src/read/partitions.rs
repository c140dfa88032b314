//! The partitions and sort keys that a query reads.

use std::fmt;

use roundtable_table::SortRange;

use crate::{Day, Days, KeyPart, Span, Time};

/// The most days of one query: ten years. On DynamoDB each day is a query for each shard, even if
/// it is empty.
pub(super) const DAYS_MAX: usize = 3_660;

pub enum Partitions {
    One(String),
    /// Several, merged by sort key.
    Many(Vec<String>),
    /// Those of days, read as far as a page needs.
    Days {
        days: Days,
        of: PartitionsOfDay,
    },
}

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

/// The sort keys that a query reads. Cursors are bound to its `Debug` output, so variants keep
/// their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortKeyRange {
    All,
    Exactly(String),
    Begins(String),
    /// From the first key to before the second.
    Between(String, String),
    Below(String),
    /// No key: the requested span is empty.
    Empty,
}

impl SortKeyRange {
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
            // A `#` follows the part, so no key equals the bound, and keys of the end's own time
            // are above it: the end is excluded.
            (Some(from), Some(to)) => Self::Between(from, to),
            (None, Some(to)) if prefix.is_empty() => Self::Below(to),
            (None, Some(to)) => Self::Between(prefix, to),
            // Times consist of characters below `~`.
            (Some(from), None) => Self::Between(from, prefix + "~"),
        }
    }

    /// Returns the condition on the sort key; `None` if the range is empty.
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
