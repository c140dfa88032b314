//! The handles of callers: they check requests, time them and report them to an observer.

use std::sync::Arc;
use std::time::Instant;

use crate::backend::{
    Backend, GetManyOutput, GetOutput, ItemPage, SharedBackend, WalkPage, WriteOutput,
};
use crate::check::check_transact_get;
use crate::trace::{Observer, TableOperation};
use crate::{
    BatchGet, BatchWrite, Capabilities, Capacity, Delete, Get, Invalid, Item, Merge, Put, Query,
    ReadBudget, Result, Scan, ShardInfo, StreamPage, StreamRead, TableDefinition, TableGet,
    Transaction, Update, Walk,
};

/// A store: all its tables, and the transactions that span them.
#[derive(Clone, Debug)]
pub struct Store {
    backend: SharedBackend,
    observer: Option<Arc<dyn Observer>>,
    read_budget: Option<Arc<ReadBudget>>,
}

impl Store {
    pub fn new(backend: impl Backend) -> Self {
        Self::shared(Arc::new(backend))
    }

    /// A store on a backend that is shared with other handles.
    pub fn shared(backend: SharedBackend) -> Self {
        Self { backend, observer: None, read_budget: None }
    }

    /// Returns a handle that reports every operation of it and its tables to `observer`.
    pub fn observed(&self, observer: Arc<dyn Observer>) -> Self {
        Self { observer: Some(observer), ..self.clone() }
    }

    /// Returns a handle whose reads, and those of its tables, are charged to a budget.
    pub fn with_read_budget(&self, budget: Arc<ReadBudget>) -> Self {
        Self { read_budget: Some(budget), ..self.clone() }
    }

    /// Returns a handle whose reads are charged to no budget.
    pub fn without_read_budget(&self) -> Self {
        Self { read_budget: None, ..self.clone() }
    }

    /// Charges items that were read to the budget, if there is one.
    fn charge<'a>(&self, items: impl IntoIterator<Item = &'a Item>) -> Result<()> {
        match &self.read_budget {
            Some(budget) => budget.charge(items.into_iter().map(Item::size).sum()),
            None => Ok(()),
        }
    }

    /// Charges what a cache held in place of the table. Counts the bytes only if there is a budget.
    pub fn charge_cached(&self, bytes: impl FnOnce() -> usize) -> Result<()> {
        self.read_budget.as_ref().map_or(Ok(()), |budget| budget.charge(bytes()))
    }

    pub fn capabilities(&self) -> Capabilities {
        self.backend.capabilities()
    }

    /// Creates a table, or opens an existing one with the same definition.
    pub async fn create_table(&self, definition: TableDefinition) -> Result<Table> {
        definition.check()?;
        self.backend.create_table(&definition).await?;
        Ok(self.table_as(definition))
    }

    /// Deletes a table with everything in it.
    pub async fn delete_table(&self, name: &str) -> Result<()> {
        self.backend.delete_table(name).await
    }

    /// Returns the names of all tables, sorted.
    pub async fn list_tables(&self) -> Result<Vec<String>> {
        self.backend.list_tables().await
    }

    /// Opens an existing table.
    pub async fn table(&self, name: &str) -> Result<Table> {
        Ok(self.table_as(self.backend.describe_table(name).await?))
    }

    /// Opens a table that is known to exist with this definition, without asking the backend.
    pub fn table_as(&self, definition: impl Into<Arc<TableDefinition>>) -> Table {
        Table { store: self.clone(), definition: definition.into(), pattern: None }
    }

    /// Performs all writes atomically, or none.
    pub async fn transact(&self, transaction: Transaction) -> Result<Capacity> {
        transaction.check()?;
        let table = transaction.writes.first().map_or("", |write| &write.table.name).to_owned();
        let span = OperationSpan::start(self, "transact_write", &table, None, None);
        let items = transaction.writes.len();
        let done = self.backend.transact_write(transaction).await;
        span.finish(done, |capacity| (items, *capacity))
    }

    /// Reads up to 100 items of 4 MB in total, of any tables, at one point in time.
    pub async fn transact_get(&self, gets: Vec<TableGet>) -> Result<GetManyOutput> {
        check_transact_get(&gets)?;
        let table = gets.first().map_or("", |get| &get.table.name).to_owned();
        let span = OperationSpan::start(self, "transact_get", &table, None, None);
        let done = self.backend.transact_get(gets).await;
        let found =
            span.finish(done, |found| (found.items.iter().flatten().count(), found.capacity))?;
        self.charge(found.items.iter().flatten())?;
        Ok(found)
    }
}

#[derive(Clone, Debug)]
pub struct Table {
    store: Store,
    definition: Arc<TableDefinition>,
    pattern: Option<&'static str>,
}

impl Table {
    pub const fn definition(&self) -> &Arc<TableDefinition> {
        &self.definition
    }

    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Returns a handle whose operations are reported under the name of an access pattern.
    pub fn for_pattern(&self, pattern: &'static str) -> Self {
        Self { pattern: Some(pattern), ..self.clone() }
    }

    pub async fn get(&self, get: Get) -> Result<GetOutput> {
        self.definition.check_get(&get)?;
        let span = self.span("get", None);
        let done = self.backend().get(&self.definition, get).await;
        let found =
            span.finish(done, |found| (usize::from(found.item.is_some()), found.capacity))?;
        self.store.charge(&found.item)?;
        Ok(found)
    }

    /// Reads up to 100 items, each at its own point in time.
    pub async fn batch_get(&self, batch: BatchGet) -> Result<GetManyOutput> {
        self.definition.check_batch_get(&batch)?;
        let span = self.span("batch_get", None);
        let done = self.backend().batch_get(&self.definition, batch).await;
        let found =
            span.finish(done, |found| (found.items.iter().flatten().count(), found.capacity))?;
        self.store.charge(found.items.iter().flatten())?;
        Ok(found)
    }

    pub async fn put(&self, put: Put) -> Result<WriteOutput> {
        self.definition.check_put(&put)?;
        let span = self.span("put", None);
        let done = self.backend().put(&self.definition, put).await;
        span.finish(done, |written| (1, written.capacity))
    }

    /// Changes parts of an item, creating it if it is absent.
    pub async fn update(&self, update: Update) -> Result<WriteOutput> {
        self.definition.check_update(&update)?;
        let span = self.span("update", None);
        let done = self.backend().update(&self.definition, update).await;
        span.finish(done, |written| (1, written.capacity))
    }

    pub async fn delete(&self, delete: Delete) -> Result<WriteOutput> {
        self.definition.check_delete(&delete)?;
        let span = self.span("delete", None);
        let done = self.backend().delete(&self.definition, delete).await;
        span.finish(done, |written| (1, written.capacity))
    }

    /// Performs up to 25 puts and deletes, each independent of the others.
    pub async fn batch_write(&self, writes: Vec<BatchWrite>) -> Result<Capacity> {
        self.definition.check_batch_write(&writes)?;
        let span = self.span("batch_write", None);
        let items = writes.len();
        let done = self.backend().batch_write(&self.definition, writes).await;
        span.finish(done, |capacity| (items, *capacity))
    }

    pub async fn query(&self, query: Query) -> Result<ItemPage> {
        self.definition.check_query(&query, self.store.capabilities().strong_index_reads)?;
        let span = self.span("query", query.index.as_deref());
        let done = self.backend().query(&self.definition, query).await;
        self.page(span, done)
    }

    /// Reads a page of the whole table or index.
    pub async fn scan(&self, scan: Scan) -> Result<ItemPage> {
        self.definition.check_scan(&scan, self.store.capabilities().strong_index_reads)?;
        let span = self.span("scan", scan.index.as_deref());
        let done = self.backend().scan(&self.definition, scan).await;
        self.page(span, done)
    }

    /// Reads the first items, by sort key, across partitions.
    pub async fn merge(&self, merge: Merge) -> Result<ItemPage> {
        self.definition.check_merge(&merge)?;
        let span = self.span("merge", merge.index.as_deref());
        let done = self.backend().merge(&self.definition, merge).await;
        self.page(span, done)
    }

    /// Reads down the order of the table, across all its partitions.
    pub async fn walk(&self, walk: Walk<'_>) -> Result<WalkPage> {
        self.definition.check_walk(&walk)?;
        let span = self.span("walk", None);
        let done = self.backend().walk(&self.definition, walk).await;
        let page = span.finish(done, |page| (page.items.len(), page.capacity))?;
        self.store.charge(&page.items)?;
        Ok(page)
    }

    /// Returns the shards of the stream, parents before children.
    pub async fn stream_shards(&self) -> Result<Vec<ShardInfo>> {
        self.check_stream()?;
        self.backend().stream_shards(&self.definition).await
    }

    pub async fn stream_read(&self, read: StreamRead) -> Result<StreamPage> {
        self.check_stream()?;
        self.definition.check_stream_read(&read)?;
        self.backend().stream_read(&self.definition, read).await
    }

    fn page(&self, span: OperationSpan<'_>, done: Result<ItemPage>) -> Result<ItemPage> {
        let page = span.finish(done, |page| (page.items.len(), page.capacity))?;
        self.store.charge(&page.items)?;
        Ok(page)
    }

    fn check_stream(&self) -> Result<()> {
        if self.definition.stream {
            return Ok(());
        }
        let detail = format!("table {:?} has no stream", self.definition.name);
        Err(Invalid::Rejected { detail }.into())
    }

    fn backend(&self) -> &dyn Backend {
        &*self.store.backend
    }

    fn span<'a>(&'a self, name: &'static str, index: Option<&str>) -> OperationSpan<'a> {
        OperationSpan::start(&self.store, name, &self.definition.name, index, self.pattern)
    }
}

/// A running operation, timed for the observer; costs nothing without one.
struct OperationSpan<'a> {
    observed: Option<(&'a Arc<dyn Observer>, Instant, TableOperation)>,
}

impl<'a> OperationSpan<'a> {
    fn start(
        store: &'a Store,
        name: &'static str,
        table: &str,
        index: Option<&str>,
        pattern: Option<&'static str>,
    ) -> Self {
        let observed = store.observer.as_ref().map(|observer| {
            let operation = TableOperation {
                name,
                table: table.to_owned(),
                index: index.map(str::to_owned),
                pattern,
                items: 0,
                capacity: Capacity::ZERO,
                elapsed: std::time::Duration::ZERO,
                succeeded: false,
            };
            (observer, Instant::now(), operation)
        });
        Self { observed }
    }

    fn finish<T>(self, done: Result<T>, cost: impl FnOnce(&T) -> (usize, Capacity)) -> Result<T> {
        if let Some((observer, started, mut operation)) = self.observed {
            operation.elapsed = started.elapsed();
            if let Ok(outcome) = &done {
                operation.succeeded = true;
                (operation.items, operation.capacity) = cost(outcome);
            }
            observer.observe(operation);
        }
        done
    }
}
