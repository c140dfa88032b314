//! Requests while the store is unreachable: the error says so, no data is invented, and service resumes
//! when it is back.

use std::time::Duration;

use dynoxide::Database;
use reqwest::StatusCode;
use roundtable_engine::Options;
use roundtable_model::{SCHEMA, Secret};
use roundtable_server::{StoreKind, StoreSettings, open_store};
use tokio::task::JoinHandle;

use crate::test_server::{TestServer, code, read};

/// A server that speaks DynamoDB's API.
pub(crate) struct Store {
    pub(crate) url: String,
    database: Database,
    serving: JoinHandle<()>,
}

impl Store {
    /// A server with the tables of an installation.
    pub(crate) async fn start() -> Self {
        let store = Self::empty().await;
        let opened = store.open().await;
        for shape in SCHEMA {
            opened.create_table(shape.definition(shape.name)).await.unwrap();
        }
        store
    }

    /// The names of all tables.
    pub(crate) async fn tables(&self) -> Vec<String> {
        self.open().await.list_tables().await.unwrap()
    }

    async fn open(&self) -> roundtable_table::Store {
        let endpoint = Some(self.url.clone());
        let kind = StoreKind::Dynamodb;
        let settings = StoreSettings { kind, endpoint, ..StoreSettings::default() };
        open_store(&settings, Options::default()).await.unwrap().store
    }

    pub(crate) async fn empty() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let database = Database::memory().unwrap();
        let serving = tokio::spawn(dynoxide::server::serve_on(listener, database.clone()));
        Self { url, database, serving }
    }
}

#[tokio::test]
async fn readiness_reports_when_the_store_is_away_and_back() {
    let mut store = Store::start().await;
    let url = store.url.clone();
    let server = TestServer::with(|all| {
        all.process.store.kind = StoreKind::Dynamodb;
        all.process.store.endpoint = Some(url);
        all.process.sign_in.secret = Some(Secret::new("s".repeat(40)));
        all.process.http.request_seconds = 1;
        all.process.http.drain_seconds = 1;
        all.process.store.probe_seconds = 0;
    });
    let server = server.await;
    let token = server.sign_up("ana").await;
    assert_eq!(server.get("/readyz").await.status(), StatusCode::OK);

    store.serving.abort();
    let _ = (&mut store.serving).await;
    // Established connections may live a little longer.
    let away = async {
        while server.get("/readyz").await.status() == StatusCode::OK {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), away).await.unwrap();
    let (status, response) = read(server.get("/readyz").await).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response["ready"], false);
    assert_eq!(server.get("/healthz").await.status(), StatusCode::OK);
    let (_, error) = server.me(&token).await;
    assert!(["INTERNAL", "TOO_COMPLEX"].contains(&code(&error)), "{error}");
    assert!(!error.to_string().contains("127.0.0.1"), "{error}");

    let address = store.url.strip_prefix("http://").unwrap();
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    store.serving = tokio::spawn(dynoxide::server::serve_on(listener, store.database.clone()));
    let back = async {
        while server.get("/readyz").await.status() != StatusCode::OK {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), back).await.unwrap();
    assert_eq!(server.me(&token).await.1["data"]["me"]["nickname"], "ana");
    server.stop().await;
}
