//! A store whose stream is split into shards, as DynamoDB's is: by key, so that even what belongs to
//! one post comes in several; parents end and have children; and sequences of different shards say
//! nothing about each other. It also says that other processes work on it.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_conformance::Reference;
use roundtable_model::table::{
    Backend, BatchGet, BatchWrite, Capabilities, Capacity, Delete, Found, FoundMany, Get, Key,
    Merge, Page, Put, Query, Result, Scan, Sequence, Shard, StreamPage, StreamRead, StreamStart,
    TableDefinition, TableGet, Transaction, Update, Written,
};

/// How far the sequences of the odd shards are ahead of the even ones.
const AHEAD: u64 = 1_000_000;

/// A store with shards.
#[derive(Debug)]
pub(crate) struct Split {
    inner: Reference,
    /// The sequences at which all shards ended and had children.
    cuts: Mutex<Vec<u64>>,
    /// How many changes it has shown.
    shown: AtomicUsize,
}

impl Split {
    pub(crate) fn new(inner: Reference) -> Self {
        Self { inner, cuts: Mutex::default(), shown: AtomicUsize::new(0) }
    }

    /// How many changes it has shown to anybody.
    pub(crate) fn shown(&self) -> usize {
        self.shown.load(Ordering::SeqCst)
    }

    /// Ends every shard here; each has a child, the first has two.
    pub(crate) async fn cut(&self, table: &TableDefinition) {
        let latest = self.inner_read(table, StreamStart::Latest, 1).await.unwrap();
        let at = latest.next.and_then(|sequence| sequence.to_u64()).unwrap_or(0);
        self.cuts.lock().push(at);
    }

    async fn inner_read(
        &self,
        table: &TableDefinition,
        start: StreamStart,
        limit: usize,
    ) -> Result<StreamPage> {
        let wait = std::time::Duration::ZERO;
        let read = StreamRead { shard: "all".into(), start, limit, wait };
        self.inner.stream_read(table, read).await
    }
}

/// Which half of the items.
fn half(key: &Key) -> u64 {
    key.to_string().bytes().map(u64::from).sum::<u64>() % 2
}

fn name(generation: usize, half: u64) -> String {
    if generation == 0 { "g0".into() } else { format!("g{generation}-{half}") }
}

#[async_trait]
impl Backend for Split {
    fn capabilities(&self) -> Capabilities {
        Capabilities { one_process: false, ..self.inner.capabilities() }
    }

    async fn stream_shards(&self, _: &TableDefinition) -> Result<Vec<Shard>> {
        let mut shards = vec![Shard { id: name(0, 0), parent: None }];
        for generation in 1..=self.cuts.lock().len() {
            for half in 0..2 {
                let parent = Some(name(generation - 1, half));
                shards.push(Shard { id: name(generation, half), parent });
            }
        }
        Ok(shards)
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        let cuts = self.cuts.lock().clone();
        let (generation, own): (usize, u64) =
            match read.shard.strip_prefix('g').unwrap().split_once('-') {
                Some((generation, half)) => (generation.parse().unwrap(), half.parse().unwrap()),
                None => (0, 0),
            };
        let from =
            generation.checked_sub(1).and_then(|before| cuts.get(before)).copied().unwrap_or(0);
        let to = cuts.get(generation).copied().unwrap_or(u64::MAX);
        let ahead = if generation > 0 && own == 1 { AHEAD } else { 0 };
        let after = match &read.start {
            StreamStart::After(sequence) => sequence.to_u64().unwrap() - ahead,
            _ => from,
        };
        let start = StreamStart::After(Sequence::from(after));
        let page = self.inner_read(table, start, 1_000).await?;
        let number = |sequence: &Sequence| sequence.to_u64().unwrap();
        let mine = page.changes.into_iter().filter(|change| {
            number(&change.sequence) <= to && (generation == 0 || half(&change.key) == own)
        });
        let mut changes: Vec<_> = mine.take(read.limit).collect();
        let full = changes.len() == read.limit;
        for change in &mut changes {
            change.sequence = Sequence::from(number(&change.sequence) + ahead);
        }
        self.shown.fetch_add(changes.len(), Ordering::SeqCst);
        let last = changes.last().map(|change| change.sequence.clone());
        let next = last.or(match read.start {
            StreamStart::After(sequence) => Some(sequence),
            _ => None,
        });
        if changes.is_empty() && !read.wait.is_zero() {
            tokio::time::sleep(read.wait.min(std::time::Duration::from_millis(1))).await;
        }
        Ok(StreamPage { changes, next, ended: to < u64::MAX && !full })
    }

    async fn create_table(&self, definition: &TableDefinition) -> Result<()> {
        self.inner.create_table(definition).await
    }

    async fn describe_table(&self, name: &str) -> Result<TableDefinition> {
        self.inner.describe_table(name).await
    }

    async fn list_tables(&self) -> Result<Vec<String>> {
        self.inner.list_tables().await
    }

    async fn delete_table(&self, name: &str) -> Result<()> {
        self.inner.delete_table(name).await
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<Found> {
        self.inner.get(table, get).await
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<FoundMany> {
        self.inner.batch_get(table, batch).await
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<FoundMany> {
        self.inner.transact_get(gets).await
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<Written> {
        self.inner.put(table, put).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<Written> {
        self.inner.update(table, update).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<Written> {
        self.inner.delete(table, delete).await
    }

    async fn batch_write(&self, t: &TableDefinition, writes: Vec<BatchWrite>) -> Result<Capacity> {
        self.inner.batch_write(t, writes).await
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        self.inner.transact_write(transaction).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<Page> {
        self.inner.query(table, query).await
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<Page> {
        self.inner.scan(table, scan).await
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<Page> {
        self.inner.merge(table, merge).await
    }
}
