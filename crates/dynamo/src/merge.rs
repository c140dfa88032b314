//! The first items across many partitions, by concurrent queries: a small page of each, then more
//! only of those partitions whose next items could still be among the first.

use std::cmp::Ordering;

use futures::stream::{self, StreamExt, TryStreamExt};
use roundtable_table::{
    Capacity, Error, Item, Key, Merge, Order, Page, Position, Result, Scalar, SortRange,
    TableDefinition,
};

use crate::pages::{Piece, Reading, Source};
use crate::values::{Wire, position_from_wire};
use crate::view::View;
use crate::{Dynamo, range};

/// How many queries run at once.
const QUERIES_MAX: usize = 16;

impl Dynamo {
    pub(crate) async fn merge_page(&self, table: &TableDefinition, merge: &Merge) -> Result<Page> {
        let index = merge.index.as_deref();
        let view = View::new(table, index, &merge.projection, true);
        let mut lanes = Lanes::new(merge);
        let mut capacity = Capacity::ZERO;
        loop {
            let needy = lanes.needy();
            if needy.is_empty() {
                break;
            }
            // Each is made when its turn comes: a hundred thousand at once would be gigabytes.
            let answers: Vec<_> = stream::iter(needy)
                .map(|at| self.refill(table, &lanes, at))
                .buffer_unordered(QUERIES_MAX)
                .try_collect()
                .await?;
            for (at, piece) in answers {
                capacity += piece.capacity;
                lanes.take(table, at, piece)?;
            }
        }
        let (first, more) = lanes.finish();
        let next = if more { first.last().map(Entry::position) } else { None };
        let items: Vec<Item> = first.into_iter().map(|entry| view.show(entry.item)).collect();
        let evaluated = items.len();
        Ok(Page { items, next, evaluated, capacity })
    }

    async fn refill(
        &self,
        table: &TableDefinition,
        lanes: &Lanes<'_>,
        at: usize,
    ) -> Result<(usize, Piece)> {
        let merge = lanes.merge;
        let index = merge.index.as_deref();
        let lane = lanes.lanes.get(at).ok_or_else(|| Error::Unexpected {
            detail: String::from("a merge lost a partition"),
        })?;
        let source = Source::Partition {
            partition: &lane.partition,
            range: &lane.range,
            order: merge.order,
        };
        let view = View::new(table, index, &merge.projection, true);
        let reading = Reading { table, index, source, filter: None, view, strong: false };
        Ok((at, self.piece(&reading, Some(lane.page), lane.last.clone()).await?))
    }
}

/// An item with its place in the order.
struct Entry {
    /// Its key in what is merged: the index, or the table.
    key: Key,
    base: Key,
    indexed: bool,
    item: Item,
}

impl Entry {
    fn position(&self) -> Position {
        Position { base: self.base.clone(), index: self.indexed.then(|| self.key.clone()) }
    }
}

/// A place in the order: sort key, then partition, then the primary key.
#[derive(Clone, Copy)]
struct Place<'a> {
    sort: Option<&'a Scalar>,
    partition: &'a Scalar,
    base: Option<&'a Key>,
}

impl<'a> Place<'a> {
    fn of(key: &'a Key, base: &'a Key) -> Self {
        Self { sort: key.sort.as_ref(), partition: &key.partition, base: Some(base) }
    }

    fn compare(self, other: Self, order: Order) -> Ordering {
        let rising =
            (self.sort, self.partition).cmp(&(other.sort, other.partition)).then_with(|| {
                match (self.base, other.base) {
                    (Some(base), Some(other)) => base.cmp(other),
                    _ => Ordering::Equal,
                }
            });
        match order {
            Order::Ascending => rising,
            Order::Descending => rising.reverse(),
        }
    }
}

/// One partition, read up to somewhere.
struct Lane {
    partition: Scalar,
    range: SortRange,
    entries: Vec<Entry>,
    /// Where DynamoDB stopped; `None` before the first look.
    last: Option<Wire>,
    /// The sort key there.
    reached: Option<Scalar>,
    done: bool,
    page: usize,
}

impl Lane {
    /// Whether nothing unseen of the lane can come before this entry. In an index, DynamoDB gives
    /// items of the same sort key in an order of its own: all of them must be there first.
    fn settled(&self, entry: &Entry) -> bool {
        self.done || !entry.indexed || entry.key.sort != self.reached
    }
}

/// All partitions of a merge.
struct Lanes<'a> {
    merge: &'a Merge,
    lanes: Vec<Lane>,
}

impl<'a> Lanes<'a> {
    fn new(merge: &'a Merge) -> Self {
        let start = merge.start.as_ref().map(|at| at.index.as_ref().unwrap_or(&at.base));
        let share = (2 * merge.limit).div_ceil(merge.partitions.len().max(1));
        // The item a page starts after is fetched again.
        let page = share.clamp(1, merge.limit) + usize::from(start.is_some());
        let lanes = merge.partitions.iter().map(|partition| {
            let range = match start.and_then(|key| key.sort.as_ref()) {
                Some(sort) => range::from(&merge.sort, merge.order, sort),
                None => Some(merge.sort.clone()),
            };
            Lane {
                partition: partition.clone(),
                done: range.is_none(),
                range: range.unwrap_or_default(),
                entries: Vec::new(),
                last: None,
                reached: None,
                page,
            }
        });
        Self { merge, lanes: lanes.collect() }
    }

    /// Adds what a lane's query found.
    fn take(&mut self, table: &TableDefinition, at: usize, piece: Piece) -> Result<()> {
        let index = self.merge.index.as_deref();
        let start = self.merge.start.as_ref();
        let order = self.merge.order;
        let Some(lane) = self.lanes.get_mut(at) else { return Ok(()) };
        // Without a sort key, a partition is one item, whatever the server says of more.
        let single = index.is_none() && table.key.sort.is_none();
        lane.done = single || piece.last.is_none();
        for item in piece.items {
            let Some(position) = Position::of(table, index, &item) else { continue };
            let Position { base, index } = position;
            let indexed = index.is_some();
            let key = index.unwrap_or_else(|| base.clone());
            if key.sort.as_ref().is_some_and(|sort| !self.merge.sort.contains(sort)) {
                lane.done = true;
                break;
            }
            let after = start.is_none_or(|start| {
                let start = Place::of(start.index.as_ref().unwrap_or(&start.base), &start.base);
                Place::of(&key, &base).compare(start, order).is_gt()
            });
            if after {
                lane.entries.push(Entry { key, base, indexed, item });
            }
        }
        if let Some(last) = piece.last {
            let position = position_from_wire(table, index, last.clone())?;
            lane.reached = position.index.unwrap_or(position.base).sort;
            lane.last = Some(last);
        }
        lane.page = (lane.page * 2).min(self.merge.limit + 1);
        Ok(())
    }

    /// The lanes whose unseen items could be among the first.
    fn needy(&self) -> Vec<usize> {
        let order = self.merge.order;
        let mut settled: Vec<Place<'_>> = self
            .lanes
            .iter()
            .flat_map(|lane| lane.entries.iter().filter(|entry| lane.settled(entry)))
            .map(|entry| Place::of(&entry.key, &entry.base))
            .collect();
        let nth = self.merge.limit - 1;
        let bound = (nth < settled.len())
            .then(|| *settled.select_nth_unstable_by(nth, |a, b| a.compare(*b, order)).1);
        let ties = self.merge.index.is_some();
        let needs = |lane: &Lane| match (&lane.last, bound) {
            (Some(_), Some(bound)) => {
                let sort = lane.reached.as_ref();
                let reached = Place { sort, partition: &lane.partition, base: None };
                let compared = reached.compare(bound, order);
                compared.is_lt() || (ties && compared.is_eq())
            }
            _ => true,
        };
        let lanes = self.lanes.iter().enumerate();
        lanes.filter(|(_, lane)| !lane.done && needs(lane)).map(|(at, _)| at).collect()
    }

    /// The first items, and whether there may be more.
    fn finish(self) -> (Vec<Entry>, bool) {
        let unread = self.lanes.iter().any(|lane| !lane.done);
        let order = self.merge.order;
        let mut entries: Vec<Entry> =
            self.lanes.into_iter().flat_map(|lane| lane.entries).collect();
        entries
            .sort_by(|a, b| Place::of(&a.key, &a.base).compare(Place::of(&b.key, &b.base), order));
        let more = unread || entries.len() > self.merge.limit;
        entries.truncate(self.merge.limit);
        (entries, more)
    }
}
