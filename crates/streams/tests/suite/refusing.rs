//! A store that will not write into some partitions, as one with a flaw in a single place does.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_model::table::{
    Around, Backend, BatchWrite, Capacity, Error, Result, SharedBackend, TableDefinition,
};

/// What is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Puts,
    Deletes,
}

/// A backend that refuses batches with a write of this kind into this partition.
#[derive(Clone, Debug)]
pub(crate) struct Refusing {
    inner: SharedBackend,
    refused: Arc<Mutex<Vec<(Refused, String)>>>,
}

impl Refusing {
    pub(crate) fn new(inner: SharedBackend) -> Self {
        Self { inner, refused: Arc::default() }
    }

    pub(crate) fn refuse(&self, kind: Refused, partition: &str) {
        self.refused.lock().push((kind, partition.to_owned()));
    }

    /// Everything is written again.
    pub(crate) fn heal(&self) {
        self.refused.lock().clear();
    }

    fn is_refused(&self, write: &BatchWrite) -> bool {
        let (kind, partition) = match write {
            BatchWrite::Put(item) => (Refused::Puts, item.text("PK")),
            BatchWrite::Delete(key) => (Refused::Deletes, key.partition.as_text()),
        };
        let refused = self.refused.lock();
        refused.iter().any(|(known, place)| *known == kind && Some(place.as_str()) == partition)
    }
}

#[async_trait]
impl Around for Refusing {
    fn inner(&self) -> &dyn Backend {
        &*self.inner
    }

    async fn batch_write(&self, t: &TableDefinition, writes: Vec<BatchWrite>) -> Result<Capacity> {
        if writes.iter().any(|write| self.is_refused(write)) {
            return Err(Error::Unexpected { detail: "a flaw in this place".into() });
        }
        self.inner.batch_write(t, writes).await
    }
}
