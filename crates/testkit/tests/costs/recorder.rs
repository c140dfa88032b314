//! A backend that records the cost of each write by entity, and an observer that sums up reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_conformance::Reference;
use roundtable_model::table::{
    Backend, BackendDecorator, BatchWrite, Capacity, Delete, Get, Item, Key, Observer, Put, Result,
    Scalar, TableDefinition, TableOperation, TableWrite, Transaction, Update, Write, WriteCost,
    WriteOutput,
};
use roundtable_model::{Ops, SCHEMA, TYPE};

/// The cause of an operation: the mutation itself, or the stream processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    Own,
    Derived,
}

/// Writes that cost the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WriteClass {
    pub(crate) origin: Origin,
    pub(crate) entity: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) transactional: bool,
    pub(crate) units: u64,
}

/// Recorded operations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    /// The number of writes, and the size of the largest image.
    pub(crate) writes: BTreeMap<WriteClass, (u32, usize)>,
    /// In half read units.
    pub(crate) reads: BTreeMap<Origin, u64>,
}

#[derive(Debug, Default)]
struct RecorderState {
    origin: Option<Origin>,
    recording: Recording,
}

#[derive(Clone, Debug)]
pub(crate) struct CostRecorder {
    backend: Arc<Reference>,
    state: Arc<Mutex<RecorderState>>,
    /// The table of the stream processors: its operations depend on batches and not on mutations.
    ops_table: String,
}

impl CostRecorder {
    pub(crate) fn new(backend: Reference, ops_table: String) -> Self {
        Self { backend: Arc::new(backend), state: Arc::default(), ops_table }
    }

    /// Attributes the following operations to `origin`; `None` ignores them.
    pub(crate) fn attribute_to(&self, origin: Option<Origin>) {
        self.state.lock().origin = origin;
    }

    pub(crate) fn take(&self) -> Recording {
        std::mem::take(&mut self.state.lock().recording)
    }

    async fn image(&self, write: &TableWrite) -> Option<Item> {
        let key = write.write.key(&write.table).unwrap();
        self.backend.get(&write.table, Get::new(key).strong()).await.unwrap().item
    }

    /// Performs writes and records them, unless they fail.
    async fn recorded<T>(
        &self,
        writes: Vec<TableWrite>,
        transactional: bool,
        done: impl Future<Output = Result<T>> + Send,
        capacity: impl Fn(&T) -> Capacity,
    ) -> Result<T> {
        let Some(origin) = self.state.lock().origin else { return done.await };
        let mut before = Vec::new();
        for write in &writes {
            before.push(self.image(write).await);
        }
        let done = done.await?;
        let mut sum = Capacity::ZERO;
        for (write, old) in writes.iter().zip(before) {
            let new = self.image(write).await;
            sum += self.record(origin, write, transactional, old.as_ref(), new.as_ref());
        }
        assert_eq!(sum, capacity(&done), "the parts of a write cost as much as the whole");
        Ok(done)
    }

    fn record(
        &self,
        origin: Origin,
        write: &TableWrite,
        transactional: bool,
        old: Option<&Item>,
        new: Option<&Item>,
    ) -> Capacity {
        let bytes = old.map_or(0, Item::size).max(new.map_or(0, Item::size));
        let (kind, cost) = match (&write.write, old) {
            (Write::Check(_), _) => ("check", WriteCost::check(bytes)),
            (Write::Delete(_), _) => ("delete", change(write, old, new)),
            (_, None) => ("put", change(write, old, new)),
            (_, Some(_)) => ("change", change(write, old, new)),
        };
        let cost = if transactional { cost.in_transaction() } else { cost.standalone() };
        let key = write.write.key(&write.table).unwrap();
        let entity = entity(new.or(old), &key);
        let units = cost.write_units;
        let class = WriteClass { origin, entity, kind, transactional, units };
        if origin == Origin::Own || Ops::SHAPE.entity(entity).is_none() {
            let mut state = self.state.lock();
            let (number, largest) = state.recording.writes.entry(class).or_default();
            *number += 1;
            *largest = bytes.max(*largest);
        }
        cost
    }
}

fn change(write: &TableWrite, old: Option<&Item>, new: Option<&Item>) -> WriteCost {
    WriteCost::change(&write.table, old, new).unwrap()
}

/// Returns the entity of an item, or of the key of an absent item.
fn entity(item: Option<&Item>, key: &Key) -> &'static str {
    let entities = SCHEMA.iter().flat_map(|table| table.entities);
    let text = |part: &Scalar| part.as_text().unwrap_or_default().to_owned();
    let (partition, sort) = (text(&key.partition), key.sort.as_ref().map(text).unwrap_or_default());
    let named = item.and_then(|item| item.text(TYPE));
    let found = entities.filter(|entity| {
        let main = entity.main();
        named.map_or_else(
            || {
                partition.starts_with(main.partition.prefix())
                    && sort.starts_with(main.sort.prefix())
            },
            |name| entity.name == name,
        )
    });
    // The longest prefix, because some keys begin with another's.
    let found = found.max_by_key(|entity| entity.main().sort.prefix().len());
    found.unwrap_or_else(|| panic!("{key} is the key of no entity")).name
}

#[async_trait]
impl BackendDecorator for CostRecorder {
    fn inner(&self) -> &dyn Backend {
        &*self.backend
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        let writes = vec![on(table, Write::Put(put.clone()))];
        self.recorded(writes, false, self.backend.put(table, put), |done| done.capacity).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        let writes = vec![on(table, Write::Update(update.clone()))];
        self.recorded(writes, false, self.backend.update(table, update), |done| done.capacity).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput> {
        let writes = vec![on(table, Write::Delete(delete.clone()))];
        self.recorded(writes, false, self.backend.delete(table, delete), |done| done.capacity).await
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        batch: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        let each = batch.iter().map(|write| match write {
            BatchWrite::Put(item) => on(table, Write::Put(Put::new(item.clone()))),
            BatchWrite::Delete(key) => on(table, Write::Delete(Delete::new(key.clone()))),
        });
        let writes = each.collect();
        self.recorded(writes, false, self.backend.batch_write(table, batch), |done| *done).await
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        let writes = transaction.writes.clone();
        self.recorded(writes, true, self.backend.transact_write(transaction), |done| *done).await
    }
}

fn on(table: &TableDefinition, write: Write) -> TableWrite {
    TableWrite { table: Arc::new(table.clone()), write }
}

impl Observer for CostRecorder {
    fn observe(&self, operation: TableOperation) {
        let mut state = self.state.lock();
        let Some(origin) = state.origin else { return };
        if origin == Origin::Own || operation.table != self.ops_table {
            *state.recording.reads.entry(origin).or_default() += operation.capacity.read_halves;
        }
    }
}
