//! A store that rejects batch writes into some partitions.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_model::table::{
    Backend, BackendDecorator, BatchWrite, Capacity, Error, Result, SharedBackend, TableDefinition,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusedWrite {
    Puts,
    Deletes,
}

/// A backend that rejects batches with a write of this kind into this partition.
#[derive(Clone, Debug)]
pub(crate) struct RefusingBackend {
    inner: SharedBackend,
    refused: Arc<Mutex<Vec<(RefusedWrite, String)>>>,
}

impl RefusingBackend {
    pub(crate) fn new(inner: SharedBackend) -> Self {
        Self { inner, refused: Arc::default() }
    }

    pub(crate) fn refuse(&self, kind: RefusedWrite, partition: &str) {
        self.refused.lock().push((kind, partition.to_owned()));
    }

    /// Accepts all writes again.
    pub(crate) fn heal(&self) {
        self.refused.lock().clear();
    }

    fn is_refused(&self, write: &BatchWrite) -> bool {
        let (kind, partition) = match write {
            BatchWrite::Put(item) => (RefusedWrite::Puts, item.text("PK")),
            BatchWrite::Delete(key) => (RefusedWrite::Deletes, key.partition.as_text()),
        };
        let refused = self.refused.lock();
        refused.iter().any(|(refused_kind, refused_partition)| {
            *refused_kind == kind && Some(refused_partition.as_str()) == partition
        })
    }
}

#[async_trait]
impl BackendDecorator for RefusingBackend {
    fn inner(&self) -> &dyn Backend {
        &*self.inner
    }

    async fn batch_write(&self, t: &TableDefinition, writes: Vec<BatchWrite>) -> Result<Capacity> {
        if writes.iter().any(|write| self.is_refused(write)) {
            return Err(Error::Unexpected { detail: "injected write failure".into() });
        }
        self.inner.batch_write(t, writes).await
    }
}
