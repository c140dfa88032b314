//! An in-process server with DynamoDB's API, one per test, with a clock that the test controls. If
//! ROUNDTABLE_DYNAMODB_ENDPOINT is set, the server there (DynamoDB Local) is used instead and emptied
//! before each test; run with `--test-threads=1` then.

use std::sync::Arc;

use roundtable_dynamo::{Config, Dynamo};
use roundtable_table::{
    Clock, IndexProjection, Item, KeyDefinition, ManualClock, Query, Store, Table, TableDefinition,
};

/// 2030-01-01.
pub(crate) const START_MS: u64 = 1_893_456_000_000;
pub(crate) const START: u64 = START_MS / 1000;

/// A store on its own server; both end with the test.
pub(crate) struct Server {
    pub(crate) store: Store,
    pub(crate) clock: Arc<ManualClock>,
    endpoint: String,
    database: Option<dynoxide::Database>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let clock = Arc::new(ManualClock::at_ms(START_MS));
        if let Ok(endpoint) = std::env::var("ROUNDTABLE_DYNAMODB_ENDPOINT") {
            let store = connect(&endpoint, &clock);
            for table in store.list_tables().await.unwrap() {
                store.delete_table(&table).await.unwrap();
            }
            let task = tokio::spawn(async {});
            return Self { store, clock, endpoint, database: None, task };
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let time = Arc::new(ServerTime(Arc::clone(&clock)));
        let database = dynoxide::Database::memory_with_clock(time).unwrap();
        let task = tokio::spawn(dynoxide::server::serve_on(listener, database.clone()));
        let store = connect(&endpoint, &clock);
        Self { store, clock, endpoint, database: Some(database), task }
    }

    /// Sweeps expired items; returns false if the server does not use the test's clock.
    pub(crate) fn sweep(&self) -> bool {
        self.database.as_ref().is_some_and(|database| database.sweep_ttl().is_ok())
    }

    /// Connects again to the same server with empty caches, as another process would.
    pub(crate) fn reconnect(&self) -> Store {
        connect(&self.endpoint, &self.clock)
    }

    /// Creates a table with two text keys, indexes of each projection, expiry and a stream.
    pub(crate) async fn table(&self) -> Table {
        self.store.create_table(definition()).await.unwrap()
    }
}

struct ServerTime(Arc<ManualClock>);

impl dynoxide::storage_backend::Clock for ServerTime {
    fn now_unix_secs(&self) -> u64 {
        self.0.now_seconds()
    }

    fn now_unix_secs_f64(&self) -> f64 {
        std::time::Duration::from_millis(self.0.now_ms()).as_secs_f64()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn connect(endpoint: &str, clock: &Arc<ManualClock>) -> Store {
    let clock: Arc<dyn Clock> = Arc::clone(clock) as Arc<dyn Clock>;
    Store::new(Dynamo::connect(Config::local(endpoint).clock(clock)))
}

pub(crate) fn definition() -> TableDefinition {
    TableDefinition::new("things", KeyDefinition::texts("PK", "SK"))
        .with_index("gsi1", KeyDefinition::texts("GSI1PK", "GSI1SK"))
        .with_index_of("keys", KeyDefinition::partition("kind"), IndexProjection::KeysOnly)
        .with_index_of(
            "some",
            KeyDefinition::partition("kind"),
            IndexProjection::Include(vec!["name".into()]),
        )
        .with_ttl("ttl")
        .with_stream()
}

pub(crate) fn texts(items: &[Item], name: &str) -> Vec<String> {
    items.iter().map(|item| item.text(name).unwrap_or("?").to_owned()).collect()
}

/// Reads all pages of a query; returns the items and the number of pages.
pub(crate) async fn all_pages(table: &Table, query: Query) -> (Vec<Item>, usize) {
    let (mut items, mut pages, mut next) = (Vec::new(), 0, None);
    loop {
        let page = table.query(query.clone().after(next)).await.unwrap();
        items.extend(page.items);
        pages += 1;
        assert!(pages < 1000, "paging must end");
        next = page.next;
        if next.is_none() {
            return (items, pages);
        }
    }
}
