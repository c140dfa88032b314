//! The operations of a table, as plain data: what a caller asks, before any backend sees it.

use std::sync::Arc;

use crate::update::Action;
use crate::{Condition, Item, Key, Path, Position, Scalar, TableDefinition, Term, Value};

/// Which image a write returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Returning {
    /// None.
    #[default]
    Nothing,
    /// The item as it was before; also on a failed condition.
    Old,
    /// The item as it is after.
    New,
}

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

/// Writes a whole item, replacing what was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put {
    /// The item.
    pub item: Item,
    /// What must hold for the item that was there.
    pub condition: Option<Condition>,
    /// Which image to return.
    pub returning: Returning,
}

/// Changes parts of an item, making it if it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Which item.
    pub key: Key,
    /// What to do to it.
    pub actions: Vec<Action>,
    /// What must hold for the item that was there.
    pub condition: Option<Condition>,
    /// Which image to return.
    pub returning: Returning,
}

/// Takes an item away; nothing happens if it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delete {
    /// Which item.
    pub key: Key,
    /// What must hold for the item that was there.
    pub condition: Option<Condition>,
    /// Which image to return.
    pub returning: Returning,
}

/// Demands something of an item that a transaction does not write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Which item.
    pub key: Key,
    /// What must hold.
    pub condition: Condition,
    /// Whether a failure returns the item.
    pub returning: Returning,
}

macro_rules! conditional {
    ($($operation:ident)*) => {$(
        impl $operation {
            /// Only if `condition` holds, together with any given before.
            pub fn when(mut self, condition: Condition) -> Self {
                self.condition = Some(match self.condition.take() {
                    Some(earlier) => earlier.and(condition),
                    None => condition,
                });
                self
            }

            /// Returns this image.
            pub fn returning(mut self, returning: Returning) -> Self {
                self.returning = returning;
                self
            }
        }
    )*};
}

conditional! { Put Update Delete }

impl Put {
    /// Puts `item`.
    pub fn new(item: impl Into<Item>) -> Self {
        Self { item: item.into(), condition: None, returning: Returning::Nothing }
    }
}

impl Delete {
    /// Deletes the item at `key`.
    pub fn new(key: impl Into<Key>) -> Self {
        Self { key: key.into(), condition: None, returning: Returning::Nothing }
    }
}

impl Check {
    /// Demands `condition` of the item at `key`.
    pub fn new(key: impl Into<Key>, condition: Condition) -> Self {
        Self { key: key.into(), condition, returning: Returning::Nothing }
    }

    /// Returns the item when the condition fails.
    pub fn returning(mut self, returning: Returning) -> Self {
        self.returning = returning;
        self
    }
}

impl Update {
    /// Updates the item at `key`.
    pub fn new(key: impl Into<Key>) -> Self {
        let key = key.into();
        Self { key, actions: Vec::new(), condition: None, returning: Returning::Nothing }
    }

    /// Puts `term` at `path`.
    pub fn set(mut self, path: impl Into<Path>, term: impl Into<Term>) -> Self {
        self.actions.push(Action::Set(path.into(), term.into()));
        self
    }

    /// Takes away what is at `path`.
    pub fn remove(mut self, path: impl Into<Path>) -> Self {
        self.actions.push(Action::Remove(path.into()));
        self
    }

    /// Adds to a number, or members to a set.
    pub fn add(mut self, path: impl Into<Path>, value: impl Into<Value>) -> Self {
        self.actions.push(Action::Add(path.into(), value.into()));
        self
    }

    /// Takes members out of a set.
    pub fn subtract(mut self, path: impl Into<Path>, value: impl Into<Value>) -> Self {
        self.actions.push(Action::Subtract(path.into(), value.into()));
        self
    }
}

/// One write of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each wraps the operation of its name")]
pub enum Write {
    Put(Put),
    Update(Update),
    Delete(Delete),
    Check(Check),
}

impl Write {
    /// The key it touches; `None` for a put whose item lacks key attributes.
    pub fn key(&self, definition: &TableDefinition) -> Option<Key> {
        match self {
            Self::Put(put) => definition.key.read(&put.item),
            Self::Update(update) => Some(update.key.clone()),
            Self::Delete(delete) => Some(delete.key.clone()),
            Self::Check(check) => Some(check.key.clone()),
        }
    }

    /// What it demands of the item that was there.
    pub const fn condition(&self) -> Option<&Condition> {
        match self {
            Self::Put(put) => put.condition.as_ref(),
            Self::Update(update) => update.condition.as_ref(),
            Self::Delete(delete) => delete.condition.as_ref(),
            Self::Check(check) => Some(&check.condition),
        }
    }

    /// Which image it returns.
    pub const fn returning(&self) -> Returning {
        match self {
            Self::Put(put) => put.returning,
            Self::Update(update) => update.returning,
            Self::Delete(delete) => delete.returning,
            Self::Check(check) => check.returning,
        }
    }
}

macro_rules! into_write {
    ($($operation:ident)*) => {$(
        impl From<$operation> for Write {
            fn from(operation: $operation) -> Self {
                Self::$operation(operation)
            }
        }
    )*};
}

into_write! { Put Update Delete Check }

/// A write and the table it goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableWrite {
    /// The table.
    pub table: Arc<TableDefinition>,
    /// The write.
    pub write: Write,
}

/// A read and the table it goes to.
#[derive(Clone, Debug)]
pub struct TableGet {
    /// The table.
    pub table: Arc<TableDefinition>,
    /// The read.
    pub get: Get,
}

/// Writes that happen together or not at all.
#[derive(Clone, Debug, Default)]
pub struct Transaction {
    /// The writes, each of another item.
    pub writes: Vec<TableWrite>,
    /// Makes a repetition within ten minutes a success without effect.
    pub token: Option<String>,
}

impl Transaction {
    /// A transaction without writes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// This transaction with one more write.
    pub fn with(mut self, table: &crate::Table, write: impl Into<Write>) -> Self {
        self.writes.push(TableWrite { table: Arc::clone(table.definition()), write: write.into() });
        self
    }

    /// This transaction under a token: a repetition within ten minutes has no further effect.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }
}

/// A put or delete of a batch, without condition.
#[derive(Clone, Debug)]
pub enum BatchWrite {
    /// Writes an item.
    Put(Item),
    /// Takes an item away.
    Delete(Key),
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
