//! Merges several listings by time, mostly of one user's partition. Sort keys have the type before the
//! time, so each kind needs its own query, and the pages are merged here.

use futures::future::try_join_all;
use roundtable_table::{Item, Order, Position, Query, Scalar, SortRange};

use crate::cursor::hash_query;
use crate::entities::User;
use crate::shape::PatternShape;
use crate::{Core, Cursor, Error, KeyPart, Result, Time, UserId};

const PAGE_ITEMS_MAX: usize = 100;

/// Sorts above every part that can follow a prefix: those are times, ids and digits.
const ABOVE: &str = "~";

/// A query for entities of several kinds.
#[derive(Debug)]
#[must_use = "a query is run by `page`"]
pub struct MergedListing<'a, T> {
    core: &'a Core,
    name: &'static str,
    /// Decodes an item of any of the kinds.
    entry: fn(&Item) -> Result<T>,
    sources: Vec<MergeSource>,
    order: Order,
    limit: usize,
    after: Option<Cursor>,
}

#[derive(Clone, Debug)]
pub struct MergedPage<T> {
    /// The entities, each with a cursor that continues after it.
    pub entries: Vec<(T, Cursor)>,
    /// The start of the next page; `None` if there is none.
    pub next: Option<Cursor>,
}

/// The listing of one kind, with its partition and the prefix of its sort keys.
#[derive(Clone, Debug)]
struct MergeSource {
    pattern: &'static PatternShape,
    partition: String,
    prefix: &'static str,
}

/// An item, with its position among all kinds.
struct MergeItem {
    time: String,
    source: usize,
    sort: String,
    position: Position,
    item: Item,
}

impl<'a, T> MergedListing<'a, T> {
    /// Returns a query for a user with those patterns of a composite that are `wanted`.
    pub(super) fn new(
        core: &'a Core,
        name: &'static str,
        user: &UserId,
        wanted: impl Fn(&PatternShape) -> bool,
        entry: fn(&Item) -> Result<T>,
    ) -> Self {
        let partition = |pattern: &PatternShape| wanted(pattern).then(|| User::partition(user));
        Self::across(core, name, partition, entry)
    }

    /// Returns a query for those patterns of a composite that have a partition.
    pub(super) fn across(
        core: &'a Core,
        name: &'static str,
        partition: impl Fn(&PatternShape) -> Option<String>,
        entry: fn(&Item) -> Result<T>,
    ) -> Self {
        let composites = Core::SHAPE.composites.iter();
        let names = composites.filter(|composite| composite.name == name);
        let patterns = names.flat_map(|composite| composite.of);
        let sources = patterns.filter_map(|name| {
            let pattern = Core::SHAPE.pattern(name)?;
            let prefix = pattern.sort.template()?.prefix();
            Some(MergeSource { pattern, partition: partition(pattern)?, prefix })
        });
        Self {
            core,
            name,
            entry,
            sources: sources.collect(),
            order: Order::Descending,
            limit: crate::shape::PAGE_ITEMS_DEFAULT,
            after: None,
        }
    }

    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Continues after a cursor; `None` starts at the beginning.
    pub fn after(mut self, cursor: impl Into<Option<Cursor>>) -> Self {
        self.after = cursor.into();
        self
    }

    /// Sets the order, instead of newest first.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Reads the page, which is full unless the list ends.
    pub async fn page(self) -> Result<MergedPage<T>> {
        if self.limit == 0 || self.limit > PAGE_ITEMS_MAX {
            let (pattern, max) = (self.name, PAGE_ITEMS_MAX);
            return Err(Error::InvalidLimit { pattern, limit: self.limit, max });
        }
        let query_hash = self.query_hash();
        let after =
            self.after.as_ref().map(|cursor| self.position_of(query_hash, cursor)).transpose()?;
        let reads = (0..self.sources.len()).map(|source| self.read(source, after.as_ref()));
        let mut found: Vec<MergeItem> = try_join_all(reads).await?.into_iter().flatten().collect();
        found.sort_by(|a, b| {
            let ordering = (&a.time, a.source, &a.sort).cmp(&(&b.time, b.source, &b.sort));
            if self.order == Order::Descending { ordering.reverse() } else { ordering }
        });
        let more = found.len() > self.limit;
        let each = found.into_iter().take(self.limit).map(|found| {
            let cursor = Cursor { query_hash, position: found.position, note: None };
            Ok(((self.entry)(&found.item)?, cursor))
        });
        let entries = each.collect::<Result<Vec<_>>>()?;
        let next = entries.last().filter(|_| more).map(|(_, cursor)| cursor.clone());
        Ok(MergedPage { entries, next })
    }

    /// Reads one item more than a page of one kind, from the end of the previous page.
    async fn read(&self, at: usize, after: Option<&MergePosition>) -> Result<Vec<MergeItem>> {
        let Some(MergeSource { pattern, partition, prefix }) = self.sources.get(at) else {
            return Ok(Vec::new());
        };
        let table = self.core.table().for_pattern(pattern.name);
        let mut query = Query {
            index: pattern.index.name().map(str::to_owned),
            order: self.order,
            sort: SortRange::BeginsWith((*prefix).into()),
            ..Query::new(partition.as_str())
        };
        match after {
            Some(end) if end.source == at => query.start = Some(end.position.clone()),
            Some(end) => match self.rest(prefix, at, end) {
                Some(rest) => query.sort = rest,
                None => return Ok(Vec::new()),
            },
            None => {}
        }
        let mut found = Vec::new();
        let wanted = self.limit + 1;
        loop {
            query.limit = Some(wanted - found.len());
            let page = table.query(query.clone()).await?;
            found.extend(page.items.into_iter().filter_map(|item| self.merge_item(at, item)));
            query.start = page.next;
            if query.start.is_none() || found.len() >= wanted {
                return Ok(found);
            }
        }
    }

    /// Returns the sort keys of another kind after a position: equal times are ordered by kind.
    /// `None` if there can be none.
    fn rest(&self, prefix: &str, at: usize, end: &MergePosition) -> Option<SortRange> {
        let key = |time: Time, suffix: &str| {
            let mut key = prefix.to_owned();
            time.write_part(&mut key);
            key + suffix
        };
        let (from, to) = match (self.order, at < end.source) {
            (Order::Descending, true) => (prefix.to_owned(), key(end.time, ABOVE)),
            (Order::Descending, false) if end.time == Time::EPOCH => return None,
            (Order::Descending, false) => (prefix.to_owned(), key(end.time.minus_ms(1), ABOVE)),
            (Order::Ascending, true) if end.time == Time::MAX => return None,
            (Order::Ascending, true) => (key(end.time.plus_ms(1), ""), format!("{prefix}{ABOVE}")),
            (Order::Ascending, false) => (key(end.time, ""), format!("{prefix}{ABOVE}")),
        };
        Some(SortRange::Between(from.into(), to.into()))
    }

    fn merge_item(&self, source: usize, item: Item) -> Option<MergeItem> {
        let MergeSource { pattern, prefix, .. } = self.sources.get(source)?;
        let definition = self.core.table().definition();
        let position = Position::of(definition, pattern.index.name(), &item)?;
        let sort = item.text(pattern.index.sort_attribute())?.to_owned();
        let time = time_in(&sort, prefix)?.to_owned();
        Some(MergeItem { time, source, sort, position, item })
    }

    fn query_hash(&self) -> u16 {
        let kinds = self.sources.iter().map(|source| (&*source.partition, source.prefix));
        let kinds: Vec<(&str, &str)> = kinds.collect();
        let (name, order) = (self.name, self.order);
        hash_query(&format!("{name}\n{kinds:?}\n{order:?}"))
    }

    fn position_of(&self, query_hash: u16, cursor: &Cursor) -> Result<MergePosition> {
        let refuse = |reason| Error::InvalidCursor { pattern: self.name, reason };
        if cursor.query_hash != query_hash {
            return Err(refuse("it was made for another query"));
        }
        let key = cursor.position.index.as_ref().unwrap_or(&cursor.position.base);
        let (partition, sort) = (key.partition.as_text(), key.sort.as_ref());
        let position = sort.and_then(Scalar::as_text).and_then(|sort| {
            let is_source = |source: &MergeSource| {
                partition == Some(&*source.partition) && sort.starts_with(source.prefix)
            };
            let source = self.sources.iter().position(is_source)?;
            let time = time_in(sort, self.sources.get(source)?.prefix)?.parse().ok()?;
            Some(MergePosition { time, source, position: cursor.position.clone() })
        });
        position.ok_or_else(|| refuse("it contains no position in this list"))
    }
}

/// The end of a page.
struct MergePosition {
    time: Time,
    source: usize,
    position: Position,
}

/// Returns the time that follows the prefix of a sort key.
fn time_in<'a>(sort: &'a str, prefix: &str) -> Option<&'a str> {
    sort.strip_prefix(prefix)?.split('#').next()
}
