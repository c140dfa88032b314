//! Read requests as plain data.

use std::fmt;
use std::sync::Arc;

use crate::{Condition, Key, Path, Position, Scalar, TableDefinition};

#[derive(Clone, Debug)]
pub struct Get {
    pub key: Key,
    /// Strongly consistent: the read sees every write acknowledged before it.
    pub strong: bool,
    /// Paths to return; empty for the whole item.
    pub projection: Vec<Path>,
}

impl Get {
    /// Reads the whole item at `key`, eventually consistent.
    pub fn new(key: impl Into<Key>) -> Self {
        Self { key: key.into(), strong: false, projection: Vec::new() }
    }
}

macro_rules! reading {
    ($($operation:ident)*) => {$(
        impl $operation {
            /// Makes the read strongly consistent.
            pub fn strong(mut self) -> Self {
                self.strong = true;
                self
            }

            /// Returns only the values at `paths`.
            pub fn project<P: Into<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
                self.projection = paths.into_iter().map(Into::into).collect();
                self
            }
        }
    )*};
}

reading! { Get BatchGet Query Scan }

/// Reads up to 100 items, each at its own point in time.
#[derive(Clone, Debug, Default)]
pub struct BatchGet {
    /// Keys without duplicates.
    pub keys: Vec<Key>,
    /// Strongly consistent: the read sees every write acknowledged before it.
    pub strong: bool,
    /// Paths to return; empty for whole items.
    pub projection: Vec<Path>,
}

impl BatchGet {
    /// Reads the whole items at `keys`.
    pub fn new<K: Into<Key>>(keys: impl IntoIterator<Item = K>) -> Self {
        Self { keys: keys.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

#[derive(Clone, Debug)]
pub struct TableGet {
    pub table: Arc<TableDefinition>,
    pub get: Get,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    #[default]
    Ascending,
    /// Newest first, if the sort key begins with a time.
    Descending,
}

/// A range of sort keys within a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SortRange {
    #[default]
    All,
    Equal(Scalar),
    Less(Scalar),
    LessOrEqual(Scalar),
    Greater(Scalar),
    GreaterOrEqual(Scalar),
    /// Bounds included.
    Between(Scalar, Scalar),
    BeginsWith(Scalar),
}

impl SortRange {
    /// Returns whether `sort` lies in the range.
    pub fn contains(&self, sort: &Scalar) -> bool {
        match self {
            Self::All => true,
            Self::Equal(value) => sort == value,
            Self::Less(value) => sort < value,
            Self::LessOrEqual(value) => sort <= value,
            Self::Greater(value) => sort > value,
            Self::GreaterOrEqual(value) => sort >= value,
            Self::Between(low, high) => low <= sort && sort <= high,
            Self::BeginsWith(prefix) => match (sort, prefix) {
                (Scalar::S(text), Scalar::S(prefix)) => text.starts_with(prefix.as_str()),
                (Scalar::B(bytes), Scalar::B(prefix)) => bytes.starts_with(prefix),
                _ => false,
            },
        }
    }

    /// Iterates over the values that bound the range.
    pub fn bounds(&self) -> impl Iterator<Item = &Scalar> {
        let (first, second) = match self {
            Self::All => (None, None),
            Self::Equal(value)
            | Self::Less(value)
            | Self::LessOrEqual(value)
            | Self::Greater(value)
            | Self::GreaterOrEqual(value)
            | Self::BeginsWith(value) => (Some(value), None),
            Self::Between(low, high) => (Some(low), Some(high)),
        };
        first.into_iter().chain(second)
    }
}

/// Reads a page of one partition of the table or of an index.
#[derive(Clone, Debug)]
pub struct Query {
    /// The index, or `None` for the table.
    pub index: Option<String>,
    pub partition: Scalar,
    pub sort: SortRange,
    pub order: Order,
    /// Maximum number of items to read, before the filter.
    pub limit: Option<usize>,
    /// End of the previous page.
    pub start: Option<Position>,
    /// Selects the items to return; may not name key attributes.
    pub filter: Option<Condition>,
    /// Paths to return; empty for whole items.
    pub projection: Vec<Path>,
    /// Strongly consistent: the read sees every write acknowledged before it.
    pub strong: bool,
}

impl Query {
    /// Reads the whole partition of the table, in ascending order.
    pub fn new(partition: impl Into<Scalar>) -> Self {
        Self {
            index: None,
            partition: partition.into(),
            sort: SortRange::All,
            order: Order::Ascending,
            limit: None,
            start: None,
            filter: None,
            projection: Vec::new(),
            strong: false,
        }
    }

    /// Reads this index instead of the table.
    pub fn index(mut self, name: impl Into<String>) -> Self {
        self.index = Some(name.into());
        self
    }

    pub fn sort(mut self, range: SortRange) -> Self {
        self.sort = range;
        self
    }

    /// Reads only sort keys that begin with `prefix`.
    pub fn begins_with(self, prefix: impl Into<Scalar>) -> Self {
        self.sort(SortRange::BeginsWith(prefix.into()))
    }

    pub fn descending(mut self) -> Self {
        self.order = Order::Descending;
        self
    }
}

/// Reads a page of a whole table or index. The order of partitions is unspecified.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// The index, or `None` for the table.
    pub index: Option<String>,
    /// Segment and total number of segments, for parallel scans.
    pub segment: Option<(u32, u32)>,
    /// Maximum number of items to read, before the filter.
    pub limit: Option<usize>,
    /// End of the previous page.
    pub start: Option<Position>,
    /// Selects the items to return.
    pub filter: Option<Condition>,
    /// Paths to return; empty for whole items.
    pub projection: Vec<Path>,
    /// Strongly consistent: the read sees every write acknowledged before it.
    pub strong: bool,
}

impl Scan {
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads this index instead of the table.
    pub fn index(mut self, name: impl Into<String>) -> Self {
        self.index = Some(name.into());
        self
    }

    /// Reads only segment `segment` of `total`.
    pub fn segment(mut self, segment: u32, total: u32) -> Self {
        self.segment = Some((segment, total));
        self
    }
}

macro_rules! paged {
    ($($operation:ident)*) => {$(
        impl $operation {
            /// Reads at most `limit` items, before the filter.
            pub fn limit(mut self, limit: usize) -> Self {
                self.limit = Some(limit);
                self
            }

            /// Starts after the end of another page, or at the beginning for `None`.
            pub fn after(mut self, position: impl Into<Option<Position>>) -> Self {
                self.start = position.into();
                self
            }

            /// Returns only items that satisfy `condition`.
            pub fn filter(mut self, condition: Condition) -> Self {
                self.filter = Some(condition);
                self
            }
        }
    )*};
}

paged! { Query Scan }

/// Reads down the [order](crate::SortOrder) of a table, from the greatest sort key, across all its
/// partitions. Only [some backends](crate::Capabilities::walks) can. It is strongly consistent.
#[derive(Clone)]
pub struct Walk<'w> {
    /// Reads only sort keys below this one.
    pub below: Option<String>,
    /// Returns whether the items of a partition are wanted.
    pub wants: &'w (dyn Fn(&str) -> bool + Send + Sync),
    /// The walk ends when it has this many items,
    pub limit: usize,
    /// or has passed this many, wanted or not. Either way it passes all items of the same sort key.
    pub passed_max: usize,
}

impl fmt::Debug for Walk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { below, limit, passed_max, .. } = self;
        let mut out = f.debug_struct("Walk");
        out.field("below", below).field("limit", limit).field("passed_max", passed_max);
        out.finish_non_exhaustive()
    }
}

/// Reads the first items, by sort key, across many partitions of the table or of an index. Equal sort
/// keys are ordered by partition. DynamoDB has no such operation; the `dynamo` backend emulates it.
#[derive(Clone, Debug)]
pub struct Merge {
    /// The index, or `None` for the table.
    pub index: Option<String>,
    /// Partitions without duplicates.
    pub partitions: Vec<Scalar>,
    pub sort: SortRange,
    pub order: Order,
    /// Maximum number of items to return.
    pub limit: usize,
    /// End of the previous page.
    pub start: Option<Position>,
    /// Paths to return; empty for whole items.
    pub projection: Vec<Path>,
}

impl Merge {
    /// Reads the newest `limit` items (by descending sort key) of `partitions`.
    pub fn newest<P: Into<Scalar>>(partitions: impl IntoIterator<Item = P>, limit: usize) -> Self {
        Self {
            index: None,
            partitions: partitions.into_iter().map(Into::into).collect(),
            sort: SortRange::All,
            order: Order::Descending,
            limit,
            start: None,
            projection: Vec::new(),
        }
    }

    /// Reads the oldest `limit` items (by ascending sort key) of `partitions`.
    pub fn oldest<P: Into<Scalar>>(partitions: impl IntoIterator<Item = P>, limit: usize) -> Self {
        Self { order: Order::Ascending, ..Self::newest(partitions, limit) }
    }

    /// Reads this index instead of the table.
    pub fn index(mut self, name: impl Into<String>) -> Self {
        self.index = Some(name.into());
        self
    }

    pub fn sort(mut self, range: SortRange) -> Self {
        self.sort = range;
        self
    }

    /// Starts after the end of another page, or at the beginning for `None`.
    pub fn after(mut self, position: impl Into<Option<Position>>) -> Self {
        self.start = position.into();
        self
    }
}
