//! Pages of items.

use std::marker::PhantomData;

use roundtable_table::limits::MERGE_ITEMS_MAX;
use roundtable_table::{Condition, Item, Key, Merge, Order, Position, Query, SortRange, Table};

use super::partitions::DAYS_MAX;
use super::{Partitions, SortKeyRange};
use crate::cursor::hash_query;
use crate::shape::{Index, PatternShape};
use crate::{Cursor, Day, Days, Entity, EntityKey, Error, Field, KeyPart, Result};

/// The largest page. One more item is read, to know whether another page follows.
const PAGE_ITEMS_MAX: usize = MERGE_ITEMS_MAX - 1;

/// The largest result of [`Listing::all`].
const ALL_ITEMS_MAX: usize = 10_000;

/// The most days that one merge reads: enough to cross an empty year in sixteen merges, and few
/// enough that one page does not read a busy month.
const DAYS_AT_ONCE_MAX: usize = 32;

/// A query for many items. `STRONG` is whether it can be read strongly.
#[derive(Debug)]
#[must_use = "a query is run by `page`"]
pub struct Listing<'a, E, const STRONG: bool> {
    table: &'a Table,
    pattern: &'static PatternShape,
    arguments: String,
    partitions: Partitions,
    range: SortKeyRange,
    order: Order,
    limit: Option<usize>,
    after: Option<Cursor>,
    /// The start if there is no cursor.
    position: Option<Position>,
    filter: Option<Condition>,
    strong: bool,
    result: PhantomData<fn() -> E>,
}

/// A page of items as they are stored.
#[derive(Clone, Debug)]
pub struct StoredPage {
    pub items: Vec<Item>,
    /// More items may follow.
    pub has_more: bool,
}

/// A page of entities.
#[derive(Clone, Debug)]
pub struct EntityPage<E> {
    pub items: Vec<E>,
    /// The start of the next page; `None` if there is none.
    pub next: Option<Cursor>,
    query_hash: u16,
    index: Index,
}

impl<E: Entity> EntityPage<E> {
    /// Returns the cursor of one of its items: a page after it starts with the next item.
    pub fn cursor(&self, item: &E) -> Cursor {
        cursor(self.query_hash, self.index, item)
    }
}

impl<'a, E: Entity, const STRONG: bool> Listing<'a, E, STRONG> {
    #[doc(hidden)]
    pub fn new(
        table: &'a Table,
        pattern: &'static PatternShape,
        arguments: String,
        mut partitions: Partitions,
        range: SortKeyRange,
    ) -> Self {
        if let Partitions::Many(partitions) = &mut partitions {
            // A user who follows themselves appears twice, and must be read once.
            partitions.sort_unstable();
            partitions.dedup();
        }
        Self {
            table,
            pattern,
            arguments,
            partitions,
            range,
            order: if pattern.descending { Order::Descending } else { Order::Ascending },
            limit: None,
            after: None,
            position: None,
            filter: None,
            strong: pattern.strong,
            result: PhantomData,
        }
    }

    /// Sets the page size, instead of the pattern's default.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Continues after a cursor; `None` starts at the beginning.
    pub fn after(mut self, cursor: impl Into<Option<Cursor>>) -> Self {
        self.after = cursor.into();
        self
    }

    /// Starts after an item that the caller knows by its key alone. `rest` is the part of the sort
    /// key that follows the pattern's prefix. Only a query of one partition can start at a key.
    pub fn after_item(mut self, key: EntityKey<E>, rest: &impl KeyPart) -> Result<Self> {
        let index = match (self.pattern.index, &self.partitions, &self.range) {
            (Index::Main, Partitions::One(_), _) => None,
            (_, Partitions::One(partition), SortKeyRange::Begins(prefix)) => {
                let mut sort = prefix.clone();
                rest.write_part(&mut sort);
                Some(Key::new(partition.as_str(), sort))
            }
            _ => {
                let reason = "a key is no position in this query";
                return Err(Error::InvalidCursor { pattern: self.pattern.name, reason });
            }
        };
        self.position = Some(Position { base: key.into_key(), index });
        Ok(self)
    }

    /// Sets the order, instead of the pattern's default.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Returns only items for which `condition` holds. Pages are still full.
    pub fn filter(mut self, condition: Condition) -> Self {
        self.filter = Some(match self.filter.take() {
            Some(earlier) => earlier.and(condition),
            None => condition,
        });
        self
    }

    /// Returns only items whose `field` equals `value`. Pages are still full.
    pub fn filter_by<T: crate::Attribute, const KEYED: bool>(
        self,
        field: Field<E, T, KEYED>,
        value: &T,
    ) -> Self {
        self.filter(field.is(value))
    }

    /// Reads the page, which is full unless the result ends.
    pub async fn page(self) -> Result<EntityPage<E>> {
        let wanted = self.limit.unwrap_or(self.pattern.page);
        if wanted == 0 || wanted > PAGE_ITEMS_MAX {
            let (pattern, max) = (self.pattern.name, PAGE_ITEMS_MAX);
            return Err(Error::InvalidLimit { pattern, limit: wanted, max });
        }
        let query_hash = self.query_hash();
        let start = self.start(query_hash)?;
        let found = self.read(start, wanted + 1).await?.items;
        let items = found.iter().take(wanted).map(E::from_item).collect::<Result<Vec<E>>>()?;
        let more = found.len() > wanted;
        let next = items.last().filter(|_| more);
        let next = next.map(|last| cursor(query_hash, self.pattern.index, last));
        Ok(EntityPage { items, next, query_hash, index: self.pattern.index })
    }

    /// Reads all items. It is meant for short results, such as a user's devices; a result of more
    /// than 10,000 items is an error.
    pub async fn all(self) -> Result<Vec<E>> {
        let start = self.start(self.query_hash())?;
        let found = self.read(start, ALL_ITEMS_MAX + 1).await?.items;
        if found.len() > ALL_ITEMS_MAX {
            let (pattern, max) = (self.pattern.name, ALL_ITEMS_MAX);
            return Err(Error::InvalidLimit { pattern, limit: found.len(), max });
        }
        found.iter().map(E::from_item).collect()
    }

    /// Reads a page without decoding its items, for callers that need one attribute of each. The
    /// page is full unless the result ends.
    pub async fn stored(self) -> Result<StoredPage> {
        let start = self.start(self.query_hash())?;
        self.read(start, self.limit.unwrap_or(self.pattern.page)).await
    }

    /// Returns the hash that binds cursors to this query. Lists of partitions, shards and days are
    /// not part of it: followees and the current day may change from page to page.
    fn query_hash(&self) -> u16 {
        let Self { pattern, arguments, range, order, filter, .. } = self;
        hash_query(&format!("{}\n{arguments}\n{range:?}\n{order:?}\n{filter:?}", pattern.name))
    }

    fn start(&self, query_hash: u16) -> Result<Option<Position>> {
        let Some(cursor) = &self.after else { return Ok(self.position.clone()) };
        let indexed = self.pattern.index != Index::Main;
        if cursor.query_hash != query_hash || cursor.position.index.is_some() != indexed {
            let reason = "it was made for another query";
            return Err(Error::InvalidCursor { pattern: self.pattern.name, reason });
        }
        Ok(Some(cursor.position.clone()))
    }

    /// Reads up to `wanted` items that pass the filter, from `start` on.
    async fn read(&self, start: Option<Position>, wanted: usize) -> Result<StoredPage> {
        let mut items = Vec::new();
        let Some(range) = self.range.condition() else {
            return Ok(StoredPage { items, has_more: false });
        };
        let has_more = match &self.partitions {
            Partitions::One(partition) => {
                self.query(partition, range, start, wanted, &mut items).await?
            }
            Partitions::Many(partitions) => {
                self.merge(partitions, &range, start, wanted, &mut items).await?
            }
            Partitions::Days { days, of } => {
                self.walk_days(*days, of, &range, start, wanted, &mut items).await?
            }
        };
        Ok(StoredPage { items, has_more })
    }

    /// Appends items of one partition, and returns whether more may follow.
    async fn query(
        &self,
        partition: &str,
        range: SortRange,
        mut start: Option<Position>,
        wanted: usize,
        found: &mut Vec<Item>,
    ) -> Result<bool> {
        let table = self.table.for_pattern(self.pattern.name);
        // A filter drops some of the items; each further query reads twice as many.
        let mut batch = wanted;
        loop {
            let missing = wanted - found.len();
            let query = Query {
                index: self.pattern.index.name().map(str::to_owned),
                sort: range.clone(),
                order: self.order,
                limit: Some(batch.max(missing)),
                start: start.take(),
                filter: self.filter.clone(),
                strong: self.strong,
                ..Query::new(partition)
            };
            let page = table.query(query).await?;
            let mut items = page.items.into_iter();
            found.extend(items.by_ref().take(missing));
            start = page.next;
            if start.is_none() || found.len() >= wanted {
                return Ok(start.is_some() || items.next().is_some());
            }
            batch = batch.saturating_mul(2).min(PAGE_ITEMS_MAX);
        }
    }

    /// Appends items of several partitions, and returns whether more may follow.
    async fn merge(
        &self,
        partitions: &[String],
        range: &SortRange,
        mut start: Option<Position>,
        wanted: usize,
        found: &mut Vec<Item>,
    ) -> Result<bool> {
        if partitions.is_empty() {
            return Ok(false);
        }
        let table = self.table.for_pattern(self.pattern.name);
        let mut batch = wanted;
        loop {
            let missing = wanted - found.len();
            let limit = batch.max(missing).min(MERGE_ITEMS_MAX);
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
            let mut items = page.items.into_iter().filter(fits);
            found.extend(items.by_ref().take(missing));
            start = page.next;
            if start.is_none() || found.len() >= wanted {
                return Ok(start.is_some() || items.next().is_some());
            }
            batch = batch.saturating_mul(2);
        }
    }

    /// Merges runs of days, doubling their length: sort keys begin with the time, so the newest
    /// items of several days are the newest of all.
    async fn walk_days(
        &self,
        days: Days,
        of: &(dyn Fn(Day) -> Vec<String> + Send + Sync),
        range: &SortRange,
        start: Option<Position>,
        wanted: usize,
        found: &mut Vec<Item>,
    ) -> Result<bool> {
        let count = days.iter().take(DAYS_MAX + 1).count();
        if count > DAYS_MAX {
            let (pattern, max) = (self.pattern.name, DAYS_MAX);
            return Err(Error::TooManyDays { pattern, max });
        }
        let mut remaining: Vec<Day> = days.into_iter().collect();
        if self.order == Order::Ascending {
            remaining.reverse();
        }
        // The cursor's day may no longer be among the requested days, which shift at midnight.
        if let Some(position) = &start {
            let reason = "it contains no day";
            let reached = self.day_of(position);
            let reached =
                reached.ok_or(Error::InvalidCursor { pattern: self.pattern.name, reason })?;
            remaining.retain(|day| match self.order {
                Order::Descending => *day <= reached,
                Order::Ascending => *day >= reached,
            });
        }
        let mut remaining = remaining.as_slice();
        let (mut start, mut at_once, mut has_more) = (start, 1, false);
        while !remaining.is_empty() && found.len() < wanted {
            let (run, rest) = remaining.split_at(at_once.min(remaining.len()));
            let partitions: Vec<String> = run.iter().flat_map(|day| of(*day)).collect();
            has_more = self.merge(&partitions, range, start.take(), wanted, found).await?;
            remaining = rest;
            at_once = (at_once * 2).min(DAYS_AT_ONCE_MAX);
        }
        Ok(has_more || !remaining.is_empty())
    }

    /// Returns the day in the partition key of a position.
    fn day_of(&self, position: &Position) -> Option<Day> {
        let days = self.pattern.arguments.iter().find(|argument| argument.kind == "Days")?;
        let partition = &position.index.as_ref().unwrap_or(&position.base).partition;
        self.pattern.partition.part_in(partition.as_text()?, days.name)?.parse().ok()
    }
}

impl<E: Entity> Listing<'_, E, true> {
    /// Makes the read strong: it sees every write acknowledged before.
    pub fn strong(mut self) -> Self {
        self.strong = true;
        self
    }
}

fn cursor<E: Entity>(query_hash: u16, index: Index, item: &E) -> Cursor {
    let keys = item.index_keys();
    let at = Index::SECONDARY.iter().position(|secondary| *secondary == index);
    let key = at.and_then(|at| keys.into_iter().nth(at).flatten());
    let index = key.map(|(partition, sort)| Key::new(partition, sort));
    let position = Position { base: item.key().into_key(), index };
    Cursor { query_hash, position, note: None }
}
