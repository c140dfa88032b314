//! A store whose stream comes late, in pieces, and again: what a reader may meet on any backend.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use parking_lot::Mutex;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_model::table::{
    Around, Backend, Result, Sequence, SharedBackend, StreamPage, StreamRead, StreamStart,
    TableDefinition,
};

/// How many changes back a reader can be thrown.
const AGAIN_MAX: usize = 20;

/// A backend with a stream that stutters.
#[derive(Debug)]
pub struct Stuttering {
    backend: SharedBackend,
    random: Mutex<SmallRng>,
    /// The changes of each shard that were shown, by their sequences.
    shown: Mutex<HashMap<String, BTreeSet<Sequence>>>,
}

impl Stuttering {
    /// `backend`, whose stream stutters as `seed` has it.
    pub fn new(backend: SharedBackend, seed: u64) -> Self {
        let random = Mutex::new(SmallRng::seed_from_u64(seed));
        Self { backend, random, shown: Mutex::default() }
    }

    /// What is read instead of what was asked for; `None` for nothing yet.
    fn stuttered(&self, mut read: StreamRead) -> Option<StreamRead> {
        let mut random = self.random.lock();
        match random.random_range(0..6) {
            0 => return None,
            1 => read.limit = random.random_range(1..=read.limit),
            2 => {
                if let StreamStart::After(sequence) = &read.start
                    && let Some(shown) = self.shown.lock().get(&read.shard)
                    && let back = random.random_range(0..AGAIN_MAX)
                    && let Some(earlier) = shown.range(..sequence).nth_back(back)
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
impl Around for Stuttering {
    fn inner(&self) -> &dyn Backend {
        &*self.backend
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        match self.stuttered(read) {
            Some(read) => {
                let shard = read.shard.clone();
                let page = self.backend.stream_read(table, read).await?;
                let sequences = page.changes.iter().map(|change| change.sequence.clone());
                self.shown.lock().entry(shard).or_default().extend(sequences);
                Ok(page)
            }
            None => Ok(StreamPage::default()),
        }
    }
}
