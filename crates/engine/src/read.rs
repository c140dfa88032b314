//! Pages: queries, scans and merges over a snapshot.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bytes::Bytes;
use roundtable_table::{
    Capacity, Condition, Error, IndexDefinition, Item, Merge, Order, Page, Path, Position, Query,
    ReadMode, Result, Scalar, Scan, SortRange, limits, project_index,
};

use crate::catalog::Entry;
use crate::cursor::{self, Cursor};
use crate::keys::{self, KeyRange, Partition};
use crate::view::Snapshot;

/// How far a walk looks ahead when nobody said how much is wanted.
const LOOK_AHEAD: usize = 128;

/// A table, or one of its indexes, as a page is read from it.
struct Source<'a> {
    entry: &'a Entry,
    index: Option<&'a IndexDefinition>,
    space: u8,
    now_seconds: u64,
}

impl<'a> Source<'a> {
    fn new(entry: &'a Entry, index: Option<&str>, now_seconds: u64) -> Result<Self> {
        let indexes = &entry.definition.indexes;
        let (index, space) = match index {
            None => (None, keys::ITEMS),
            Some(name) => {
                let position = indexes.iter().position(|index| index.name == name);
                let space = position.map_or(keys::ITEMS, keys::index_space);
                (Some(entry.definition.index(name)?), space)
            }
        };
        Ok(Self { entry, index, space, now_seconds })
    }

    /// The item an entry stands for, as this source carries it; `None` when it is expired.
    fn item(&self, snapshot: &Snapshot<'_>, entry: cursor::Entry<'_>) -> Result<Option<Item>> {
        let stored = if self.index.is_none() {
            entry.into_value()
        } else {
            let key = keys::item_key_of_entry(entry.key(), entry.value());
            let item = key.map(|key| snapshot.get(&key)).transpose()?.flatten();
            item.ok_or_else(|| Error::Damaged {
                place: format!("the index entry {:?}", Bytes::copy_from_slice(entry.key())),
                detail: String::from("its item is not there"),
            })?
        };
        let item = Item::from_stored(stored).ok_or_else(|| Error::Damaged {
            place: format!("an item of {:?}", self.entry.definition.name),
            detail: String::from("it is too short"),
        })?;
        if self.entry.definition.is_expired(&item, self.now_seconds) {
            return Ok(None);
        }
        Ok(Some(match self.index {
            Some(index) => project_index(&self.entry.definition, index, &item),
            None => item,
        }))
    }

    /// Where a page that ended with `item` goes on.
    fn position(&self, item: &Item) -> Option<Position> {
        Position::of(&self.entry.definition, self.index.map(|index| index.name.as_str()), item)
    }

    /// Cuts `range` so that it starts after `start`.
    fn start_after(&self, range: &mut KeyRange, order: Order, start: Option<&Position>) {
        let Some(start) = start else { return };
        let key =
            keys::position_key(self.entry.number, self.space, &start.base, start.index.as_ref());
        match order {
            // The smallest key above it.
            Order::Ascending => range.low = range.low.clone().max([&key[..], &[0]].concat()),
            Order::Descending => range.high = range.high.clone().min(key.to_vec()),
        }
    }
}

/// What a page is cut and filtered by.
struct Limits<'a> {
    limit: Option<usize>,
    filter: Option<&'a Condition>,
    projection: &'a [Path],
    strong: bool,
}

/// Fills a page from `cursor`.
fn fill(
    source: &Source<'_>,
    snapshot: &Snapshot<'_>,
    cursor: &mut Cursor<'_>,
    wanted: &Limits<'_>,
    skip: impl Fn(&[u8]) -> bool,
) -> Result<Page> {
    let limit = wanted.limit.unwrap_or(usize::MAX);
    let mut items = Vec::with_capacity(limit.min(LOOK_AHEAD));
    let (mut evaluated, mut bytes) = (0, 0);
    // The last item looked at, where that is not simply the last one returned.
    let mut last = None;
    let mut next = None;
    while let Some(entry) = cursor.step()? {
        if skip(entry.key()) {
            continue;
        }
        let Some(item) = source.item(snapshot, entry)? else { continue };
        if evaluated == limit || bytes >= limits::PAGE_BYTES_MAX {
            // There is more: the page goes on after the last item looked at.
            next = last.as_ref().or(items.last()).and_then(|item| source.position(item));
            break;
        }
        evaluated += 1;
        bytes += item.size();
        let is_wanted = wanted.filter.is_none_or(|filter| filter.holds(Some(&item)));
        if is_wanted && wanted.projection.is_empty() {
            last = None;
            items.push(item);
            continue;
        }
        if is_wanted {
            items.push(item.project(wanted.projection));
        }
        last = Some(item);
    }
    let capacity = Capacity::read(bytes, ReadMode::of(wanted.strong));
    Ok(Page { items, next, evaluated, capacity })
}

/// The parts of an item that were asked for.
pub(crate) fn project(item: Item, paths: &[Path]) -> Item {
    if paths.is_empty() { item } else { item.project(paths) }
}

pub(crate) fn query(
    entry: &Entry,
    snapshot: &Snapshot<'_>,
    query: &Query,
    now_seconds: u64,
) -> Result<Page> {
    let source = Source::new(entry, query.index.as_deref(), now_seconds)?;
    let mut range = Partition::new(entry.number, source.space, &query.partition).range(&query.sort);
    source.start_after(&mut range, query.order, query.start.as_ref());
    let hint = query.limit.map_or(LOOK_AHEAD, |limit| limit.saturating_add(1));
    let mut cursor = snapshot.walk(&range, query.order, hint)?;
    let wanted = Limits {
        limit: query.limit,
        filter: query.filter.as_ref(),
        projection: &query.projection,
        strong: query.strong,
    };
    fill(&source, snapshot, &mut cursor, &wanted, |_| false)
}

pub(crate) fn scan(
    entry: &Entry,
    snapshot: &Snapshot<'_>,
    scan: &Scan,
    now_seconds: u64,
) -> Result<Page> {
    let source = Source::new(entry, scan.index.as_deref(), now_seconds)?;
    let mut range = KeyRange::of_prefix(keys::prefix(entry.number, source.space));
    source.start_after(&mut range, Order::Ascending, scan.start.as_ref());
    let hint = scan.limit.map_or(LOOK_AHEAD, |limit| limit.saturating_add(1));
    let mut cursor = snapshot.walk(&range, Order::Ascending, hint)?;
    let wanted = Limits {
        limit: scan.limit,
        filter: scan.filter.as_ref(),
        projection: &scan.projection,
        strong: scan.strong,
    };
    // Whole partitions go to one segment, by hash, so that segments stay what they are while
    // others write.
    let elsewhere = |key: &[u8]| {
        scan.segment.is_some_and(|(segment, total)| {
            crc32fast::hash(keys::partition_of(key)) % total.max(1) != segment
        })
    };
    fill(&source, snapshot, &mut cursor, &wanted, elsewhere)
}

/// One partition of a merge, by its next item.
struct Head<'s> {
    item: Item,
    cursor: Cursor<'s>,
}

/// Where a head stands among the others: by sort key, then partition, then item.
type Rank = (Option<Scalar>, Scalar, Option<roundtable_table::Key>);

pub(crate) fn merge(
    entry: &Entry,
    snapshot: &Snapshot<'_>,
    merge: &Merge,
    now_seconds: u64,
) -> Result<Page> {
    let source = Source::new(entry, merge.index.as_deref(), now_seconds)?;
    let mut heads = Vec::with_capacity(merge.partitions.len());
    let mut bytes = 0;
    for partition in &merge.partitions {
        let mut range = Partition::new(entry.number, source.space, partition).range(&merge.sort);
        if let Some(start) = &merge.start {
            start_partition_after(&source, &mut range, merge.order, partition, start);
        }
        let hint = (merge.limit / merge.partitions.len().max(1)).max(1);
        let cursor = snapshot.walk(&range, merge.order, hint)?;
        heads.extend(advance(&source, snapshot, cursor, &mut bytes)?);
    }
    let (items, more) = match merge.order {
        Order::Ascending => drain(&source, snapshot, merge, heads, &mut bytes, Reverse)?,
        Order::Descending => drain(&source, snapshot, merge, heads, &mut bytes, |rank| rank)?,
    };
    let next = items.last().filter(|_| more).and_then(|item| source.position(item));
    let evaluated = items.len();
    let items = items.into_iter().map(|item| project(item, &merge.projection)).collect();
    // On DynamoDB each partition is a query of its own, and costs at least half a unit.
    let least = Capacity { read_halves: merge.partitions.len() as u64, write_units: 0 };
    let read = Capacity::read(bytes, ReadMode::Eventual);
    let capacity = if read.read_halves > least.read_halves { read } else { least };
    Ok(Page { items, next, evaluated, capacity })
}

/// Takes items from the heads in order until there are enough; tells whether more remain.
fn drain<'s, O: Ord>(
    source: &Source<'_>,
    snapshot: &'s Snapshot<'_>,
    merge: &Merge,
    heads: Vec<Head<'s>>,
    bytes: &mut usize,
    ordered: impl Fn(Rank) -> O,
) -> Result<(Vec<Item>, bool)> {
    let mut slots: Vec<Option<Head<'s>>> = Vec::with_capacity(heads.len());
    let mut heap = BinaryHeap::with_capacity(heads.len());
    for head in heads {
        heap.push((ordered(rank(source, &head.item)), slots.len()));
        slots.push(Some(head));
    }
    let mut items = Vec::with_capacity(merge.limit.min(LOOK_AHEAD));
    while let Some((_, slot)) = heap.pop() {
        let Some(head) = slots.get_mut(slot).and_then(Option::take) else { continue };
        if items.len() == merge.limit {
            return Ok((items, true));
        }
        items.push(head.item);
        if let Some(following) = advance(source, snapshot, head.cursor, bytes)? {
            heap.push((ordered(rank(source, &following.item)), slot));
            if let Some(slot) = slots.get_mut(slot) {
                *slot = Some(following);
            }
        }
    }
    Ok((items, false))
}

fn rank(source: &Source<'_>, item: &Item) -> Rank {
    let definition = &source.entry.definition;
    let base = definition.key.read(item);
    let key = match source.index {
        Some(index) => index.key.read(item),
        None => base.clone(),
    };
    let (partition, sort) =
        key.map_or_else(|| (Scalar::S(String::new()), None), |key| (key.partition, key.sort));
    (sort, partition, base.filter(|_| source.index.is_some()))
}

fn advance<'s>(
    source: &Source<'_>,
    snapshot: &'s Snapshot<'_>,
    mut cursor: Cursor<'s>,
    bytes: &mut usize,
) -> Result<Option<Head<'s>>> {
    while let Some(entry) = cursor.step()? {
        if let Some(item) = source.item(snapshot, entry)? {
            *bytes += item.size();
            return Ok(Some(Head { item, cursor }));
        }
    }
    Ok(None)
}

/// Cuts one partition's range to what follows `start` in the order of the whole merge.
fn start_partition_after(
    source: &Source<'_>,
    range: &mut KeyRange,
    order: Order,
    partition: &Scalar,
    start: &Position,
) {
    let key = start.index.as_ref().unwrap_or(&start.base);
    if *partition == key.partition {
        return source.start_after(range, order, Some(start));
    }
    // At the same sort key, partitions follow each other in the merge's order.
    let follows = (*partition > key.partition) == (order == Order::Ascending);
    let Some(sort) = &key.sort else {
        // Without sort keys that order is all there is: a partition before the start is done.
        if !follows {
            range.high.clone_from(&range.low);
        }
        return;
    };
    let rest = match (order, follows) {
        (Order::Ascending, true) => SortRange::GreaterOrEqual(sort.clone()),
        (Order::Ascending, false) => SortRange::Greater(sort.clone()),
        (Order::Descending, true) => SortRange::LessOrEqual(sort.clone()),
        (Order::Descending, false) => SortRange::Less(sort.clone()),
    };
    let rest = Partition::new(source.entry.number, source.space, partition).range(&rest);
    range.low = range.low.clone().max(rest.low);
    range.high = range.high.clone().min(rest.high);
}
