//! Checks pages against the full contents of the other store.
//!
//! The contract leaves three details unspecified, and only those may differ: the order of items with
//! equal index keys, the order of partitions in a scan (and their segments), and whether the page that
//! ends with the last item has a next position.

use std::collections::BTreeSet;
use std::fmt::Debug;

use roundtable_table::{
    Capacity, Condition, Error, Item, ItemPage, Key, Merge, Order, Path, Position, Query, ReadMode,
    Result, Scalar, Scan, Table, TableDefinition, limits,
};

/// The description of a failed check.
pub(crate) type Mismatch = String;

/// An item with its key in the table or index, and its primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    key: Key,
    base: Key,
    item: Item,
}

impl Row {
    fn all(table: &TableDefinition, index: Option<&str>, items: Vec<Item>) -> Option<Vec<Self>> {
        let row = |item: Item| {
            let Position { base, index } = Position::of(table, index, &item)?;
            Some(Self { key: index.unwrap_or_else(|| base.clone()), base, item })
        };
        items.into_iter().map(row).collect()
    }

    fn is_at(&self, position: &Position) -> bool {
        self.base == position.base && self.key == *page_key(position)
    }
}

fn page_key(position: &Position) -> &Key {
    position.index.as_ref().unwrap_or(&position.base)
}

/// The limits, filter and projection of a page.
struct PageSpec<'a> {
    limit: usize,
    bytes_max: usize,
    filter: Option<&'a Condition>,
    projection: &'a [Path],
    /// `None` if the cost is unspecified.
    mode: Option<ReadMode>,
}

impl PageSpec<'_> {
    /// Returns whether `page` has the first of `rows`.
    fn matches(&self, rows: &[Row], page: &ItemPage) -> bool {
        let mut bytes = 0;
        let enough = rows.iter().position(|row| {
            bytes += row.item.size();
            bytes >= self.bytes_max
        });
        let count = enough.map_or(rows.len(), |at| at + 1).min(self.limit).min(rows.len());
        let (looked_at, rest) = rows.split_at(count);
        let shown = looked_at.iter().filter(|row| self.shows(&row.item));
        let items = shown.map(|row| match self.projection {
            [] => row.item.clone(),
            paths => row.item.project(paths),
        });
        let sizes = looked_at.iter().map(|row| row.item.size());
        let next = match &page.next {
            Some(next) => looked_at.last().is_some_and(|last| last.is_at(next)),
            None => rest.is_empty(),
        };
        items.eq(page.items.iter().cloned())
            && page.evaluated == count
            && self.mode.is_none_or(|mode| page.capacity == Capacity::read(sizes.sum(), mode))
            && next
    }

    fn shows(&self, item: &Item) -> bool {
        self.filter.is_none_or(|filter| filter.holds(Some(item)))
    }

    /// Checks that `page` begins at one of the allowed starts.
    fn check(&self, rows: &[Row], starts: &[usize], page: &ItemPage) -> Result<(), Mismatch> {
        let from = |start: &usize| rows.get(*start..).unwrap_or_default();
        if starts.iter().any(|start| self.matches(from(start), page)) {
            return Ok(());
        }
        Err(format!("page {page:?}\nis not what follows any of {starts:?} in\n{rows:?}"))
    }
}

/// Compares two results, including errors.
pub(crate) fn same<T: PartialEq + Debug>(
    ours: Result<T>,
    theirs: Result<T>,
) -> Result<Option<T>, Mismatch> {
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) if ours == theirs => Ok(Some(ours)),
        (Err(ours), Err(theirs)) if debug_text(&ours) == debug_text(&theirs) => Ok(None),
        (ours, theirs) => Err(format!("engine: {ours:?}\n model: {theirs:?}")),
    }
}

fn debug_text(error: &Error) -> String {
    format!("{error:?}")
}

/// Compares two results that must both fail or both succeed; returns the pages.
fn both(
    ours: Result<ItemPage>,
    theirs: Result<ItemPage>,
) -> Result<Option<(ItemPage, ItemPage)>, Mismatch> {
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => Ok(Some((ours, theirs))),
        (ours, theirs) => same(ours, theirs).map(|_| None),
    }
}

async fn everything(
    mut read: impl AsyncFnMut(Option<Position>) -> Result<ItemPage>,
) -> Result<Vec<Item>, Mismatch> {
    let (mut items, mut start) = (Vec::new(), None);
    loop {
        let page =
            read(start).await.map_err(|error| format!("a further page failed: {error:?}"))?;
        items.extend(page.items);
        match page.next {
            Some(next) => start = Some(next),
            None => return Ok(items),
        }
    }
}

/// Checks that both have the same rows, in an order that differs only within equal `group`s.
fn check_listing<G: Ord + Debug>(
    ours: &[Row],
    theirs: &[Row],
    group: impl Fn(&Row) -> G,
) -> Result<(), Mismatch> {
    let groups = |rows: &[Row]| rows.iter().map(&group).collect::<Vec<_>>();
    if groups(ours) == groups(theirs) && sorted(ours) == sorted(theirs) {
        return Ok(());
    }
    Err(format!("everything in the engine: {ours:?}\n in the model: {theirs:?}"))
}

fn sorted(rows: &[Row]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| (&a.key, &a.base).cmp(&(&b.key, &b.base)));
    rows
}

/// Returns the indexes of `rows` at which a page after `start` may begin: one, unless `start` itself
/// is gone and others have its key.
fn starts<G: Ord>(
    rows: &[Row],
    start: Option<&Position>,
    order: Order,
    group: impl Fn(&Key) -> G,
) -> Vec<usize> {
    let Some(start) = start else { return vec![0] };
    if let Some(at) = rows.iter().position(|row| row.is_at(start)) {
        return vec![at + 1];
    }
    let goal = group(page_key(start));
    let is_before = |row: &Row| match order {
        Order::Ascending => group(&row.key) < goal,
        Order::Descending => group(&row.key) > goal,
    };
    let before = rows.iter().filter(|row| is_before(row)).count();
    let equal = rows.iter().filter(|row| group(&row.key) == goal).count();
    (before..=before + equal).collect()
}

/// Compares a query: the requested page, and all pages of its size.
pub(crate) async fn check_query(
    ours: &Table,
    theirs: &Table,
    query: &Query,
) -> Result<usize, Mismatch> {
    let pages = both(ours.query(query.clone()).await, theirs.query(query.clone()).await)?;
    let Some((page, model_page)) = pages else { return Ok(0) };
    let index = query.index.as_deref();
    let whole = Query { filter: None, projection: Vec::new(), limit: None, ..query.clone() };
    let read_all = async |table: &Table, limit: Option<usize>| {
        let read = async |start| table.query(Query { start, limit, ..whole.clone() }).await;
        let rows = Row::all(ours.definition(), index, everything(read).await?);
        rows.ok_or_else(|| String::from("an item lacks its keys"))
    };
    let rows = read_all(ours, None).await?;
    check_listing(&rows, &read_all(theirs, None).await?, |row| row.key.clone())?;
    if rows != read_all(ours, Some(2)).await? {
        return Err(format!("pages of two are not {rows:?}"));
    }
    let spec = PageSpec {
        limit: query.limit.unwrap_or(usize::MAX),
        bytes_max: limits::PAGE_BYTES_MAX,
        filter: query.filter.as_ref(),
        projection: &query.projection,
        mode: Some(ReadMode::of(query.strong)),
    };
    let starts = starts(&rows, query.start.as_ref(), query.order, Clone::clone);
    spec.check(&rows, &starts, &page)?;
    // Without an index nothing is unspecified, and the model's page must be the same.
    let plain = |page: ItemPage| ItemPage { next: None, ..page };
    if index.is_none() {
        same(Ok(plain(page)), Ok(plain(model_page)))?;
    }
    Ok(rows.len())
}

/// Compares a merge: the requested page, and all pages of its size.
pub(crate) async fn check_merge(
    ours: &Table,
    theirs: &Table,
    merge: &Merge,
) -> Result<usize, Mismatch> {
    let pages = both(ours.merge(merge.clone()).await, theirs.merge(merge.clone()).await)?;
    let Some((page, model_page)) = pages else { return Ok(0) };
    let index = merge.index.as_deref();
    let read_all = async |table: &Table, limit: usize| {
        let projection = Vec::new();
        let whole = Merge { limit, projection, ..merge.clone() };
        let read = async |start| table.merge(Merge { start, ..whole.clone() }).await;
        let rows = Row::all(ours.definition(), index, everything(read).await?);
        rows.ok_or_else(|| String::from("an item lacks its keys"))
    };
    let by_sort = |key: &Key| (key.sort.clone(), key.partition.clone());
    let rows = read_all(ours, 1000).await?;
    check_listing(&rows, &read_all(theirs, 1000).await?, |row| by_sort(&row.key))?;
    if rows != read_all(ours, merge.limit).await? {
        return Err(format!("pages of {} are not {rows:?}", merge.limit));
    }
    let spec = PageSpec {
        limit: merge.limit,
        bytes_max: usize::MAX,
        filter: None,
        projection: &merge.projection,
        mode: None,
    };
    let starts = starts(&rows, merge.start.as_ref(), merge.order, by_sort);
    spec.check(&rows, &starts, &page)?;
    // The minimum cost is a read of each partition.
    if page.capacity.read_halves < merge.partitions.len() as u64 {
        return Err(format!("{:?} is too cheap for {merge:?}", page.capacity));
    }
    if index.is_none() && page.items != model_page.items {
        return Err(format!("engine: {page:?}\n model: {model_page:?}"));
    }
    Ok(rows.len())
}

/// Compares a scan: the requested page, and all pages of all segments.
pub(crate) async fn check_scan(
    ours: &Table,
    theirs: &Table,
    scan: &Scan,
) -> Result<usize, Mismatch> {
    let pages = both(ours.scan(scan.clone()).await, theirs.scan(scan.clone()).await)?;
    let Some((page, _)) = pages else { return Ok(0) };
    let index = scan.index.as_deref();
    let projection = Vec::new();
    let whole = Scan { filter: None, projection, limit: None, segment: None, ..scan.clone() };
    let read_all = async |table: &Table, segment: Option<(u32, u32)>, limit: Option<usize>| {
        let read = async |start| table.scan(Scan { start, segment, limit, ..whole.clone() }).await;
        let rows = Row::all(ours.definition(), index, everything(read).await?);
        rows.ok_or_else(|| String::from("an item lacks its keys"))
    };
    let rows = read_all(ours, None, None).await?;
    let model_rows = read_all(theirs, None, None).await?;
    // Each partition is ordered; the order of partitions is unspecified.
    let partitions: BTreeSet<Scalar> = rows.iter().map(|row| row.key.partition.clone()).collect();
    if sorted(&rows) != sorted(&model_rows) || partition_runs(&rows) != partitions.len() {
        return Err(format!("everything in the engine: {rows:?}\n in the model: {model_rows:?}"));
    }
    for partition in &partitions {
        check_listing(&rows_of(&rows, partition), &rows_of(&model_rows, partition), |row| {
            row.key.clone()
        })?;
    }
    let mut requested = rows.clone();
    if let Some((segment, total)) = scan.segment {
        let mut all = Vec::new();
        for nth in 0..total {
            let part = read_all(ours, Some((nth, total)), Some(1 + nth as usize)).await?;
            if part != rows.iter().filter(|row| part.contains(row)).cloned().collect::<Vec<_>>() {
                return Err(format!("segment {nth} of {total} is out of order: {part:?}"));
            }
            all.extend(part.iter().cloned());
            if nth == segment {
                requested = part;
            }
        }
        if sorted(&all) != sorted(&rows) {
            return Err(format!("{total} segments have {all:?}\n and the table {rows:?}"));
        }
    }
    let spec = PageSpec {
        limit: scan.limit.unwrap_or(usize::MAX),
        bytes_max: limits::PAGE_BYTES_MAX,
        filter: scan.filter.as_ref(),
        projection: &scan.projection,
        mode: Some(ReadMode::of(scan.strong)),
    };
    spec.check(&requested, &scan_starts(&requested, scan.start.as_ref()), &page)?;
    Ok(rows.len())
}

fn rows_of(rows: &[Row], partition: &Scalar) -> Vec<Row> {
    rows.iter().filter(|row| row.key.partition == *partition).cloned().collect()
}

/// Returns the number of consecutive runs of a partition: one per partition, if none is split.
fn partition_runs(rows: &[Row]) -> usize {
    rows.chunk_by(|a, b| a.key.partition == b.key.partition).count()
}

/// Returns the allowed starts of a scan after `start`: within its partition, else before any.
fn scan_starts(rows: &[Row], start: Option<&Position>) -> Vec<usize> {
    let Some(position) = start else { return vec![0] };
    let mut allowed = Vec::new();
    let mut at = 0;
    for partition in rows.chunk_by(|a, b| a.key.partition == b.key.partition) {
        if partition.iter().any(|row| row.key.partition == page_key(position).partition) {
            let within = starts(partition, start, Order::Ascending, |key| key.sort.clone());
            return within.into_iter().map(|start| at + start).collect();
        }
        allowed.push(at);
        at += partition.len();
    }
    allowed.push(at);
    allowed
}
