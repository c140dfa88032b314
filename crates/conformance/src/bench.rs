//! The environment of a case: a store, its clock, and separate tables.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "this is test code: a broken promise is a panic"
)]

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use futures::future::BoxFuture;
use parking_lot::Mutex;
use roundtable_table::{Clock, KeyDefinition, ManualClock, Store, Table, TableDefinition};

type Sweep = Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// The environment of one case.
pub struct TestBench {
    /// The store under test.
    pub store: Store,
    /// The clock of the store.
    pub clock: Arc<ManualClock>,
    sweep: Option<Sweep>,
    created: Mutex<Vec<String>>,
    resources: Vec<Box<dyn Any + Send + Sync>>,
}

impl TestBench {
    /// Creates an environment on `store`, which must use `clock`.
    pub fn new(store: Store, clock: Arc<ManualClock>) -> Self {
        Self { store, clock, sweep: None, created: Mutex::default(), resources: Vec::new() }
    }

    /// A stopped clock at the current second. Servers that delete expired items by their own clock
    /// thus keep items that expire only after a case has advanced this clock.
    pub fn clock() -> Arc<ManualClock> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Arc::new(ManualClock::at_ms(since.as_secs() * 1000))
    }

    /// Sets a function that deletes all expired items.
    pub fn with_sweep(
        mut self,
        sweep: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        self.sweep = Some(Box::new(sweep));
        self
    }

    /// Keeps a resource alive as long as the environment.
    pub fn with_resource(mut self, resources: impl Any + Send + Sync) -> Self {
        self.resources.push(Box::new(resources));
        self
    }

    pub(crate) async fn sweep(&self) {
        let sweep = self.sweep.as_ref().expect("this backend cannot be told to sweep");
        sweep().await;
    }

    /// A new table name.
    pub(crate) fn name(&self) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("case-{}-{}-{number}", std::process::id(), self.clock.now_ms());
        self.created.lock().push(name.clone());
        name
    }

    /// The standard table: text keys, two sparse indexes, expiry and a stream.
    pub(crate) fn standard(&self) -> TableDefinition {
        TableDefinition::new(self.name(), KeyDefinition::texts("PK", "SK"))
            .with_index("GSI1", KeyDefinition::texts("GSI1PK", "GSI1SK"))
            .with_index("GSI2", KeyDefinition::texts("GSI2PK", "GSI2SK"))
            .with_ttl("ttl")
            .with_stream()
    }

    pub(crate) async fn table(&self) -> Table {
        self.table_of(self.standard()).await
    }

    /// Creates a table with this key and nothing else.
    pub(crate) async fn keyed(&self, key: KeyDefinition) -> Table {
        self.table_of(TableDefinition::new(self.name(), key)).await
    }

    pub(crate) async fn table_of(&self, definition: TableDefinition) -> Table {
        self.store.create_table(definition).await.unwrap()
    }

    /// Deletes the tables.
    pub(crate) async fn clear(&self) {
        let created = std::mem::take(&mut *self.created.lock());
        for name in created {
            // Some cases create no table, or delete it themselves.
            let _ = self.store.delete_table(&name).await;
        }
    }
}

impl fmt::Debug for TestBench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bench").field("store", &self.store).finish_non_exhaustive()
    }
}
