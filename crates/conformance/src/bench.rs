//! What a case works on: a store, a clock it may move, and tables of its own.

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

/// One case's workplace.
pub struct Bench {
    /// The store under test.
    pub store: Store,
    /// The clock that the store lives by.
    pub clock: Arc<ManualClock>,
    sweep: Option<Sweep>,
    made: Mutex<Vec<String>>,
    kept: Vec<Box<dyn Any + Send + Sync>>,
}

impl Bench {
    /// A workplace on `store`, which must live by `clock`.
    pub fn new(store: Store, clock: Arc<ManualClock>) -> Self {
        Self { store, clock, sweep: None, made: Mutex::default(), kept: Vec::new() }
    }

    /// A clock for a store: standing, at the present second. Servers that remove expired items by
    /// their own clock thus leave alone what expires in the future that a case moves on to.
    pub fn clock() -> Arc<ManualClock> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Arc::new(ManualClock::at_ms(since.as_secs() * 1000))
    }

    /// With a way to remove all expired items at once.
    pub fn sweeping(
        mut self,
        sweep: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        self.sweep = Some(Box::new(sweep));
        self
    }

    /// With something that must live as long as the workplace.
    pub fn keeping(mut self, kept: impl Any + Send + Sync) -> Self {
        self.kept.push(Box::new(kept));
        self
    }

    /// Removes all expired items.
    pub(crate) async fn sweep(&self) {
        let sweep = self.sweep.as_ref().expect("this backend cannot be told to sweep");
        sweep().await;
    }

    /// A table name that nobody used before.
    pub(crate) fn name(&self) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("case-{}-{}-{number}", std::process::id(), self.clock.now_ms());
        self.made.lock().push(name.clone());
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

    /// A fresh standard table.
    pub(crate) async fn table(&self) -> Table {
        self.table_of(self.standard()).await
    }

    /// A fresh table with this key and nothing else.
    pub(crate) async fn keyed(&self, key: KeyDefinition) -> Table {
        self.table_of(TableDefinition::new(self.name(), key)).await
    }

    /// A table of this definition.
    pub(crate) async fn table_of(&self, definition: TableDefinition) -> Table {
        self.store.create_table(definition).await.unwrap()
    }

    /// Takes the tables away again.
    pub(crate) async fn clear(&self) {
        let made = std::mem::take(&mut *self.made.lock());
        for name in made {
            // Some cases only took a name, or took the table away themselves.
            let _ = self.store.delete_table(&name).await;
        }
    }
}

impl fmt::Debug for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bench").field("store", &self.store).finish_non_exhaustive()
    }
}
