//! Requests while the store is unreachable, or its answers are lost: the error says so, no data is
//! invented, and service resumes when it is back.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dynoxide::Database;
use reqwest::StatusCode;
use roundtable_engine::Options;
use roundtable_model::SCHEMA;
use roundtable_server::{Configuration, StoreKind, StoreSettings, open_store};
use roundtable_table::SystemClock;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};

use crate::test_server::{PASSWORD, TestServer, code, configuration, read, use_dynamodb};

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

    /// Starts two processes of one installation on it.
    pub(crate) async fn two_processes(&self, data: &Path) -> (TestServer, TestServer) {
        let mut shared = configuration(data);
        use_dynamodb(&mut shared, &self.url);
        let clock = Arc::new(SystemClock);
        tokio::join!(
            TestServer::start(shared.clone(), clock.clone()),
            TestServer::start(shared, clock)
        )
    }

    pub(crate) async fn empty() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
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
        use_dynamodb(all, &url);
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
    let listener = TcpListener::bind(address).await.unwrap();
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

/// A way to the store that loses the answers to all requests with a certain text.
struct LossyLink {
    url: String,
    lost: Arc<Notify>,
    forwarding: JoinHandle<()>,
}

/// What becomes of a connection whose answer is lost.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LostConnection {
    Closed,
    Silent,
}

impl LossyLink {
    async fn to(store: &Store, then: LostConnection) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let store = store.url.strip_prefix("http://").unwrap().to_owned();
        let lost = Arc::new(Notify::new());
        let on_loss = Arc::clone(&lost);
        let forwarding = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let store = TcpStream::connect(&store).await.unwrap();
                connections.spawn(forward(client, store, then, Arc::clone(&on_loss)));
            }
        });
        Self { url, lost, forwarding }
    }

    fn configure(&self, all: &mut Configuration) {
        use_dynamodb(all, &self.url);
        all.process.http.drain_seconds = 1;
    }
}

/// Forwards both directions until a request has the text. From then on only requests are forwarded.
async fn forward(
    mut client: TcpStream,
    mut store: TcpStream,
    then: LostConnection,
    lost: Arc<Notify>,
) {
    let (mut request, mut answer) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        tokio::select! {
            read = client.read(&mut request) => {
                let Ok(read @ 1..) = read else { return };
                store.write_all(&request[..read]).await.unwrap();
                if request[..read].windows(LOST.len()).any(|part| part == LOST.as_bytes()) {
                    break;
                }
            }
            read = store.read(&mut answer) => {
                let Ok(read @ 1..) = read else { return };
                client.write_all(&answer[..read]).await.unwrap();
            }
        }
    }
    // The store has executed it once it answers.
    assert!(store.read(&mut answer).await.unwrap() > 0);
    lost.notify_one();
    if then == LostConnection::Silent {
        std::future::pending::<()>().await;
    }
}

const LOST: &str = "a post whose answer is lost";

fn create_post(request: &str) -> String {
    format!(
        "mutation {{ createPost(input: {{ content: \"{LOST}\", contentType: text }}{request}) {{ id }} }}"
    )
}

/// R33, I8: it was written, so that it must not be reported as an error of the server or a conflict.
#[tokio::test]
async fn a_mutation_whose_answer_is_lost_has_an_unknown_outcome() {
    let store = Store::start().await;
    let link = LossyLink::to(&store, LostConnection::Closed).await;
    let server = TestServer::with(|all| link.configure(all)).await;
    let token = server.sign_up("ana").await;
    let (status, unknown) = server.ask(Some(&token), &create_post("")).await;
    assert_eq!((status, code(&unknown)), (StatusCode::OK, "OUTCOME_UNKNOWN"), "{unknown}");
    let advice = unknown["errors"][0]["message"].as_str().unwrap();
    assert!(advice.contains("repeat it with the same requestId"), "{advice}");
    let posts = "{ me { posts { items { content } } } }";
    let (_, read) = server.ask(Some(&token), posts).await;
    assert_eq!(read["data"]["me"]["posts"]["items"], json!([{ "content": LOST }]), "{read}");
    let (_, told) = server.ask(Some(&token), &create_post(", requestId: \"once\"")).await;
    assert!(told["data"]["createPost"]["id"].is_string(), "its request id tells: {told}");
    server.stop().await;
    link.forwarding.abort();
}

/// R33: a shutdown does not cut off a mutation without a word.
#[tokio::test]
async fn a_mutation_under_way_at_shutdown_has_an_unknown_outcome() {
    let store = Store::start().await;
    let link = LossyLink::to(&store, LostConnection::Silent).await;
    let server = TestServer::with(|all| link.configure(all)).await;
    let token = server.sign_up("ana").await;
    let body = json!({ "query": create_post(", requestId: \"once\"") });
    let post = server.client.post(format!("{}/graphql", server.url)).bearer_auth(&token);
    let asking = tokio::spawn(post.json(&body).send());
    link.lost.notified().await;
    let stopping = server.trigger_stop();
    let (status, unknown) = read(asking.await.unwrap().unwrap()).await;
    assert_eq!((status, code(&unknown)), (StatusCode::OK, "OUTCOME_UNKNOWN"), "{unknown}");
    assert_eq!(unknown["errors"][0]["extensions"]["outcome"], "UNKNOWN", "{unknown}");
    tokio::time::timeout(Duration::from_mins(1), stopping).await.unwrap().unwrap();
    link.forwarding.abort();

    let server = TestServer::with(|all| {
        link.configure(all);
        all.process.store.endpoint = Some(store.url.clone());
    });
    let server = server.await;
    let (_, again) = server.ask(Some(&token), &create_post(", requestId: \"once\"")).await;
    assert!(again["data"]["createPost"]["id"].is_string(), "{again}");
    let posts = "{ me { posts { items { content } } } }";
    let (_, read) = server.ask(Some(&token), posts).await;
    assert_eq!(read["data"]["me"]["posts"]["items"], json!([{ "content": LOST }]), "{read}");
    server.stop().await;
}
