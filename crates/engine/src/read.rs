//! Pages: queries, scans and merges over a snapshot.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bytes::Bytes;
use roundtable_table::{
    Capacity, Condition, Error, IndexDefinition, Invalid, Item, ItemPage, Merge, Order, Path,
    Position, Query, ReadMode, Result, Scalar, Scan, SortRange, Walk, WalkPage, limits,
    project_index,
};

use crate::catalog::TableEntry;
use crate::cursor::{self, RangeCursor};
use crate::keys::{self, KeyRange, Partition};
use crate::view::Snapshot;

/// Number of entries to prefetch when the request has no limit.
const LOOK_AHEAD: usize = 128;

/// The table or index that a page is read from.
struct ReadSource<'a> {
    entry: &'a TableEntry,
    index: Option<&'a IndexDefinition>,
    space: u8,
    now_seconds: u64,
}

impl<'a> ReadSource<'a> {
    fn new(entry: &'a TableEntry, index: Option<&str>, now_seconds: u64) -> Result<Self> {
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

    /// Returns the item of an entry, projected as in this source; `None` if it is expired.
    fn item(
        &self,
        snapshot: &Snapshot<'_>,
        entry: cursor::CursorEntry<'_>,
    ) -> Result<Option<Item>> {
        let stored = if self.index.is_none() {
            entry.into_value()
        } else {
            let key = keys::item_key_of_entry(entry.key(), entry.value());
            let item = key.map(|key| snapshot.get(&key)).transpose()?.flatten();
            item.ok_or_else(|| damaged_entry(entry.key(), "its item is missing"))?
        };
        let item = Item::from_stored(stored).ok_or_else(|| Error::Damaged {
            location: format!("an item of {:?}", self.entry.definition.name),
            detail: String::from("it is too short to be an item"),
        })?;
        if self.entry.definition.is_expired(&item, self.now_seconds) {
            return Ok(None);
        }
        Ok(Some(match self.index {
            Some(index) => project_index(&self.entry.definition, index, &item),
            None => item,
        }))
    }

    /// Returns the position of a page that ended with `item`.
    fn position(&self, item: &Item) -> Option<Position> {
        Position::of(&self.entry.definition, self.index.map(|index| index.name.as_str()), item)
    }

    /// Narrows `range` to what follows `start`.
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

/// The limit, filter and projection of a page.
struct PageLimits<'a> {
    limit: Option<usize>,
    filter: Option<&'a Condition>,
    projection: &'a [Path],
    strong: bool,
}

/// Fills a page from `cursor`.
fn fill(
    source: &ReadSource<'_>,
    snapshot: &Snapshot<'_>,
    cursor: &mut RangeCursor<'_>,
    wanted: &PageLimits<'_>,
    skip: impl Fn(&[u8]) -> bool,
) -> Result<ItemPage> {
    let limit = wanted.limit.unwrap_or(usize::MAX);
    let mut items = Vec::with_capacity(limit.min(LOOK_AHEAD));
    let (mut evaluated, mut bytes) = (0, 0);
    // The last item read, if it is not simply the last one returned.
    let mut last = None;
    let mut next = None;
    while let Some(entry) = cursor.step()? {
        if skip(entry.key()) {
            continue;
        }
        let Some(item) = source.item(snapshot, entry)? else { continue };
        if evaluated == limit || bytes >= limits::PAGE_BYTES_MAX {
            // There is more: the next page starts after the last item read.
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
    Ok(ItemPage { items, next, evaluated, capacity })
}

/// Projects an item; empty `paths` keep all of it.
pub(crate) fn project(item: Item, paths: &[Path]) -> Item {
    if paths.is_empty() { item } else { item.project(paths) }
}

pub(crate) fn query(
    entry: &TableEntry,
    snapshot: &Snapshot<'_>,
    query: &Query,
    now_seconds: u64,
) -> Result<ItemPage> {
    let source = ReadSource::new(entry, query.index.as_deref(), now_seconds)?;
    let mut range = Partition::new(entry.number, source.space, &query.partition).range(&query.sort);
    source.start_after(&mut range, query.order, query.start.as_ref());
    let hint = query.limit.map_or(LOOK_AHEAD, |limit| limit.saturating_add(1));
    let mut cursor = snapshot.walk(&range, query.order, hint)?;
    let wanted = PageLimits {
        limit: query.limit,
        filter: query.filter.as_ref(),
        projection: &query.projection,
        strong: query.strong,
    };
    fill(&source, snapshot, &mut cursor, &wanted, |_| false)
}

pub(crate) fn scan(
    entry: &TableEntry,
    snapshot: &Snapshot<'_>,
    scan: &Scan,
    now_seconds: u64,
) -> Result<ItemPage> {
    let source = ReadSource::new(entry, scan.index.as_deref(), now_seconds)?;
    let mut range = KeyRange::of_prefix(keys::prefix(entry.number, source.space));
    source.start_after(&mut range, Order::Ascending, scan.start.as_ref());
    let hint = scan.limit.map_or(LOOK_AHEAD, |limit| limit.saturating_add(1));
    let mut cursor = snapshot.walk(&range, Order::Ascending, hint)?;
    let wanted = PageLimits {
        limit: scan.limit,
        filter: scan.filter.as_ref(),
        projection: &scan.projection,
        strong: scan.strong,
    };
    // Whole partitions go to one segment, by hash, so that segments stay stable under concurrent
    // writes.
    let in_other_segment = |key: &[u8]| {
        scan.segment.is_some_and(|(segment, total)| {
            crc32fast::hash(keys::partition_of(key)) % total.max(1) != segment
        })
    };
    fill(&source, snapshot, &mut cursor, &wanted, in_other_segment)
}

/// Reads down the order of a table.
pub(crate) fn walk(
    entry: &TableEntry,
    snapshot: &Snapshot<'_>,
    walk: &Walk<'_>,
    now_seconds: u64,
) -> Result<WalkPage> {
    if !entry.is_ordered {
        let detail = format!("the order of table {:?} is incomplete", entry.definition.name);
        return Err(Invalid::Rejected { detail }.into());
    }
    let range = keys::order_range(entry.number, walk.below.as_deref());
    let mut cursor = snapshot.walk(&range, Order::Descending, walk.passed_max.min(LOOK_AHEAD))?;
    let mut items = Vec::with_capacity(walk.limit.min(LOOK_AHEAD));
    let (mut passed, mut bytes) = (0, 0);
    let (mut last_sort, mut item_key) = (Vec::new(), keys::prefix(entry.number, keys::ITEMS));
    let mut down_to = None;
    while let Some(found) = cursor.step()? {
        let base = keys::base_of_entry(found.key(), found.value());
        let base = base.ok_or_else(|| damaged_entry(found.key(), "it does not name an item"))?;
        let (partition, sort) = keys::split_base(base)
            .ok_or_else(|| damaged_entry(found.key(), "it does not name an item"))?;
        let is_full = items.len() >= walk.limit || passed >= walk.passed_max;
        if (is_full || bytes >= limits::PAGE_BYTES_MAX) && sort != last_sort {
            down_to = Some(String::from_utf8_lossy(&last_sort).into_owned());
            break;
        }
        passed += 1;
        last_sort.clear();
        last_sort.extend_from_slice(sort);
        let is_known = |partition: &[u8]| std::str::from_utf8(partition).is_ok_and(walk.wants);
        if !partition.is_none_or(is_known) {
            continue;
        }
        item_key.truncate(keys::PREFIX_BYTES);
        item_key.extend_from_slice(base);
        let item = snapshot.get(&item_key)?.and_then(Item::from_stored);
        let item = item.ok_or_else(|| damaged_entry(found.key(), "its item is missing"))?;
        // A long partition is not in the entry.
        let is_wanted = partition.is_some()
            || item.text(&entry.definition.key.partition.name).is_some_and(walk.wants);
        if is_wanted && !entry.definition.is_expired(&item, now_seconds) {
            bytes += item.size();
            items.push(item);
        }
    }
    Ok(WalkPage { items, down_to, capacity: Capacity::read(bytes, ReadMode::Strong) })
}

fn damaged_entry(key: &[u8], detail: &str) -> Error {
    Error::Damaged {
        location: format!("the index entry {:?}", Bytes::copy_from_slice(key)),
        detail: detail.to_owned(),
    }
}

/// One partition of a merge: its next item, and a cursor for the rest.
struct MergeHead<'s> {
    item: Item,
    cursor: RangeCursor<'s>,
}

/// The order of heads: by sort key, then partition, then item.
type MergeRank = (Option<Scalar>, Scalar, Option<roundtable_table::Key>);

pub(crate) fn merge(
    entry: &TableEntry,
    snapshot: &Snapshot<'_>,
    merge: &Merge,
    now_seconds: u64,
) -> Result<ItemPage> {
    let source = ReadSource::new(entry, merge.index.as_deref(), now_seconds)?;
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
    // On DynamoDB each partition is a separate query and costs at least half a unit.
    let least = Capacity { read_halves: merge.partitions.len() as u64, write_units: 0 };
    let read = Capacity::read(bytes, ReadMode::Eventual);
    let capacity = if read.read_halves > least.read_halves { read } else { least };
    Ok(ItemPage { items, next, evaluated, capacity })
}

/// Takes items from the heads in order up to the limit; also returns whether more remain.
fn drain<'s, O: Ord>(
    source: &ReadSource<'_>,
    snapshot: &'s Snapshot<'_>,
    merge: &Merge,
    heads: Vec<MergeHead<'s>>,
    bytes: &mut usize,
    ordered: impl Fn(MergeRank) -> O,
) -> Result<(Vec<Item>, bool)> {
    let mut slots: Vec<Option<MergeHead<'s>>> = Vec::with_capacity(heads.len());
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

fn rank(source: &ReadSource<'_>, item: &Item) -> MergeRank {
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
    source: &ReadSource<'_>,
    snapshot: &'s Snapshot<'_>,
    mut cursor: RangeCursor<'s>,
    bytes: &mut usize,
) -> Result<Option<MergeHead<'s>>> {
    while let Some(entry) = cursor.step()? {
        if let Some(item) = source.item(snapshot, entry)? {
            *bytes += item.size();
            return Ok(Some(MergeHead { item, cursor }));
        }
    }
    Ok(None)
}

/// Narrows one partition's range to what follows `start` in the order of the whole merge.
fn start_partition_after(
    source: &ReadSource<'_>,
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
        // Without sort keys, only partitions are ordered: one before the start is complete.
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
