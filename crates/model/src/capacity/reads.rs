//! What a question costs: DynamoDB's rounding over the sizes of typical items.

use roundtable_table::{Capacity, ReadMode};

use super::rates::ReadRate;
use super::units::figure;
use super::{CapacityError, typical};
use crate::shape::{PatternOperation, PatternShape};

/// Every access pattern, in the order of the page.
pub(super) fn patterns() -> impl Iterator<Item = &'static PatternShape> + Clone {
    crate::SCHEMA.iter().flat_map(|table| table.patterns.iter().copied())
}

impl ReadRate {
    /// The read units of one call.
    pub fn units(&self) -> Result<f64, CapacityError> {
        let bytes = self.item_bytes()?;
        Ok(match self.pattern.operation {
            PatternOperation::Get | PatternOperation::BatchGet => self.keyed(bytes),
            PatternOperation::First => self.step(bytes),
            PatternOperation::Query => self.step(self.looked_at() * bytes),
            PatternOperation::Merge | PatternOperation::WalkDays => {
                f64::from(self.partitions) * self.step(self.looked_at_each() * bytes)
            }
        })
    }

    /// The size of a typical item it reads. A view saves nothing: DynamoDB charges for whole items.
    pub fn item_bytes(&self) -> Result<usize, CapacityError> {
        typical::bytes(self.pattern.entity)
    }

    /// How it reads, in words: `Query GSI1, 20 Post of 1220 B`.
    pub(super) fn how(&self) -> Result<String, CapacityError> {
        let pattern = self.pattern;
        let strong = if self.strong { " strong" } else { "" };
        let spread = match self.partitions {
            1 => String::new(),
            several => format!(" in {several} partitions"),
        };
        let found = match figure(self.found * 100.0).as_str() {
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

    /// Each key is rounded up by itself, and costs a step also where nothing is.
    fn keyed(&self, bytes: usize) -> f64 {
        let each = self.found * self.step(bytes) + (1.0 - self.found) * self.step(0);
        f64::from(self.items) * each
    }

    /// So many bytes read at once: rounded up once.
    fn step(&self, bytes: usize) -> f64 {
        Capacity::read(bytes, ReadMode::of(self.strong)).read_units()
    }

    /// How many items a full page looks at: one more than it shows, to know whether another page
    /// follows. Those a filter drops are paid for, too.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a million items at a share of a thousandth are within bounds"
    )]
    fn looked_at(&self) -> usize {
        let fitting = f64::from(self.items) + 1.0;
        let share = if self.pattern.filter.is_some() { self.found } else { 1.0 };
        (fitting / share).ceil() as usize
    }

    /// How many items a page looks at in each of its partitions. A merge on DynamoDB asks each for
    /// twice its share, because some partitions have more of the newest than others.
    fn looked_at_each(&self) -> usize {
        let items = self.looked_at();
        (2 * items).div_ceil(self.partitions as usize).clamp(1, items)
    }
}
