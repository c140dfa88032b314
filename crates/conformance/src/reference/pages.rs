//! Pages of the reference backend: collect all rows, sort them, cut a page.

use std::hash::{DefaultHasher, Hash, Hasher};

use roundtable_table::{
    Capacity, Condition, IndexDefinition, Invalid, Item, ItemPage, Key, Merge, Order, Path,
    Position, Query, ReadMode, Scalar, Scan, Walk, WalkPage, limits, project_index,
};

use super::tables::{TableState, projected};

/// An item in the table or an index, and its position there.
struct Row {
    item: Item,
    place: Key,
    base: Key,
    is_index: bool,
}

impl Row {
    fn position(&self) -> Position {
        let index = self.is_index.then(|| self.place.clone());
        Position { base: self.base.clone(), index }
    }
}

/// The limit, filter and projection of a page.
struct Cut<'a> {
    limit: Option<usize>,
    filter: Option<&'a Condition>,
    projection: &'a [Path],
    mode: ReadMode,
}

impl TableState {
    fn rows(&self, index: Option<&str>, now: u64) -> Result<Vec<Row>, Invalid> {
        let index = index.map(|name| self.definition.index(name)).transpose()?;
        let rows = self.all(now).filter_map(|(key, item)| self.row(index, key, item).transpose());
        rows.collect()
    }

    fn row(
        &self,
        index: Option<&IndexDefinition>,
        key: &Key,
        item: &Item,
    ) -> Result<Option<Row>, Invalid> {
        let (item, place, base) = (item.clone(), key.clone(), key.clone());
        let Some(index) = index else {
            return Ok(Some(Row { item, place, base, is_index: false }));
        };
        let place = index.key_of(&item)?;
        let item = project_index(&self.definition, index, &item);
        Ok(place.map(|place| Row { item, place, base, is_index: true }))
    }

    pub(super) fn query(&self, query: &Query, now: u64) -> Result<ItemPage, Invalid> {
        let mut rows = self.rows(query.index.as_deref(), now)?;
        rows.retain(|row| row.place.partition == query.partition);
        rows.retain(|row| row.place.sort.as_ref().is_none_or(|sort| query.sort.contains(sort)));
        let place = |row: &Row| (row.place.clone(), row.base.clone());
        let start = query.start.as_ref().map(|start| (place_of(start), start.base.clone()));
        let rows = in_order(rows, query.order, start.as_ref(), place);
        Ok(cut(
            rows,
            &Cut {
                limit: query.limit,
                filter: query.filter.as_ref(),
                projection: &query.projection,
                mode: ReadMode::of(query.strong),
            },
        ))
    }

    pub(super) fn scan(&self, scan: &Scan, now: u64) -> Result<ItemPage, Invalid> {
        let mut rows = self.rows(scan.index.as_deref(), now)?;
        if let Some((segment, total)) = scan.segment {
            rows.retain(|row| segment_of(&row.place.partition, total) == segment);
        }
        let place = |row: &Row| (row.place.clone(), row.base.clone());
        let start = scan.start.as_ref().map(|start| (place_of(start), start.base.clone()));
        let rows = in_order(rows, Order::Ascending, start.as_ref(), place);
        Ok(cut(
            rows,
            &Cut {
                limit: scan.limit,
                filter: scan.filter.as_ref(),
                projection: &scan.projection,
                mode: ReadMode::of(scan.strong),
            },
        ))
    }

    pub(super) fn merge(&self, merge: &Merge, now: u64) -> Result<ItemPage, Invalid> {
        let mut rows = self.rows(merge.index.as_deref(), now)?;
        rows.retain(|row| merge.partitions.contains(&row.place.partition));
        rows.retain(|row| row.place.sort.as_ref().is_none_or(|sort| merge.sort.contains(sort)));
        let by_sort =
            |place: &Key, base: &Key| (place.sort.clone(), place.partition.clone(), base.clone());
        let start = merge.start.as_ref().map(|start| by_sort(&place_of(start), &start.base));
        let place = |row: &Row| by_sort(&row.place, &row.base);
        let rows = in_order(rows, merge.order, start.as_ref(), place);
        // Each partition is a separate query, and costs at least a minimum.
        let costs = merge.partitions.iter().map(|partition| {
            let taken = rows.iter().take(merge.limit);
            let sizes = taken.filter(|row| row.place.partition == *partition);
            Capacity::read(sizes.map(|row| row.item.size()).sum(), ReadMode::Eventual)
        });
        let capacity = costs.sum();
        let page = cut(
            rows,
            &Cut {
                limit: Some(merge.limit),
                filter: None,
                projection: &merge.projection,
                mode: ReadMode::Eventual,
            },
        );
        Ok(ItemPage { capacity, ..page })
    }
}

impl TableState {
    pub(super) fn walk(&self, walk: &Walk<'_>, now: u64) -> WalkPage {
        let rows = self.all(now).filter_map(|(key, item)| {
            let sort = self.definition.sort_in_order(item)?;
            let is_below = walk.below.as_deref().is_none_or(|below| sort < below);
            is_below.then_some((sort, &key.partition, item))
        });
        let mut rows: Vec<(&str, &Scalar, &Item)> = rows.collect();
        rows.sort_by(|one, other| (other.0, other.1).cmp(&(one.0, one.1)));
        let (mut items, mut passed, mut bytes): (Vec<Item>, _, _) = (Vec::new(), 0, 0);
        let mut last = None;
        for (sort, partition, item) in rows {
            let is_full = items.len() >= walk.limit || passed >= walk.passed_max;
            if (is_full || bytes >= limits::PAGE_BYTES_MAX) && last != Some(sort) {
                let down_to = last.map(str::to_owned);
                return WalkPage { items, down_to, capacity: cost(bytes) };
            }
            passed += 1;
            last = Some(sort);
            if matches!(partition, Scalar::S(partition) if (walk.wants)(partition)) {
                bytes += item.size();
                items.push(item.clone());
            }
        }
        WalkPage { items, down_to: None, capacity: cost(bytes) }
    }
}

fn cost(bytes: usize) -> Capacity {
    Capacity::read(bytes, ReadMode::Strong)
}

fn place_of(start: &Position) -> Key {
    start.index.as_ref().unwrap_or(&start.base).clone()
}

fn segment_of(partition: &Scalar, total: u32) -> u32 {
    let mut hasher = DefaultHasher::new();
    partition.hash(&mut hasher);
    u32::try_from(hasher.finish() % u64::from(total)).unwrap_or(0)
}

/// The rows in order, after `start`.
fn in_order<P: Ord>(
    mut rows: Vec<Row>,
    order: Order,
    start: Option<&P>,
    place: impl Fn(&Row) -> P,
) -> Vec<Row> {
    rows.sort_by_cached_key(&place);
    match order {
        Order::Ascending => rows.retain(|row| start.is_none_or(|start| place(row) > *start)),
        Order::Descending => {
            rows.reverse();
            rows.retain(|row| start.is_none_or(|start| place(row) < *start));
        }
    }
    rows
}

/// The first rows, up to the limit or the size of a page; then the filter, then the projection.
fn cut(rows: Vec<Row>, cut: &Cut<'_>) -> ItemPage {
    let (mut items, mut evaluated, mut bytes, mut next) = (Vec::new(), 0, 0, None);
    for row in rows {
        evaluated += 1;
        bytes += row.item.size();
        if cut.filter.is_none_or(|filter| filter.holds(Some(&row.item))) {
            items.push(projected(&row.item, cut.projection));
        }
        // Like DynamoDB, even if nothing follows.
        if cut.limit == Some(evaluated) || bytes >= limits::PAGE_BYTES_MAX {
            next = Some(row.position());
            break;
        }
    }
    ItemPage { items, next, evaluated, capacity: Capacity::read(bytes, cut.mode) }
}
