//! Several listings of one person's partition as one, by time. Their keys put the type before the time,
//! so each kind is a query of its own, and the pages are merged here.

use futures::future::try_join_all;
use roundtable_table::{Item, Order, Position, Query, SortRange};

use crate::part::stable_hash;
use crate::shape::PatternShape;
use crate::{Core, Cursor, Error, KeyPart, Result, Time, UserId};

/// The largest page.
const PAGE_ITEMS_MAX: usize = 100;

/// Above every part that can follow a prefix: those are times, ids and digits.
const ABOVE: &str = "~";

/// A question about what is a person's, of several kinds.
#[derive(Debug)]
#[must_use = "a question is asked by `page`"]
pub struct Merged<'a, T> {
    core: &'a Core,
    name: &'static str,
    /// Reads an item of any of the kinds.
    entry: fn(&Item) -> Result<T>,
    partition: String,
    sources: Vec<Source>,
    order: Order,
    limit: usize,
    after: Option<Cursor>,
}

/// A page of several kinds.
#[derive(Clone, Debug)]
pub struct MergedPage<T> {
    /// The entities, each with the cursor that continues after it.
    pub entries: Vec<(T, Cursor)>,
    /// Where the next page starts; `None` when there is none.
    pub next: Option<Cursor>,
}

/// One kind: where it is listed, and what its sort keys begin with.
#[derive(Clone, Copy, Debug)]
struct Source {
    pattern: &'static PatternShape,
    prefix: &'static str,
}

/// An item found, with what orders it among all kinds.
struct Found {
    time: String,
    source: usize,
    sort: String,
    position: Position,
    item: Item,
}

impl<'a, T> Merged<'a, T> {
    /// What the patterns of a question of the page tell of a person, of those kinds that are `wanted`.
    pub(super) fn new(
        core: &'a Core,
        name: &'static str,
        user: &UserId,
        wanted: impl Fn(&PatternShape) -> bool,
        entry: fn(&Item) -> Result<T>,
    ) -> Self {
        let composites = Core::SHAPE.composites.iter();
        let names = composites.filter(|composite| composite.name == name);
        let patterns = names.flat_map(|composite| composite.of);
        let sources = patterns.filter_map(|name| {
            let pattern = Core::SHAPE.pattern(name)?;
            let prefix = pattern.sort.template()?.prefix();
            wanted(pattern).then_some(Source { pattern, prefix })
        });
        let mut partition = String::from("USER#");
        user.write_part(&mut partition);
        Self {
            core,
            name,
            entry,
            partition,
            sources: sources.collect(),
            order: Order::Descending,
            limit: crate::shape::PAGE,
            after: None,
        }
    }

    /// At most so many entries.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// What follows a cursor; `None` starts at the beginning.
    pub fn after(mut self, cursor: impl Into<Option<Cursor>>) -> Self {
        self.after = cursor.into();
        self
    }

    /// In this order, instead of newest first.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Reads the page: full, unless the list ends.
    pub async fn page(self) -> Result<MergedPage<T>> {
        if self.limit == 0 || self.limit > PAGE_ITEMS_MAX {
            let (pattern, max) = (self.name, PAGE_ITEMS_MAX);
            return Err(Error::BadLimit { pattern, limit: self.limit, max });
        }
        let question = self.question();
        let after = self.after.as_ref().map(|cursor| self.place(question, cursor)).transpose()?;
        let reads = (0..self.sources.len()).map(|source| self.read(source, after.as_ref()));
        let mut found: Vec<Found> = try_join_all(reads).await?.into_iter().flatten().collect();
        found.sort_by(|a, b| {
            let ordering = (&a.time, a.source, &a.sort).cmp(&(&b.time, b.source, &b.sort));
            if self.order == Order::Descending { ordering.reverse() } else { ordering }
        });
        let more = found.len() > self.limit;
        let each = found.into_iter().take(self.limit).map(|found| {
            let cursor = Cursor { question, position: found.position, note: None };
            Ok(((self.entry)(&found.item)?, cursor))
        });
        let entries = each.collect::<Result<Vec<_>>>()?;
        let next = entries.last().filter(|_| more).map(|(_, cursor)| cursor.clone());
        Ok(MergedPage { entries, next })
    }

    /// One item more than the page of one kind, from where the page before ended.
    async fn read(&self, at: usize, after: Option<&Place>) -> Result<Vec<Found>> {
        let Some(Source { pattern, prefix }) = self.sources.get(at) else { return Ok(Vec::new()) };
        let table = self.core.table().for_pattern(pattern.name);
        let mut query = Query {
            index: pattern.index.name().map(str::to_owned),
            order: self.order,
            sort: SortRange::BeginsWith((*prefix).into()),
            ..Query::new(self.partition.as_str())
        };
        match after {
            Some(place) if place.source == at => query.start = Some(place.position.clone()),
            Some(place) => match self.rest(prefix, at, place) {
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
            found.extend(page.items.into_iter().filter_map(|item| self.found(at, item)));
            query.start = page.next;
            if query.start.is_none() || found.len() >= wanted {
                return Ok(found);
            }
        }
    }

    /// What of another kind comes after a place: equal times go by kind.
    /// `None` when nothing can.
    fn rest(&self, prefix: &str, at: usize, place: &Place) -> Option<SortRange> {
        let key = |time: Time, end: &str| {
            let mut key = prefix.to_owned();
            time.write_part(&mut key);
            key + end
        };
        let (from, to) = match (self.order, at < place.source) {
            (Order::Descending, true) => (prefix.to_owned(), key(place.time, ABOVE)),
            (Order::Descending, false) if place.time == Time::EPOCH => return None,
            (Order::Descending, false) => (prefix.to_owned(), key(place.time.minus_ms(1), ABOVE)),
            (Order::Ascending, true) if place.time == Time::MAX => return None,
            (Order::Ascending, true) => {
                (key(place.time.plus_ms(1), ""), format!("{prefix}{ABOVE}"))
            }
            (Order::Ascending, false) => (key(place.time, ""), format!("{prefix}{ABOVE}")),
        };
        Some(SortRange::Between(from.into(), to.into()))
    }

    fn found(&self, source: usize, item: Item) -> Option<Found> {
        let Source { pattern, prefix } = self.sources.get(source)?;
        let definition = self.core.table().definition();
        let position = Position::of(definition, pattern.index.name(), &item)?;
        let sort = item.text(pattern.index.sort_attribute())?.to_owned();
        let time = time_in(&sort, prefix)?.to_owned();
        Some(Found { time, source, sort, position, item })
    }

    fn question(&self) -> u64 {
        let kinds: Vec<&str> = self.sources.iter().map(|source| source.prefix).collect();
        let (name, partition, order) = (self.name, &self.partition, self.order);
        stable_hash(&format!("{name}\n{partition}\n{kinds:?}\n{order:?}"))
    }

    fn place(&self, question: u64, cursor: &Cursor) -> Result<Place> {
        let refuse = |reason| Error::BadCursor { pattern: self.name, reason };
        if cursor.question != question {
            return Err(refuse("it was made for another question"));
        }
        let key = cursor.position.index.as_ref().and_then(|key| key.sort.as_ref()?.as_text());
        let place = key.and_then(|sort| {
            let source = self.sources.iter().position(|source| sort.starts_with(source.prefix))?;
            let time = time_in(sort, self.sources.get(source)?.prefix)?.parse().ok()?;
            Some(Place { time, source, position: cursor.position.clone() })
        });
        place.ok_or_else(|| refuse("it names no place in this list"))
    }
}

/// Where a page ended.
struct Place {
    time: Time,
    source: usize,
    position: Position,
}

/// The time that follows the prefix of a sort key.
fn time_in<'a>(sort: &'a str, prefix: &str) -> Option<&'a str> {
    sort.strip_prefix(prefix)?.split('#').next()
}
