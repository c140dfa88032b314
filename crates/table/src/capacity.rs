//! DynamoDB's capacity arithmetic: the cost of an operation there, whichever backend runs it.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use crate::{IndexDefinition, IndexProjection, Invalid, Item, TableDefinition};

const READ_UNIT_BYTES: usize = 4 * 1024;
const WRITE_UNIT_BYTES: usize = 1024;

/// Consumed capacity, reads in half units: an eventually consistent read of 4 KB costs one half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    pub read_halves: u64,
    pub write_units: u64,
}

/// The cost of a write, in the table and in the indexes it touches. In a transaction the table's part
/// doubles; the indexes' part does not, because indexes are updated after the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteCost {
    table: Capacity,
    indexes: Capacity,
}

impl WriteCost {
    /// Returns the cost of changing an item from `old` to `new`.
    pub fn change(
        definition: &TableDefinition,
        old: Option<&Item>,
        new: Option<&Item>,
    ) -> Result<Self, Invalid> {
        let indexes = definition.indexes.iter();
        let each = indexes.map(|index| Capacity::index_change(definition, index, old, new));
        let bytes = old.map_or(0, Item::size).max(new.map_or(0, Item::size));
        Ok(Self { table: Capacity::write(bytes), indexes: each.sum::<Result<_, Invalid>>()? })
    }

    /// Returns the cost of checking an item of `bytes` without writing it.
    pub fn check(bytes: usize) -> Self {
        Self { table: Capacity::write(bytes), indexes: Capacity::ZERO }
    }

    /// Returns the cost outside a transaction.
    pub fn standalone(self) -> Capacity {
        self.table + self.indexes
    }

    /// Returns the cost within a transaction.
    pub fn in_transaction(self) -> Capacity {
        self.table + self.table + self.indexes
    }
}

/// The consistency of a read, which decides its price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMode {
    Eventual,
    Strong,
    Transactional,
}

impl ReadMode {
    pub const fn of(strong: bool) -> Self {
        if strong { Self::Strong } else { Self::Eventual }
    }

    const fn halves(self) -> u64 {
        match self {
            Self::Eventual => 1,
            Self::Strong => 2,
            Self::Transactional => 4,
        }
    }
}

impl Capacity {
    pub const ZERO: Self = Self { read_halves: 0, write_units: 0 };

    /// Read units, as DynamoDB reports them.
    #[expect(clippy::cast_precision_loss, reason = "units stay far below 2^52")]
    pub fn read_units(self) -> f64 {
        self.read_halves as f64 / 2.0
    }

    /// Returns the cost of reading `bytes` at once: a get of one item, or a page of a query (which
    /// rounds up once, over all items read). A read that finds nothing costs one step.
    pub fn read(bytes: usize, mode: ReadMode) -> Self {
        let steps = bytes.div_ceil(READ_UNIT_BYTES).max(1) as u64;
        Self { read_halves: steps * mode.halves(), write_units: 0 }
    }

    /// Returns the cost of writing an item of `bytes` (the larger of before and after).
    pub fn write(bytes: usize) -> Self {
        Self { read_halves: 0, write_units: bytes.div_ceil(WRITE_UNIT_BYTES).max(1) as u64 }
    }

    /// A moved index entry costs a delete and a put; one whose projection did not change costs nothing.
    fn index_change(
        definition: &TableDefinition,
        index: &IndexDefinition,
        old: Option<&Item>,
        new: Option<&Item>,
    ) -> Result<Self, Invalid> {
        let old = old.map(|item| entry(definition, index, item)).transpose()?.flatten();
        let new = new.map(|item| entry(definition, index, item)).transpose()?.flatten();
        Ok(match (old, new) {
            (None, None) => Self::ZERO,
            (Some(removed), None) => Self::write(removed.1.size()),
            (None, Some(added)) => Self::write(added.1.size()),
            (Some(removed), Some(added)) if removed.0 != added.0 => {
                Self::write(removed.1.size()) + Self::write(added.1.size())
            }
            (Some(before), Some(after)) if before.1 == after.1 => Self::ZERO,
            (Some(before), Some(after)) => Self::write(before.1.size().max(after.1.size())),
        })
    }
}

fn entry(
    definition: &TableDefinition,
    index: &IndexDefinition,
    item: &Item,
) -> Result<Option<(crate::Key, Item)>, Invalid> {
    let Some(key) = index.key_of(item)? else {
        return Ok(None);
    };
    Ok(Some((key, project_index(definition, index, item))))
}

/// Returns the attributes of `item` that `index` projects.
pub fn project_index(definition: &TableDefinition, index: &IndexDefinition, item: &Item) -> Item {
    if index.projection == IndexProjection::All {
        return item.clone();
    }
    let names = definition.projected_attributes(index).unwrap_or_default();
    item.iter()
        .filter(|(name, _)| names.iter().any(|included| included == name))
        .map(|(name, value)| (name, value.to_value()))
        .collect()
}

impl Add for Capacity {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            read_halves: self.read_halves + other.read_halves,
            write_units: self.write_units + other.write_units,
        }
    }
}

impl AddAssign for Capacity {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Capacity {
    fn sum<I: Iterator<Item = Self>>(each: I) -> Self {
        each.fold(Self::ZERO, Add::add)
    }
}
