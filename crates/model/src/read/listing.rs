//! Pages of items.

use std::marker::PhantomData;

use roundtable_table::limits::MERGE_ITEMS_MAX;
use roundtable_table::{Condition, Item, Key, Merge, Order, Position, Query, SortRange, Table};

use super::partitions::DAYS_MAX;
use super::{Partitions, Range};
use crate::part::stable_hash;
use crate::shape::{Index, PatternShape, Segment};
use crate::{Cursor, Day, Days, Entity, Error, Field, Result};

/// The largest page. One item more is read, to know whether another page follows.
const PAGE_ITEMS_MAX: usize = MERGE_ITEMS_MAX - 1;

/// The longest answer that is read in one go.
const ALL_ITEMS_MAX: usize = 10_000;

/// How many days at the most are read at once while walking: enough to cross an empty year in sixteen
/// rounds, and few enough that a busy month is not opened for one page.
const DAYS_AT_ONCE_MAX: usize = 32;

/// A question about many items. `STRONG` tells whether it can be read strongly.
#[derive(Debug)]
#[must_use = "a question is asked by `page`"]
pub struct Listing<'a, E, const STRONG: bool> {
    table: &'a Table,
    pattern: &'static PatternShape,
    asked: String,
    partitions: Partitions,
    range: Range,
    order: Order,
    limit: Option<usize>,
    after: Option<Cursor>,
    filter: Option<Condition>,
    strong: bool,
    answer: PhantomData<fn() -> E>,
}

/// A page of an answer.
#[derive(Clone, Debug)]
pub struct Page<E> {
    /// The items.
    pub items: Vec<E>,
    /// Where the next page starts; `None` when there is none.
    pub next: Option<Cursor>,
    question: u64,
    index: Index,
}

impl<E: Entity> Page<E> {
    /// The cursor of one of its items: a page after it starts with the next one.
    pub fn cursor(&self, item: &E) -> Cursor {
        cursor(self.question, self.index, item)
    }
}

impl<'a, E: Entity, const STRONG: bool> Listing<'a, E, STRONG> {
    #[doc(hidden)]
    pub fn new(
        table: &'a Table,
        pattern: &'static PatternShape,
        asked: String,
        mut partitions: Partitions,
        range: Range,
    ) -> Self {
        if let Partitions::Many(partitions) = &mut partitions {
            // Whoever follows themselves is asked for twice, and read once.
            partitions.sort_unstable();
            partitions.dedup();
        }
        Self {
            table,
            pattern,
            asked,
            partitions,
            range,
            order: if pattern.descending { Order::Descending } else { Order::Ascending },
            limit: None,
            after: None,
            filter: None,
            strong: pattern.strong,
            answer: PhantomData,
        }
    }

    /// At most so many items, instead of the page's default.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// What follows a cursor; `None` starts at the beginning.
    pub fn after(mut self, cursor: impl Into<Option<Cursor>>) -> Self {
        self.after = cursor.into();
        self
    }

    /// In this order, instead of the page's.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Only items for which `condition` holds. Pages are filled nevertheless.
    pub fn only(mut self, condition: Condition) -> Self {
        self.filter = Some(match self.filter.take() {
            Some(earlier) => earlier.and(condition),
            None => condition,
        });
        self
    }

    /// Only items whose `field` is `value`. Pages are filled nevertheless.
    pub fn with<T: crate::Attribute, const KEYED: bool>(
        self,
        field: Field<E, T, KEYED>,
        value: &T,
    ) -> Self {
        self.only(field.is(value))
    }

    /// Reads the page: full, unless the answer ends.
    pub async fn page(self) -> Result<Page<E>> {
        let wanted = self.limit.unwrap_or(self.pattern.page);
        if wanted == 0 || wanted > PAGE_ITEMS_MAX {
            let (pattern, max) = (self.pattern.name, PAGE_ITEMS_MAX);
            return Err(Error::BadLimit { pattern, limit: wanted, max });
        }
        let question = self.question();
        let start = self.start(question)?;
        let found = match self.range.condition() {
            Some(range) => self.read(range, start, wanted + 1).await?,
            None => Vec::new(),
        };
        let items = found.iter().take(wanted).map(E::from_item).collect::<Result<Vec<E>>>()?;
        let more = found.len() > wanted;
        let next = items.last().filter(|_| more);
        let next = next.map(|last| cursor(question, self.pattern.index, last));
        Ok(Page { items, next, question, index: self.pattern.index })
    }

    /// Everything, page by page; for answers known to be short, such as a person's devices. One that
    /// is not is refused.
    pub async fn all(self) -> Result<Vec<E>> {
        let Some(range) = self.range.condition() else { return Ok(Vec::new()) };
        let start = self.start(self.question())?;
        let found = self.read(range, start, ALL_ITEMS_MAX + 1).await?;
        if found.len() > ALL_ITEMS_MAX {
            let (pattern, max) = (self.pattern.name, ALL_ITEMS_MAX);
            return Err(Error::BadLimit { pattern, limit: found.len(), max });
        }
        found.iter().map(E::from_item).collect()
    }

    /// What the cursors of this question carry. Lists of partitions, shards and days are not part of
    /// it: whom somebody follows, and what day it is, may change from page to page.
    fn question(&self) -> u64 {
        let Self { pattern, asked, range, order, filter, .. } = self;
        stable_hash(&format!("{}\n{asked}\n{range:?}\n{order:?}\n{filter:?}", pattern.name))
    }

    fn start(&self, question: u64) -> Result<Option<Position>> {
        let Some(cursor) = &self.after else { return Ok(None) };
        let indexed = self.pattern.index != Index::Main;
        if cursor.question != question || cursor.position.index.is_some() != indexed {
            let reason = "it was made for another question";
            return Err(Error::BadCursor { pattern: self.pattern.name, reason });
        }
        Ok(Some(cursor.position.clone()))
    }

    /// Up to `wanted` items that fit, from `start` on.
    async fn read(
        &self,
        range: SortRange,
        start: Option<Position>,
        wanted: usize,
    ) -> Result<Vec<Item>> {
        let mut found = Vec::new();
        match &self.partitions {
            Partitions::One(partition) => {
                self.query(partition, range, start, wanted, &mut found).await?;
            }
            Partitions::Many(partitions) => {
                self.merge(partitions, &range, start, wanted, &mut found).await?;
            }
            Partitions::Days { days, of } => {
                self.walk(*days, of, &range, start, wanted, &mut found).await?;
            }
        }
        Ok(found)
    }

    async fn query(
        &self,
        partition: &str,
        range: SortRange,
        mut start: Option<Position>,
        wanted: usize,
        found: &mut Vec<Item>,
    ) -> Result<()> {
        let table = self.table.for_pattern(self.pattern.name);
        // With a filter, some of what is looked at falls away; each round looks at twice as much.
        let mut looked = wanted;
        loop {
            let missing = wanted - found.len();
            let query = Query {
                index: self.pattern.index.name().map(str::to_owned),
                sort: range.clone(),
                order: self.order,
                limit: Some(looked.max(missing)),
                start: start.take(),
                filter: self.filter.clone(),
                strong: self.strong,
                ..Query::new(partition)
            };
            let page = table.query(query).await?;
            found.extend(page.items.into_iter().take(missing));
            start = page.next;
            if start.is_none() || found.len() >= wanted {
                return Ok(());
            }
            looked = looked.saturating_mul(2).min(PAGE_ITEMS_MAX);
        }
    }

    async fn merge(
        &self,
        partitions: &[String],
        range: &SortRange,
        mut start: Option<Position>,
        wanted: usize,
        found: &mut Vec<Item>,
    ) -> Result<()> {
        if partitions.is_empty() {
            return Ok(());
        }
        let table = self.table.for_pattern(self.pattern.name);
        let mut looked = wanted;
        loop {
            let missing = wanted - found.len();
            let limit = looked.max(missing).min(MERGE_ITEMS_MAX);
            let merge = Merge {
                index: self.pattern.index.name().map(str::to_owned),
                sort: range.clone(),
                order: self.order,
                start: start.take(),
                ..Merge::newest(partitions.iter().map(String::as_str), limit)
            };
            let page = table.merge(merge).await?;
            let fits =
                |item: &Item| self.filter.as_ref().is_none_or(|filter| filter.holds(Some(item)));
            found.extend(page.items.into_iter().filter(fits).take(missing));
            start = page.next;
            if start.is_none() || found.len() >= wanted {
                return Ok(());
            }
            looked = looked.saturating_mul(2);
        }
    }

    /// Merges the days in runs that double: sort keys begin with the time, so the newest of several
    /// days are the newest of all.
    async fn walk(
        &self,
        days: Days,
        of: &(dyn Fn(Day) -> Vec<String> + Send + Sync),
        range: &SortRange,
        start: Option<Position>,
        wanted: usize,
        found: &mut Vec<Item>,
    ) -> Result<()> {
        let count = days.iter().take(DAYS_MAX + 1).count();
        if count > DAYS_MAX {
            let (pattern, max) = (self.pattern.name, DAYS_MAX);
            return Err(Error::TooManyDays { pattern, max });
        }
        let mut remaining: Vec<Day> = days.into_iter().collect();
        if self.order == Order::Ascending {
            remaining.reverse();
        }
        // The cursor's day may have left the days asked for: at midnight they move on.
        if let Some(position) = &start {
            let reason = "it names no day";
            let reached = self.day_of(position);
            let reached = reached.ok_or(Error::BadCursor { pattern: self.pattern.name, reason })?;
            remaining.retain(|day| match self.order {
                Order::Descending => *day <= reached,
                Order::Ascending => *day >= reached,
            });
        }
        let mut remaining = remaining.as_slice();
        let (mut start, mut at_once) = (start, 1);
        while !remaining.is_empty() && found.len() < wanted {
            let (run, rest) = remaining.split_at(at_once.min(remaining.len()));
            let partitions: Vec<String> = run.iter().flat_map(|day| of(*day)).collect();
            self.merge(&partitions, range, start.take(), wanted, found).await?;
            remaining = rest;
            at_once = (at_once * 2).min(DAYS_AT_ONCE_MAX);
        }
        Ok(())
    }

    /// The day in the partition a position is in: it stands where the pattern has its days.
    fn day_of(&self, position: &Position) -> Option<Day> {
        let days = self.pattern.arguments.iter().find(|argument| argument.kind == "Days")?;
        let at = self.pattern.partition.segments.iter().position(
            |segment| matches!(segment, Segment::Part { name, .. } if *name == days.name),
        )?;
        let partition = &position.index.as_ref().unwrap_or(&position.base).partition;
        partition.as_text()?.split('#').nth(at)?.parse().ok()
    }
}

impl<E: Entity> Listing<'_, E, true> {
    /// Sees every write acknowledged before.
    pub fn strong(mut self) -> Self {
        self.strong = true;
        self
    }
}

fn cursor<E: Entity>(question: u64, index: Index, item: &E) -> Cursor {
    let keys = item.index_keys();
    let place = Index::SECONDARY.iter().position(|secondary| *secondary == index);
    let key = place.and_then(|place| keys.into_iter().nth(place).flatten());
    let index = key.map(|(partition, sort)| Key::new(partition, sort));
    let position = Position { base: item.key().into_key(), index };
    Cursor { question, position, note: None }
}
