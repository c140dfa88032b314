//! The measured stores, and the loops that time them.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use roundtable_table::Item;
use roundtable_test_client::{Samples, rate};

use super::data::{Address, Town};
use crate::progress::Progress;

/// Items per transaction when a peer is filled.
const FILL_BATCH: u64 = 10_000;

/// Writes of callers that each wait for one acknowledgement before the next write.
#[derive(Debug, Default)]
pub(crate) struct WriteStats {
    pub(crate) count: u64,
    /// From the first call to the last acknowledgement.
    pub(crate) elapsed: Duration,
    /// The wait for each acknowledgement.
    pub(crate) waits: Samples,
}

impl WriteStats {
    pub(crate) fn per_second(&self) -> f64 {
        rate(self.count, self.elapsed)
    }
}

/// One side of the comparison. Every write is on disk before it counts.
pub(crate) trait Subject {
    /// Writes the initial activities of the town, in batches of any size.
    fn fill(&mut self, town: Town) -> Result<Duration>;

    /// Times the read of each address by one caller.
    fn get_each(&mut self, addresses: &[Address]) -> Result<Samples>;

    /// Times the read of each partition's newest `limit` items by one caller.
    fn newest_each(&mut self, partitions: &[String], limit: usize) -> Result<Samples>;

    /// Finds the fastest way to serve `callers` concurrent writers, using items of `pool`; returns a
    /// note about it.
    fn tune(&mut self, callers: usize, pool: &[Item]) -> Result<Option<String>>;

    /// Writes items of `pool` one by one from `callers` callers until the window or the pool ends.
    fn write_for(&mut self, callers: usize, window: Duration, pool: &[Item]) -> Result<WriteStats>;

    /// Writes all items, synced at least every `per_sync`.
    fn feed(&mut self, items: &[Item], per_sync: usize) -> Result<Duration>;

    /// Times random reads by one caller while `writers` write as in [`Subject::write_for`].
    fn get_beside(
        &mut self,
        addresses: &[Address],
        writers: usize,
        window: Duration,
        pool: &[Item],
    ) -> Result<(Samples, WriteStats)>;
}

/// A blocking library; all of them share the loops below.
pub(crate) trait Peer: Sync {
    /// The state of a reading thread.
    type Reader;
    /// The state of a writing thread.
    type Writer: Send;

    /// The name in the report.
    const NAME: &'static str;

    fn open(dir: &Path) -> Result<Self>
    where
        Self: Sized;

    /// Finds the fastest way to serve `callers` writing threads.
    fn tune(&mut self, _callers: usize, _pool: &[Item]) -> Result<Option<String>> {
        Ok(None)
    }

    fn reader(&self) -> Result<Self::Reader>;

    fn writer(&self) -> Result<Self::Writer>;

    /// The item's stored bytes, owned.
    fn get(&self, reader: &mut Self::Reader, address: &Address) -> Result<Option<Vec<u8>>>;

    /// The stored bytes of the newest items of a partition, owned.
    fn newest(
        &self,
        reader: &mut Self::Reader,
        partition: &str,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>>;

    /// Writes items with their index entries and stream records in one durable transaction.
    fn write(&self, writer: &mut Self::Writer, items: &[Item]) -> Result<()>;
}

impl<P: Peer> Subject for P {
    fn fill(&mut self, town: Town) -> Result<Duration> {
        let mut writer = self.writer()?;
        let all = town.first();
        let progress = Progress::new(format!("filling {}", P::NAME), all.end);
        let mut spent = Duration::ZERO;
        for from in all.clone().step_by(usize::try_from(FILL_BATCH)?) {
            let batch = from..all.end.min(from + FILL_BATCH);
            let items: Vec<Item> = batch.map(|number| town.activity(number)).collect();
            let started = Instant::now();
            self.write(&mut writer, &items)?;
            spent += started.elapsed();
            progress.add(items.len() as u64);
        }
        Ok(spent)
    }

    fn get_each(&mut self, addresses: &[Address]) -> Result<Samples> {
        let mut reader = self.reader()?;
        let mut samples = Samples::with_capacity(addresses.len());
        for address in addresses {
            let started = Instant::now();
            let found = self.get(&mut reader, address)?;
            samples.add_since(started);
            found.with_context(|| format!("{} lost {address:?}", P::NAME))?;
        }
        Ok(samples)
    }

    fn newest_each(&mut self, partitions: &[String], limit: usize) -> Result<Samples> {
        let mut reader = self.reader()?;
        let mut samples = Samples::with_capacity(partitions.len());
        for partition in partitions {
            let started = Instant::now();
            let found = self.newest(&mut reader, partition, limit)?;
            samples.add_since(started);
            ensure!(found.len() == limit, "{} has {} items", P::NAME, found.len());
        }
        Ok(samples)
    }

    fn tune(&mut self, callers: usize, pool: &[Item]) -> Result<Option<String>> {
        Peer::tune(self, callers, pool)
    }

    fn write_for(&mut self, callers: usize, window: Duration, pool: &[Item]) -> Result<WriteStats> {
        write_together(self, callers, window, pool)
    }

    fn feed(&mut self, items: &[Item], per_sync: usize) -> Result<Duration> {
        let mut writer = self.writer()?;
        let started = Instant::now();
        items.chunks(per_sync).try_for_each(|chunk| self.write(&mut writer, chunk))?;
        Ok(started.elapsed())
    }

    fn get_beside(
        &mut self,
        addresses: &[Address],
        writers: usize,
        window: Duration,
        pool: &[Item],
    ) -> Result<(Samples, WriteStats)> {
        let peer = &*self;
        thread::scope(|scope| {
            let writing = scope.spawn(move || write_together(peer, writers, window, pool));
            let mut reader = peer.reader()?;
            let mut samples = Samples::default();
            for address in addresses.iter().cycle() {
                if writing.is_finished() {
                    break;
                }
                let started = Instant::now();
                let found = peer.get(&mut reader, address)?;
                samples.add_since(started);
                found.with_context(|| format!("{} lost {address:?}", P::NAME))?;
            }
            Ok((samples, joined(writing)?))
        })
    }
}

/// Writes items of `pool` from `callers` threads until the window or the pool ends.
pub(super) fn write_together<P: Peer>(
    peer: &P,
    callers: usize,
    window: Duration,
    pool: &[Item],
) -> Result<WriteStats> {
    let next = AtomicUsize::new(0);
    let writers = (0..callers).map(|_| peer.writer()).collect::<Result<Vec<_>>>();
    let started = Instant::now();
    let call = &|mut writer: P::Writer| {
        let mut waits = Samples::default();
        while started.elapsed() < window {
            let Some(item) = pool.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let started_write = Instant::now();
            peer.write(&mut writer, std::slice::from_ref(item))?;
            waits.add_since(started_write);
        }
        Ok(waits)
    };
    let waits = thread::scope(|scope| {
        let threads: Vec<_> =
            writers?.into_iter().map(|writer| scope.spawn(move || call(writer))).collect();
        let mut waits = Samples::default();
        for thread in threads {
            waits.extend(&joined(thread)?);
        }
        Ok::<_, anyhow::Error>(waits)
    })?;
    Ok(WriteStats { count: waits.len() as u64, elapsed: started.elapsed(), waits })
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a benchmark thread panicked")))
}
