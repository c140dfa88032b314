//! The reads of a table, as plain data: what a caller asks, before any backend sees it.

use std::sync::Arc;

use crate::{Condition, Key, Path, Position, Scalar, TableDefinition};

/// Reads one item.
#[derive(Clone, Debug)]
pub struct Get {
    /// Which item.
    pub key: Key,
    /// Whether to see every write acknowledged before.
    pub strong: bool,
    /// Which parts of it; empty for all.
    pub projection: Vec<Path>,
}

impl Get {
    /// Reads all of the item at `key`; on DynamoDB, possibly a moment old.
    pub fn new(key: impl Into<Key>) -> Self {
        Self { key: key.into(), strong: false, projection: Vec::new() }
    }
}

macro_rules! reading {
    ($($operation:ident)*) => {$(
        impl $operation {
            /// Sees every write acknowledged before.
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

/// Reads up to 100 items, each at its own moment.
#[derive(Clone, Debug, Default)]
pub struct BatchGet {
    /// Which items, each once.
    pub keys: Vec<Key>,
    /// Whether to see every write acknowledged before.
    pub strong: bool,
    /// Which parts of them; empty for all.
    pub projection: Vec<Path>,
}

impl BatchGet {
    /// Reads all of the items at `keys`.
    pub fn new<K: Into<Key>>(keys: impl IntoIterator<Item = K>) -> Self {
        Self { keys: keys.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

/// A read and the table it goes to.
#[derive(Clone, Debug)]
pub struct TableGet {
    /// The table.
    pub table: Arc<TableDefinition>,
    /// The read.
    pub get: Get,
}

/// The order of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Rising sort keys.
    #[default]
    Ascending,
    /// Falling sort keys: newest first, where the key begins with a time.
    Descending,
}

/// Which sort keys of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SortRange {
    /// All of them.
    #[default]
    All,
    /// This one.
    Equal(Scalar),
    /// Those below.
    Less(Scalar),
    /// Those below, and this.
    LessOrEqual(Scalar),
    /// Those above.
    Greater(Scalar),
    /// Those above, and this.
    GreaterOrEqual(Scalar),
    /// Those between, bounds included.
    Between(Scalar, Scalar),
    /// Those that begin so.
    BeginsWith(Scalar),
}

impl SortRange {
    /// Whether `sort` lies in the range.
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

    /// The values it mentions.
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

/// Reads a page of one partition, of the table or of an index.
#[derive(Clone, Debug)]
pub struct Query {
    /// The index, or `None` for the table.
    pub index: Option<String>,
    /// The partition.
    pub partition: Scalar,
    /// Which of its sort keys.
    pub sort: SortRange,
    /// In which order.
    pub order: Order,
    /// How many items to look at; the filter comes after.
    pub limit: Option<usize>,
    /// Where the page before ended.
    pub start: Option<Position>,
    /// Which of the items looked at to return; names no key attribute.
    pub filter: Option<Condition>,
    /// Which parts of them; empty for all.
    pub projection: Vec<Path>,
    /// Whether to see every write acknowledged before.
    pub strong: bool,
}

impl Query {
    /// All of the table's partition, rising.
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

    /// In this index instead of the table.
    pub fn index(mut self, name: impl Into<String>) -> Self {
        self.index = Some(name.into());
        self
    }

    /// Only these sort keys.
    pub fn sort(mut self, range: SortRange) -> Self {
        self.sort = range;
        self
    }

    /// Only sort keys that begin so.
    pub fn begins_with(self, prefix: impl Into<Scalar>) -> Self {
        self.sort(SortRange::BeginsWith(prefix.into()))
    }

    /// Falling sort keys.
    pub fn descending(mut self) -> Self {
        self.order = Order::Descending;
        self
    }
}

/// Reads a page of a whole table or index, in no promised order of partitions.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// The index, or `None` for the table.
    pub index: Option<String>,
    /// Which segment of how many, for scans in parallel.
    pub segment: Option<(u32, u32)>,
    /// How many items to look at; the filter comes after.
    pub limit: Option<usize>,
    /// Where the page before ended.
    pub start: Option<Position>,
    /// Which of the items looked at to return.
    pub filter: Option<Condition>,
    /// Which parts of them; empty for all.
    pub projection: Vec<Path>,
    /// Whether to see every write acknowledged before.
    pub strong: bool,
}

impl Scan {
    /// The whole table.
    pub fn new() -> Self {
        Self::default()
    }

    /// An index instead of the table.
    pub fn index(mut self, name: impl Into<String>) -> Self {
        self.index = Some(name.into());
        self
    }

    /// Only segment `segment` of `total`.
    pub fn segment(mut self, segment: u32, total: u32) -> Self {
        self.segment = Some((segment, total));
        self
    }
}

macro_rules! paged {
    ($($operation:ident)*) => {$(
        impl $operation {
            /// Looks at no more than `limit` items.
            pub fn limit(mut self, limit: usize) -> Self {
                self.limit = Some(limit);
                self
            }

            /// Starts after the end of another page; `None` starts at the beginning.
            pub fn after(mut self, position: impl Into<Option<Position>>) -> Self {
                self.start = position.into();
                self
            }

            /// Returns only items for which `condition` holds.
            pub fn filter(mut self, condition: Condition) -> Self {
                self.filter = Some(condition);
                self
            }
        }
    )*};
}

paged! { Query Scan }

/// Reads the first N items, by sort key, across many partitions of the table or of an index. Equal
/// sort keys go by partition, both in the merge's order. Ours, beyond DynamoDB.
#[derive(Clone, Debug)]
pub struct Merge {
    /// The index, or `None` for the table.
    pub index: Option<String>,
    /// The partitions, each once.
    pub partitions: Vec<Scalar>,
    /// Which of their sort keys.
    pub sort: SortRange,
    /// In which order.
    pub order: Order,
    /// How many items to return.
    pub limit: usize,
    /// Where the page before ended.
    pub start: Option<Position>,
    /// Which parts of the items; empty for all.
    pub projection: Vec<Path>,
}

impl Merge {
    /// The newest `limit` items (by falling sort key) of `partitions`.
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

    /// The oldest `limit` items (by rising sort key) of `partitions`.
    pub fn oldest<P: Into<Scalar>>(partitions: impl IntoIterator<Item = P>, limit: usize) -> Self {
        Self { order: Order::Ascending, ..Self::newest(partitions, limit) }
    }

    /// In this index instead of the table.
    pub fn index(mut self, name: impl Into<String>) -> Self {
        self.index = Some(name.into());
        self
    }

    /// Only these sort keys.
    pub fn sort(mut self, range: SortRange) -> Self {
        self.sort = range;
        self
    }

    /// Starts after the end of another page; `None` starts at the beginning.
    pub fn after(mut self, position: impl Into<Option<Position>>) -> Self {
        self.start = position.into();
        self
    }
}
