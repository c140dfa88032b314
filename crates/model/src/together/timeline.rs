//! A person's entities of all kinds in one order. Their keys put the type before the time, so each
//! kind is a query of its own, and the pages are merged here.

use futures::future::try_join_all;
use roundtable_table::{Item, Order, Position, Query, SortRange};

use crate::entities::{
    Comment, Follow, Goal, GroupMember, Like, Message, Milestone, Post, Quest, Task, User,
};
use crate::entity::{TYPE, key_of};
use crate::error::shown;
use crate::part::stable_hash;
use crate::shape::PatternShape;
use crate::{Answer, Core, Cursor, Entity, EntityKind, Error, KeyPart, Result, Time, UserId};

/// The largest page.
const PAGE_ITEMS_MAX: usize = 100;

/// Above every part that can follow a prefix: those are times, ids and digits.
const ABOVE: &str = "~";

macro_rules! entries {
    ($($kind:ident of $entity:ident;)*) => {
        /// Something a person did or made.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "each holds the entity of its kind")]
        #[expect(clippy::large_enum_variant, reason = "a page has a hundred at the most")]
        pub enum TimelineEntry {
            $($kind($entity),)*
        }

        impl TimelineEntry {
            /// What it is.
            pub const fn kind(&self) -> EntityKind {
                match self {
                    $(Self::$kind(_) => EntityKind::$kind,)*
                }
            }

            fn from_item(item: &Item) -> Result<Self> {
                match item.text(TYPE) {
                    $(Some(name) if name == $entity::SHAPE.name => {
                        Ok(Self::$kind($entity::from_item(item)?))
                    })*
                    other => Err(Error::OtherType {
                        entity: "an entity of a timeline",
                        key: shown(&key_of(item)),
                        found: other.unwrap_or("an item without a type").to_owned(),
                    }),
                }
            }
        }

        /// The kind that a pattern of the timeline answers with.
        fn kind_of(pattern: &PatternShape) -> Option<EntityKind> {
            $(if pattern.entity == $entity::SHAPE.name {
                return Some(EntityKind::$kind);
            })*
            None
        }
    };
}

entries! {
    User of User;
    Follow of Follow;
    Group of GroupMember;
    Goal of Goal;
    Task of Task;
    Milestone of Milestone;
    Quest of Quest;
    Post of Post;
    Comment of Comment;
    Like of Like;
    Message of Message;
}

/// A question about a person's entities of several kinds.
#[derive(Debug)]
#[must_use = "a question is asked by `page`"]
pub struct EntityTimeline<'a> {
    core: &'a Core,
    partition: String,
    sources: Vec<Source>,
    order: Order,
    limit: usize,
    after: Option<Cursor>,
}

/// A page of a timeline.
#[derive(Clone, Debug)]
pub struct TimelinePage {
    /// The entities, each with the cursor that continues after it.
    pub entries: Vec<(TimelineEntry, Cursor)>,
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

impl<'a> EntityTimeline<'a> {
    pub(super) fn new(core: &'a Core, user: &UserId, kinds: &[EntityKind]) -> Self {
        let composites = Core::SHAPE.composites.iter();
        let names = composites.filter(|composite| composite.name == "entity_timeline");
        let patterns = names.flat_map(|composite| composite.of);
        let sources = patterns.filter_map(|name| {
            let pattern = Core::SHAPE.pattern(name)?;
            let wanted = kind_of(pattern).is_some_and(|kind| kinds.contains(&kind));
            let prefix = pattern.sort.template()?.prefix();
            wanted.then_some(Source { pattern, prefix })
        });
        let mut partition = String::from("USER#");
        user.write_part(&mut partition);
        Self {
            core,
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

    /// Reads the page: full, unless the timeline ends.
    pub async fn page(self) -> Result<TimelinePage> {
        if self.limit == 0 || self.limit > PAGE_ITEMS_MAX {
            let (pattern, max) = ("entity_timeline", PAGE_ITEMS_MAX);
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
            Ok((TimelineEntry::from_item(&found.item)?, cursor))
        });
        let entries = each.collect::<Result<Vec<_>>>()?;
        let next = entries.last().filter(|_| more).map(|(_, cursor)| cursor.clone());
        Ok(TimelinePage { entries, next })
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
        stable_hash(&format!("entity_timeline\n{}\n{kinds:?}\n{:?}", self.partition, self.order))
    }

    fn place(&self, question: u64, cursor: &Cursor) -> Result<Place> {
        let refuse = |reason| Error::BadCursor { pattern: "entity_timeline", reason };
        if cursor.question != question {
            return Err(refuse("it was made for another question"));
        }
        let key = cursor.position.index.as_ref().and_then(|key| key.sort.as_ref()?.as_text());
        let place = key.and_then(|sort| {
            let source = self.sources.iter().position(|source| sort.starts_with(source.prefix))?;
            let time = time_in(sort, self.sources.get(source)?.prefix)?.parse().ok()?;
            Some(Place { time, source, position: cursor.position.clone() })
        });
        place.ok_or_else(|| refuse("it names no place in a timeline"))
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
