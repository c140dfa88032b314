//! Our engine through its public API, on a tokio runtime.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use roundtable_engine::{Engine, Metrics, Options};
use roundtable_table::{BatchWrite, Get, Item, Put, Query, SharedBackend, Store, Table, limits};
use roundtable_test_client::Samples;
use tokio::runtime::{Builder, Runtime};

use super::data::{Address, Town, definition};
use super::subject::{Subject, WriteStats};
use crate::progress::Progress;

/// Concurrent callers of a bulk load, each with one batch at a time.
const LOADERS: usize = 32;

pub(crate) struct Ours {
    engine: Arc<Engine>,
    table: Table,
    runtime: Runtime,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadStats {
    pub(crate) elapsed: Duration,
    /// The longest wait of one call.
    pub(crate) longest_wait: Duration,
}

impl Ours {
    pub(crate) fn open(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let runtime = Builder::new_multi_thread().enable_time().build()?;
        let engine = Engine::open(dir, Options::default()).context("opening the engine")?;
        let engine = Arc::new(engine);
        let backend: SharedBackend = Arc::<Engine>::clone(&engine);
        let table = runtime.block_on(Store::shared(backend).create_table(definition()))?;
        Ok(Self { engine, table, runtime })
    }

    pub(crate) fn metrics(&self) -> Metrics {
        self.engine.metrics()
    }

    /// Writes activities in batches from many concurrent callers.
    pub(crate) fn load(
        &self,
        town: Town,
        numbers: Range<u64>,
        progress: &Arc<Progress>,
    ) -> Result<LoadStats> {
        let batch = u64::try_from(limits::BATCH_WRITE_ITEMS_MAX)?;
        let next = Arc::new(AtomicU64::new(numbers.start));
        let started = Instant::now();
        let callers = (0..LOADERS).map(|_| {
            let (table, next, progress) =
                (self.table.clone(), Arc::clone(&next), Arc::clone(progress));
            let end = numbers.end;
            self.runtime.spawn(async move {
                let mut longest = Duration::ZERO;
                loop {
                    let from = next.fetch_add(batch, Ordering::Relaxed);
                    let part = from..end.min(from.saturating_add(batch));
                    if part.is_empty() {
                        return Ok::<_, anyhow::Error>(longest);
                    }
                    let count = part.end - part.start;
                    let writes = part.map(|n| BatchWrite::Put(town.activity(n))).collect();
                    let asked = Instant::now();
                    table.batch_write(writes).await?;
                    longest = longest.max(asked.elapsed());
                    progress.add(count);
                }
            })
        });
        let waits = self.runtime.block_on(try_join_all(callers))?;
        let waits = waits.into_iter().collect::<Result<Vec<_>>>()?;
        let longest_wait = waits.into_iter().max().unwrap_or_default();
        Ok(LoadStats { elapsed: started.elapsed(), longest_wait })
    }

    pub(crate) fn has(&self, address: &Address) -> Result<bool> {
        Ok(self.runtime.block_on(read(&self.table, address))?.is_some())
    }

    /// Writes later activities from `callers` callers forever, and reports each acknowledged number.
    pub(crate) fn write_forever(
        &self,
        town: Town,
        from: u64,
        callers: usize,
        send_number: impl Fn(u64) + Clone + Send + 'static,
    ) -> Result<()> {
        let next = Arc::new(AtomicU64::new(from));
        let tasks = (0..callers).map(|_| {
            let (table, next, send_number) =
                (self.table.clone(), Arc::clone(&next), send_number.clone());
            self.runtime.spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    table.put(Put::new(town.activity(number))).await?;
                    send_number(number);
                }
            })
        });
        let ends: Vec<Result<()>> = self.runtime.block_on(try_join_all(tasks))?;
        ends.into_iter().collect()
    }

    async fn write_together(
        table: &Table,
        callers: usize,
        window: Duration,
        pool: &[Item],
    ) -> Result<WriteStats> {
        // Tasks outlive borrows; sharing the pool costs one reference count per item before timing starts.
        let pool: Arc<[Item]> = pool.into();
        let next = Arc::new(AtomicUsize::new(0));
        let started = Instant::now();
        let tasks = (0..callers).map(|_| {
            let (table, pool, next) = (table.clone(), Arc::clone(&pool), Arc::clone(&next));
            tokio::spawn(async move {
                let mut waits = Samples::default();
                while started.elapsed() < window {
                    let Some(item) = pool.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    let asked = Instant::now();
                    table.put(Put::new(item.clone())).await?;
                    waits.add_since(asked);
                }
                Ok::<_, anyhow::Error>(waits)
            })
        });
        let mut waits = Samples::default();
        for samples in try_join_all(tasks).await? {
            waits.extend(&samples?);
        }
        Ok(WriteStats { count: waits.len() as u64, elapsed: started.elapsed(), waits })
    }
}

async fn read(table: &Table, address: &Address) -> Result<Option<Item>> {
    let key = (address.partition.as_str(), address.sort.as_str());
    Ok(table.get(Get::new(key)).await?.item)
}

impl Subject for Ours {
    fn fill(&mut self, town: Town) -> Result<Duration> {
        let progress = Arc::new(Progress::new("filling ours", town.first().end));
        Ok(self.load(town, town.first(), &progress)?.elapsed)
    }

    fn get_each(&mut self, addresses: &[Address]) -> Result<Samples> {
        self.runtime.block_on(async {
            let mut samples = Samples::with_capacity(addresses.len());
            for address in addresses {
                let started = Instant::now();
                let found = read(&self.table, address).await?;
                samples.add_since(started);
                found.with_context(|| format!("ours lost {address:?}"))?;
            }
            Ok(samples)
        })
    }

    fn newest_each(&mut self, partitions: &[String], limit: usize) -> Result<Samples> {
        self.runtime.block_on(async {
            let mut samples = Samples::with_capacity(partitions.len());
            for partition in partitions {
                let started = Instant::now();
                let query = Query::new(partition).descending().limit(limit);
                let page = self.table.query(query).await?;
                samples.add_since(started);
                ensure!(page.items.len() == limit, "ours has {} items", page.items.len());
            }
            Ok(samples)
        })
    }

    fn tune(&mut self, _callers: usize, _pool: &[Item]) -> Result<Option<String>> {
        Ok(None)
    }

    fn write_for(&mut self, callers: usize, window: Duration, pool: &[Item]) -> Result<WriteStats> {
        self.runtime.block_on(Self::write_together(&self.table, callers, window, pool))
    }

    fn feed(&mut self, items: &[Item], per_sync: usize) -> Result<Duration> {
        self.runtime.block_on(async {
            let started = Instant::now();
            for chunk in items.chunks(per_sync) {
                let batches = chunk.chunks(limits::BATCH_WRITE_ITEMS_MAX).map(|batch| {
                    self.table.batch_write(batch.iter().cloned().map(BatchWrite::Put).collect())
                });
                try_join_all(batches).await?;
            }
            Ok(started.elapsed())
        })
    }

    fn get_beside(
        &mut self,
        addresses: &[Address],
        writers: usize,
        window: Duration,
        pool: &[Item],
    ) -> Result<(Samples, WriteStats)> {
        let ended = AtomicBool::new(false);
        let (runtime, table) = (&self.runtime, &self.table);
        thread::scope(|scope| {
            let reading = scope.spawn(|| {
                runtime.block_on(async {
                    let mut samples = Samples::default();
                    for address in addresses.iter().cycle() {
                        if ended.load(Ordering::Relaxed) {
                            break;
                        }
                        let started = Instant::now();
                        let found = read(table, address).await?;
                        samples.add_since(started);
                        found.with_context(|| format!("ours lost {address:?}"))?;
                    }
                    Ok::<_, anyhow::Error>(samples)
                })
            });
            let written = runtime.block_on(Self::write_together(table, writers, window, pool));
            ended.store(true, Ordering::Relaxed);
            let samples = reading.join();
            let samples = samples.unwrap_or_else(|_| Err(anyhow::anyhow!("the reader panicked")));
            Ok((samples?, written?))
        })
    }
}
