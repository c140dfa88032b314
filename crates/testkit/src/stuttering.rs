//! A backend whose stream is late, comes in pieces and repeats changes, as any backend's may.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use parking_lot::Mutex;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_model::table::{
    Backend, BackendDecorator, Result, Sequence, SharedBackend, StreamPage, StreamRead,
    StreamStart, TableDefinition,
};

/// The maximum number of changes that a read repeats.
const REPEATED_MAX: usize = 20;

#[derive(Debug)]
pub struct StutteringBackend {
    backend: SharedBackend,
    random: Mutex<SmallRng>,
    /// The sequences of the changes returned so far, by shard.
    returned: Mutex<HashMap<String, BTreeSet<Sequence>>>,
}

impl StutteringBackend {
    pub fn new(backend: SharedBackend, seed: u64) -> Self {
        let random = Mutex::new(SmallRng::seed_from_u64(seed));
        Self { backend, random, returned: Mutex::default() }
    }

    /// Returns the read to do instead; `None` for an empty page.
    fn altered(&self, mut read: StreamRead) -> Option<StreamRead> {
        let mut random = self.random.lock();
        match random.random_range(0..6) {
            0 => return None,
            1 => read.limit = random.random_range(1..=read.limit),
            2 => {
                if let StreamStart::After(sequence) = &read.start
                    && let Some(returned) = self.returned.lock().get(&read.shard)
                    && let back = random.random_range(0..REPEATED_MAX)
                    && let Some(earlier) = returned.range(..sequence).nth_back(back)
                {
                    read.start = StreamStart::After(earlier.clone());
                }
            }
            _ => {}
        }
        Some(read)
    }
}

#[async_trait]
impl BackendDecorator for StutteringBackend {
    fn inner(&self) -> &dyn Backend {
        &*self.backend
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        match self.altered(read) {
            Some(read) => {
                let shard = read.shard.clone();
                let page = self.backend.stream_read(table, read).await?;
                let sequences = page.changes.iter().map(|change| change.sequence.clone());
                self.returned.lock().entry(shard).or_default().extend(sequences);
                Ok(page)
            }
            None => Ok(StreamPage::default()),
        }
    }
}
