//! The recorder of walks: readers read pages while writers put, move and delete.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_table::{
    Delete, Error, Item, ItemPage, Key, KeyDefinition, Merge, Order, Position, Put, Query, Result,
    Scan, Store, Table, TableDefinition, item,
};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::paging::{
    ItemWrite, PARTITIONS, ReadPage, View, Walk, WalkRecord, partition_of, rank_of, sort_of,
};
use super::record::{Ticks, fresh_table, pause};

const ITEMS: usize = 24;
const WRITERS: usize = 3;
const WRITES_PER_WRITER: usize = 40;
const READERS: usize = 3;
const WALKS_PER_READER: usize = 5;

/// Small, so that there are many page boundaries.
const PAGE_ITEMS_MAX: usize = 4;

/// Far more pages than a walk over [`ITEMS`] needs: a longer walk is in a loop.
const PAGES_MAX: usize = 10 * ITEMS;

const INDEX: &str = "by-rank";
const INDEX_PARTITION: &str = "R";

/// Lets readers walk while writers write, on a new table of `store`.
pub async fn walk(store: &Store, seed: u64) -> Result<WalkRecord> {
    let definition =
        TableDefinition::new(format!("history-paging-{seed}"), KeyDefinition::texts("pk", "sk"))
            .with_index(INDEX, KeyDefinition::texts("ranked", "rank"));
    let table = fresh_table(store, definition).await?;
    let ticks = Ticks::default();
    let mut walk_record = WalkRecord::default();
    for item in 0..ITEMS {
        let asked = ticks.now();
        let answered = answer(table.put(Put::new(stored(item, Some(item)))).await, &ticks)?;
        walk_record.writes.push(ItemWrite {
            asked,
            answered,
            item,
            present: true,
            rank: Some(item),
        });
    }
    let pace = Arc::new(WriterPace::default());
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let rng = SmallRng::seed_from_u64(seed.wrapping_mul(100) ^ (50 + writer as u64));
        // An item whose last write may still be in progress is not written again.
        let settled = walk_record.writes.iter().filter(|write| write.answered.is_some());
        let own = settled.map(|write| write.item).filter(|item| may_write(*item, writer)).collect();
        writers.spawn(write(table.clone(), ticks.clone(), rng, own, ActiveWriter::new(&pace)));
    }
    let mut readers = JoinSet::new();
    for reader in 0..READERS {
        let rng = SmallRng::seed_from_u64(seed.wrapping_mul(100) ^ reader as u64);
        readers.spawn(read(table.clone(), ticks.clone(), rng, reader, Arc::clone(&pace)));
    }
    for walks in readers.join_all().await {
        walk_record.walks.extend(walks?);
    }
    for writes in writers.join_all().await {
        walk_record.writes.extend(writes?);
    }
    Ok(walk_record)
}

/// The views that the backend can read strongly.
fn views(store: &Store) -> Vec<View> {
    let mut views =
        vec![View::Partition(Order::Ascending), View::Partition(Order::Descending), View::Scan];
    if store.capabilities().strong_index_reads {
        let orders = [Order::Ascending, Order::Descending];
        views.extend(orders.map(View::Index));
        views.extend(orders.map(View::Merge));
    }
    views
}

fn stored(number: usize, rank: Option<usize>) -> Item {
    let item = item! { "pk" => partition_of(number), "sk" => sort_of(number) };
    match rank {
        None => item,
        Some(rank) => item.with("ranked", INDEX_PARTITION).with("rank", rank_of(rank, number)),
    }
}

/// Returns `true` if `writer` may write `item`; every third item is never written.
const fn may_write(item: usize, writer: usize) -> bool {
    item % WRITERS == writer && !(item / WRITERS).is_multiple_of(3)
}

/// The end time of a write; `None` if its outcome is unknown.
fn answer<T>(done: Result<T>, ticks: &Ticks) -> Result<Option<u64>> {
    match done {
        Ok(_) => Ok(Some(ticks.now())),
        Err(Error::Unavailable { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Lets readers wait for a write between pages, so that they do not outrun slow writers.
#[derive(Debug, Default)]
struct WriterPace {
    written: Notify,
    writers: AtomicUsize,
}

impl WriterPace {
    async fn next_write(&self) {
        // Registered before the writers are counted, so that the last write is not missed.
        let next = self.written.notified();
        if self.writers.load(Ordering::SeqCst) > 0 {
            next.await;
        }
    }
}

/// Counts a writer as active until it is dropped.
struct ActiveWriter(Arc<WriterPace>);

impl ActiveWriter {
    fn new(pace: &Arc<WriterPace>) -> Self {
        pace.writers.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(pace))
    }
}

impl Drop for ActiveWriter {
    fn drop(&mut self) {
        self.0.writers.fetch_sub(1, Ordering::SeqCst);
        self.0.written.notify_waiters();
    }
}

/// Puts, moves and deletes the writer's own items.
async fn write(
    table: Table,
    ticks: Ticks,
    mut rng: SmallRng,
    mut own: Vec<usize>,
    writing: ActiveWriter,
) -> Result<Vec<ItemWrite>> {
    let mut writes = Vec::new();
    for _ in 0..WRITES_PER_WRITER {
        if own.is_empty() {
            break;
        }
        let item = own.swap_remove(rng.random_range(0..own.len()));
        let present = rng.random_bool(0.6);
        let rank = (present && rng.random_bool(0.8)).then(|| rng.random_range(0..ITEMS));
        pause(&mut rng).await;
        let asked = ticks.now();
        let done = if present {
            table.put(Put::new(stored(item, rank))).await
        } else {
            table.delete(Delete::new(Key::new(partition_of(item), sort_of(item)))).await
        };
        let answered = answer(done, &ticks)?;
        own.extend(answered.map(|_| item));
        writes.push(ItemWrite { asked, answered, item, present, rank });
        writing.0.written.notify_waiters();
    }
    Ok(writes)
}

async fn read(
    table: Table,
    ticks: Ticks,
    mut rng: SmallRng,
    reader: usize,
    pace: Arc<WriterPace>,
) -> Result<Vec<Walk>> {
    let views = views(table.store());
    let mut walks = Vec::new();
    for number in 0..WALKS_PER_READER {
        // Readers begin at different views, so that every view is walked.
        let at = (reader * WALKS_PER_READER + number) % views.len();
        let view = views.get(at).copied().unwrap_or(View::Scan);
        let mut walk = Walk { view, pages: Vec::new(), ended: false };
        let mut start = None;
        while !walk.ended && walk.pages.len() < PAGES_MAX {
            let asked = ticks.now();
            let limit = rng.random_range(1..=PAGE_ITEMS_MAX);
            let page = page(&table, view, limit, start.take()).await?;
            let answered = ticks.now();
            let places = page.items.iter().map(|item| ItemWrite::place_of(view, item)).collect();
            walk.pages.push(ReadPage { asked, answered, places });
            start = page.next;
            walk.ended = start.is_none();
            pause(&mut rng).await;
            if rng.random_bool(0.5) {
                pace.next_write().await;
            }
        }
        walks.push(walk);
    }
    Ok(walks)
}

async fn page(
    table: &Table,
    view: View,
    limit: usize,
    start: Option<Position>,
) -> Result<ItemPage> {
    match view {
        View::Partition(order) => {
            let query = Query::new(PARTITIONS.first().copied().unwrap_or_default());
            table.query(Query { order, ..query.strong().limit(limit).after(start) }).await
        }
        View::Index(order) => {
            let query = Query::new(INDEX_PARTITION).index(INDEX);
            table.query(Query { order, ..query.strong().limit(limit).after(start) }).await
        }
        View::Merge(order) => {
            let merge = Merge::oldest(PARTITIONS, limit);
            table.merge(Merge { order, ..merge.after(start) }).await
        }
        View::Scan => table.scan(Scan::new().strong().limit(limit).after(start)).await,
    }
}
