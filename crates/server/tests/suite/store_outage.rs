//! Requests while the store is unreachable: the error says so, no data is invented, and service resumes
//! when it is back.

use std::sync::Arc;
use std::time::Duration;

use dynoxide::Database;
use reqwest::StatusCode;
use roundtable_model::Secret;
use roundtable_server::StoreKind;
use roundtable_table::SystemClock;
use tokio::task::JoinHandle;

use crate::test_server::{PASSWORD, TestServer, code, configuration, read};

/// A server that speaks DynamoDB's API.
pub(crate) struct Store {
    pub(crate) url: String,
    database: Database,
    serving: JoinHandle<()>,
}

impl Store {
    pub(crate) async fn start() -> Self {
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

/// Once there was `INTERNAL` for every write until a restart, and nobody could sign in to see why.
#[tokio::test]
async fn on_a_disk_without_space_people_can_sign_in_and_readiness_says_why_they_cannot_post() {
    let data = tempfile::tempdir().unwrap();
    let clock = Arc::new(SystemClock);
    let server = TestServer::start(configuration(data.path()), clock.clone()).await;
    server.sign_up("ana").await;
    server.stop().await;
    // No disk is large enough for this reserve.
    let mut nearly_full = configuration(data.path());
    nearly_full.process.store.reserve_bytes = u64::MAX;
    let server = TestServer::start(nearly_full, clock).await;
    let (status, ready) = read(server.get("/readyz").await).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let problem = ready["problems"][0].as_str().unwrap();
    assert!(
        problem.starts_with("writes are refused for now: the disk of the store has "),
        "{ready}"
    );
    let metrics = server.get("/metrics").await.text().await.unwrap();
    for line in
        ["roundtable_engine_takes_writes 0", "roundtable_engine_thread_up{thread=\"writer\"} 1"]
    {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    let login = format!(
        "mutation {{ login(email: \"ana@example.org\", password: \"{PASSWORD}\") {{ accessToken }} }}"
    );
    let (_, signed_in) = server.ask(None, &login).await;
    let token = signed_in["data"]["login"]["accessToken"].as_str().unwrap();
    assert_eq!(server.me(token).await.1["data"]["me"]["nickname"], "ana");
    let post = "mutation { createPost(input: { content: \"hello\", contentType: text }) { id } }";
    let (_, refused) = server.ask(Some(token), post).await;
    assert_eq!(code(&refused), "READ_ONLY");
    let message = refused["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("nothing was changed; try again in a minute"), "{refused}");
    server.stop().await;
}
