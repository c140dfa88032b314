//! The cost of an access pattern: DynamoDB's rounding over the sizes of typical items.

use roundtable_model::shape::{PatternOperation, PatternShape};
use roundtable_table::{Capacity, ReadMode};

use super::rates::ReadRate;
use super::units::format_number;
use super::{CapacityError, typical};

/// Returns every access pattern, in the order of the schema.
pub(super) fn patterns() -> impl Iterator<Item = &'static PatternShape> + Clone {
    roundtable_model::SCHEMA.iter().flat_map(|table| table.patterns.iter().copied())
}

impl ReadRate {
    /// Returns the read units of one call.
    pub fn units(&self) -> Result<f64, CapacityError> {
        let bytes = self.item_bytes()?;
        Ok(match self.pattern.operation {
            PatternOperation::Get | PatternOperation::BatchGet => self.key_units(bytes),
            PatternOperation::First => self.read_units(bytes),
            PatternOperation::Query => self.read_units(self.items_read() * bytes),
            PatternOperation::Merge | PatternOperation::WalkDays => {
                f64::from(self.partitions)
                    * self.read_units(self.items_read_per_partition() * bytes)
            }
        })
    }

    /// Returns the size of a typical item. A view saves nothing: DynamoDB charges for whole items.
    pub fn item_bytes(&self) -> Result<usize, CapacityError> {
        typical::bytes(self.pattern.entity)
    }

    /// Describes the read in words: `Query GSI1, 20 Post of 1220 B`.
    pub(super) fn description(&self) -> Result<String, CapacityError> {
        let pattern = self.pattern;
        let strong = if self.strong { " strong" } else { "" };
        let spread = match self.partitions {
            1 => String::new(),
            several => format!(" in {several} partitions"),
        };
        let found = match format_number(self.found * 100.0).as_str() {
            "100" => String::new(),
            share => format!(", {share}% found"),
        };
        Ok(format!(
            "{:?} {}{strong}, {} {} of {} B{spread}{found}",
            pattern.operation,
            pattern.index,
            self.items,
            pattern.entity,
            self.item_bytes()?,
        ))
    }

    /// Returns the units of a get for each key: each is rounded up by itself, and a missing item
    /// costs, too.
    fn key_units(&self, bytes: usize) -> f64 {
        let each = self.found * self.read_units(bytes) + (1.0 - self.found) * self.read_units(0);
        f64::from(self.items) * each
    }

    /// Returns the units of one read of `bytes`, rounded up once.
    fn read_units(&self, bytes: usize) -> f64 {
        Capacity::read(bytes, ReadMode::of(self.strong)).read_units()
    }

    /// Returns the items that a full page reads: one more than it returns, to know whether another
    /// page follows, and those that a filter drops.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a million items at a share of a thousandth are within bounds"
    )]
    fn items_read(&self) -> usize {
        let wanted = f64::from(self.items) + 1.0;
        let share = if self.pattern.filter.is_some() { self.found } else { 1.0 };
        (wanted / share).ceil() as usize
    }

    /// Returns the items that a page reads from each partition. A merge on DynamoDB reads twice
    /// each partition's share, because some partitions have more of the newest items than others.
    fn items_read_per_partition(&self) -> usize {
        let items = self.items_read();
        (2 * items).div_ceil(self.partitions as usize).clamp(1, items)
    }
}
