//! Merges partitions by concurrent queries: reads a small page of each, then more only of those
//! partitions whose next items could still be among the first.

use std::cmp::Ordering;

use futures::stream::{self, StreamExt, TryStreamExt};
use roundtable_table::{
    Capacity, Error, Item, ItemPage, Key, Merge, Order, Position, Result, Scalar, SortRange,
    TableDefinition,
};

use crate::pages::{PageChunk, PageRequest, PageSource};
use crate::read_projection::ReadProjection;
use crate::values::{WireItem, position_from_wire};
use crate::{Dynamo, range};

/// Number of concurrent queries.
const QUERIES_MAX: usize = 16;

impl Dynamo {
    pub(crate) async fn merge_page(
        &self,
        table: &TableDefinition,
        merge: &Merge,
    ) -> Result<ItemPage> {
        let index = merge.index.as_deref();
        let projection = ReadProjection::new(table, index, &merge.projection, true);
        let mut state = MergeState::new(merge);
        let mut capacity = Capacity::ZERO;
        loop {
            let incomplete = state.incomplete();
            if incomplete.is_empty() {
                break;
            }
            // Requests are built lazily: a hundred thousand at once would take gigabytes.
            let chunks: Vec<_> = stream::iter(incomplete)
                .map(|at| self.refill(table, &state, at))
                .buffer_unordered(QUERIES_MAX)
                .try_collect()
                .await?;
            for (at, chunk) in chunks {
                capacity += chunk.capacity;
                state.add(table, at, chunk)?;
            }
        }
        let (first, more) = state.finish();
        let next = if more { first.last().map(MergeEntry::position) } else { None };
        let items: Vec<Item> =
            first.into_iter().map(|entry| projection.apply(entry.item)).collect();
        let evaluated = items.len();
        Ok(ItemPage { items, next, evaluated, capacity })
    }

    async fn refill(
        &self,
        table: &TableDefinition,
        state: &MergeState<'_>,
        at: usize,
    ) -> Result<(usize, PageChunk)> {
        let merge = state.merge;
        let index = merge.index.as_deref();
        let partition = state.partitions.get(at).ok_or_else(|| Error::Unexpected {
            detail: String::from("a merge lost a partition"),
        })?;
        let source = PageSource::Partition {
            partition: &partition.key,
            range: &partition.range,
            order: merge.order,
        };
        let projection = ReadProjection::new(table, index, &merge.projection, true);
        let request = PageRequest { table, index, source, filter: None, projection, strong: false };
        Ok((
            at,
            self.read_chunk(&request, Some(partition.page_size), partition.last.clone()).await?,
        ))
    }
}

/// An item with its keys.
struct MergeEntry {
    /// The key in the merged index or table.
    key: Key,
    base: Key,
    indexed: bool,
    item: Item,
}

impl MergeEntry {
    fn position(&self) -> Position {
        Position { base: self.base.clone(), index: self.indexed.then(|| self.key.clone()) }
    }
}

/// The order of entries: by sort key, then partition, then primary key.
#[derive(Clone, Copy)]
struct EntryOrder<'a> {
    sort: Option<&'a Scalar>,
    partition: &'a Scalar,
    base: Option<&'a Key>,
}

impl<'a> EntryOrder<'a> {
    fn of(key: &'a Key, base: &'a Key) -> Self {
        Self { sort: key.sort.as_ref(), partition: &key.partition, base: Some(base) }
    }

    fn compare(self, other: Self, order: Order) -> Ordering {
        let ascending =
            (self.sort, self.partition).cmp(&(other.sort, other.partition)).then_with(|| {
                match (self.base, other.base) {
                    (Some(base), Some(other)) => base.cmp(other),
                    _ => Ordering::Equal,
                }
            });
        match order {
            Order::Ascending => ascending,
            Order::Descending => ascending.reverse(),
        }
    }
}

struct MergePartition {
    key: Scalar,
    range: SortRange,
    entries: Vec<MergeEntry>,
    /// End of the last chunk; `None` before the first.
    last: Option<WireItem>,
    /// The sort key at `last`.
    reached: Option<Scalar>,
    done: bool,
    page_size: usize,
}

impl MergePartition {
    /// Returns whether no unread item of the partition can come before this entry. In an index, DynamoDB
    /// returns items of equal sort keys in an unspecified order, so all of them must be read first.
    fn is_settled(&self, entry: &MergeEntry) -> bool {
        self.done || !entry.indexed || entry.key.sort != self.reached
    }
}

struct MergeState<'a> {
    merge: &'a Merge,
    partitions: Vec<MergePartition>,
}

impl<'a> MergeState<'a> {
    fn new(merge: &'a Merge) -> Self {
        let start = merge.start.as_ref().map(|at| at.index.as_ref().unwrap_or(&at.base));
        let share = (2 * merge.limit).div_ceil(merge.partitions.len().max(1));
        // The item a page starts after is fetched again.
        let page_size = share.clamp(1, merge.limit) + usize::from(start.is_some());
        let partitions = merge.partitions.iter().map(|key| {
            let range = match start.and_then(|key| key.sort.as_ref()) {
                Some(sort) => range::starting_at(&merge.sort, merge.order, sort),
                None => Some(merge.sort.clone()),
            };
            MergePartition {
                key: key.clone(),
                done: range.is_none(),
                range: range.unwrap_or_default(),
                entries: Vec::new(),
                last: None,
                reached: None,
                page_size,
            }
        });
        Self { merge, partitions: partitions.collect() }
    }

    fn add(&mut self, table: &TableDefinition, at: usize, chunk: PageChunk) -> Result<()> {
        let index = self.merge.index.as_deref();
        let start = self.merge.start.as_ref();
        let order = self.merge.order;
        let Some(partition) = self.partitions.get_mut(at) else { return Ok(()) };
        // Without a sort key, a partition is one item, even if the server reports more.
        let single = index.is_none() && table.key.sort.is_none();
        partition.done = single || chunk.last.is_none();
        for item in chunk.items {
            let Some(position) = Position::of(table, index, &item) else { continue };
            let Position { base, index } = position;
            let indexed = index.is_some();
            let key = index.unwrap_or_else(|| base.clone());
            if key.sort.as_ref().is_some_and(|sort| !self.merge.sort.contains(sort)) {
                partition.done = true;
                break;
            }
            let after = start.is_none_or(|start| {
                let start =
                    EntryOrder::of(start.index.as_ref().unwrap_or(&start.base), &start.base);
                EntryOrder::of(&key, &base).compare(start, order).is_gt()
            });
            if after {
                partition.entries.push(MergeEntry { key, base, indexed, item });
            }
        }
        if let Some(last) = chunk.last {
            let position = position_from_wire(table, index, last.clone())?;
            partition.reached = position.index.unwrap_or(position.base).sort;
            partition.last = Some(last);
        }
        partition.page_size = (partition.page_size * 2).min(self.merge.limit + 1);
        Ok(())
    }

    /// Returns the partitions whose unread items could be among the first.
    fn incomplete(&self) -> Vec<usize> {
        let order = self.merge.order;
        let mut settled: Vec<EntryOrder<'_>> = self
            .partitions
            .iter()
            .flat_map(|partition| {
                partition.entries.iter().filter(|entry| partition.is_settled(entry))
            })
            .map(|entry| EntryOrder::of(&entry.key, &entry.base))
            .collect();
        let nth = self.merge.limit - 1;
        let bound = (nth < settled.len())
            .then(|| *settled.select_nth_unstable_by(nth, |a, b| a.compare(*b, order)).1);
        let ties = self.merge.index.is_some();
        let needs = |partition: &MergePartition| match (&partition.last, bound) {
            (Some(_), Some(bound)) => {
                let sort = partition.reached.as_ref();
                let reached = EntryOrder { sort, partition: &partition.key, base: None };
                let compared = reached.compare(bound, order);
                compared.is_lt() || (ties && compared.is_eq())
            }
            _ => true,
        };
        let partitions = self.partitions.iter().enumerate();
        partitions
            .filter(|(_, partition)| !partition.done && needs(partition))
            .map(|(at, _)| at)
            .collect()
    }

    /// Returns the first items, and whether there may be more.
    fn finish(self) -> (Vec<MergeEntry>, bool) {
        let unread = self.partitions.iter().any(|partition| !partition.done);
        let order = self.merge.order;
        let mut entries: Vec<MergeEntry> =
            self.partitions.into_iter().flat_map(|partition| partition.entries).collect();
        entries.sort_by(|a, b| {
            EntryOrder::of(&a.key, &a.base).compare(EntryOrder::of(&b.key, &b.base), order)
        });
        let more = unread || entries.len() > self.merge.limit;
        entries.truncate(self.merge.limit);
        (entries, more)
    }
}
