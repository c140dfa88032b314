//! Probes of the tables and of the bucket: what does not work is named, at start and while the server
//! runs, and it is ready again once it works.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use parking_lot::Mutex;
use roundtable_domain::S3Settings;
use roundtable_model::Secret;
use roundtable_server::{Configuration, Server};
use roundtable_table::SystemClock;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use serde_json::Value;
use tempfile::TempDir;

use crate::store_outage::Store;
use crate::test_server::{TestServer, configuration, read, use_dynamodb};

/// Denies operations of DynamoDB's API, and passes all others on.
pub(crate) struct Gatekeeper {
    pub(crate) url: String,
    denied: Arc<Mutex<Option<&'static str>>>,
    /// The number of denied requests.
    denials: Arc<AtomicUsize>,
}

#[derive(Clone)]
struct Gate {
    store: String,
    client: reqwest::Client,
    denied: Arc<Mutex<Option<&'static str>>>,
    denials: Arc<AtomicUsize>,
}

impl Gatekeeper {
    pub(crate) async fn before(store: &Store) -> Self {
        let denied: Arc<Mutex<Option<&'static str>>> = Arc::default();
        let denials: Arc<AtomicUsize> = Arc::default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let (store, counted) = (store.url.clone(), Arc::clone(&denials));
        let gate = Gate { store, client, denied: Arc::clone(&denied), denials: counted };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(pass).with_state(gate);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, denied, denials }
    }

    pub(crate) fn deny(&self, operation: Option<&'static str>) {
        *self.denied.lock() = operation;
    }
}

async fn pass(State(gate): State<Gate>, headers: HeaderMap, body: Bytes) -> Response {
    let target = headers["x-amz-target"].to_str().unwrap().to_owned();
    let operation = target.rsplit('.').next().unwrap();
    let is_denied = *gate.denied.lock() == Some(operation);
    if is_denied {
        gate.denials.fetch_add(1, Ordering::Relaxed);
        let error = format!(
            r#"{{"__type":"com.amazon.coral.service#AccessDeniedException",
                "Message":"arn:aws:iam::123456789012:user/town may not perform dynamodb:{operation}"}}"#
        );
        let kind = [("content-type", "application/x-amz-json-1.0")];
        return (StatusCode::BAD_REQUEST, kind, error).into_response();
    }
    let mut request = gate.client.post(&gate.store).body(body);
    let own = ["host", "content-length", "connection"];
    for (name, value) in headers.iter().filter(|(name, _)| !own.contains(&name.as_str())) {
        request = request.header(name, value);
    }
    let answer = request.send().await.unwrap();
    let (status, kind) = (answer.status(), answer.headers()["content-type"].clone());
    (status, [("content-type", kind)], answer.bytes().await.unwrap()).into_response()
}

pub(crate) fn on_dynamodb(data: &TempDir, url: &str) -> Configuration {
    let mut all = configuration(data.path());
    use_dynamodb(&mut all, url);
    all.process.store.probe_seconds = 0;
    all.process.http.drain_seconds = 1;
    all
}

async fn refused(all: Configuration) -> String {
    Server::open(all).await.unwrap_err().to_string()
}

/// Waits until the server is as ready as expected; returns its problems.
async fn problems(server: &TestServer, is_ready: bool) -> Vec<String> {
    let changed = async {
        loop {
            let (status, answer): (_, Value) = read(server.get("/readyz").await).await;
            assert_eq!(answer["ready"], status == StatusCode::OK);
            if answer["ready"] == is_ready {
                let problems = answer["problems"].as_array().unwrap().iter();
                return problems.map(|problem| problem.as_str().unwrap().to_owned()).collect();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), changed).await.unwrap()
}

/// In a wrong region, all tables would be missing: none is created.
#[tokio::test]
async fn a_missing_table_is_named_at_start_and_not_created() {
    let (store, data) = (Store::empty().await, tempfile::tempdir().unwrap());
    let error = refused(on_dynamodb(&data, &store.url)).await;
    let expected = format!("table gg_core: there is no such table at {}", store.url);
    assert!(error.starts_with(&expected), "{error}");
    assert!(error.contains("`roundtable table create`"), "{error}");
    assert!(error.contains("`store.region`"), "{error}");
    assert_eq!(store.tables().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_missing_permission_is_named_at_start() {
    let (store, data) = (Store::start().await, tempfile::tempdir().unwrap());
    let gatekeeper = Gatekeeper::before(&store).await;
    for (operation, named) in [
        ("DescribeTable", "dynamodb:DescribeTable"),
        ("DescribeTimeToLive", "dynamodb:DescribeTimeToLive"),
        ("GetItem", "dynamodb:GetItem"),
        ("BatchGetItem", "dynamodb:BatchGetItem"),
        ("Query", "dynamodb:Query"),
        ("TransactWriteItems", "dynamodb:PutItem"),
        ("BatchWriteItem", "dynamodb:BatchWriteItem"),
        ("DescribeStream", "dynamodb:DescribeStream"),
    ] {
        gatekeeper.deny(Some(operation));
        let error = refused(on_dynamodb(&data, &gatekeeper.url)).await;
        assert!(error.starts_with("table gg_core: "), "{operation}: {error}");
        assert!(error.contains(named) && error.contains("is denied"), "{operation}: {error}");
        assert!(error.contains("allow it for the credentials"), "{operation}: {error}");
    }
    // Existing tables need no permission to create some.
    gatekeeper.deny(Some("CreateTable"));
    let all = on_dynamodb(&data, &gatekeeper.url);
    TestServer::start(all, Arc::new(SystemClock)).await.stop().await;
}

#[tokio::test]
async fn a_table_that_stops_working_is_named_until_it_works_again() {
    let (store, data) = (Store::start().await, tempfile::tempdir().unwrap());
    let gatekeeper = Gatekeeper::before(&store).await;
    let all = on_dynamodb(&data, &gatekeeper.url);
    let server = TestServer::start(all, Arc::new(SystemClock)).await;
    assert_eq!(problems(&server, true).await, Vec::<String>::new());
    gatekeeper.deny(Some("TransactWriteItems"));
    let found = problems(&server, false).await;
    assert_eq!(found.len(), 3, "{found:?}");
    for (problem, table) in found.iter().zip(["gg_core", "gg_login_attempts", "gg_ops"]) {
        assert!(
            problem.starts_with(&format!("table {table}: one of dynamodb:PutItem")),
            "{problem}"
        );
        assert!(!problem.contains("123456789012"), "details are for the log: {problem}");
    }
    gatekeeper.deny(None);
    assert_eq!(problems(&server, true).await, Vec::<String>::new());
    server.stop().await;
}

/// Strangers may ask for readiness: they do not make the server probe again and again.
#[tokio::test]
async fn a_failed_probe_is_not_repeated_for_every_request() {
    let (store, data) = (Store::start().await, tempfile::tempdir().unwrap());
    let gatekeeper = Gatekeeper::before(&store).await;
    let all = on_dynamodb(&data, &gatekeeper.url);
    let server = TestServer::start(all, Arc::new(SystemClock)).await;
    gatekeeper.deny(Some("TransactWriteItems"));
    for _ in 0..50 {
        assert_eq!(server.get("/readyz").await.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
    // Each probe makes one for each table.
    let denials = gatekeeper.denials.load(Ordering::Relaxed);
    assert!((3..50).contains(&denials), "{denials}");
    gatekeeper.deny(None);
    server.stop().await;
}

/// A server that speaks S3's API, with one bucket.
struct S3Server {
    settings: S3Settings,
    at: TempDir,
}

const BUCKET: &str = "files";

impl S3Server {
    async fn start() -> Self {
        let at = tempfile::tempdir().unwrap();
        std::fs::create_dir(at.path().join(BUCKET)).unwrap();
        let mut service = S3ServiceBuilder::new(FileSystem::new(at.path()).unwrap());
        service.set_auth(SimpleAuth::from_single("roundtable", "a secret of ours"));
        let service = service.build();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let service = service.clone();
                tokio::spawn(async move {
                    let connections = Builder::new(TokioExecutor::new());
                    // A client may disconnect.
                    let _ = connections.serve_connection(TokioIo::new(socket), service).await;
                });
            }
        });
        let settings = S3Settings {
            bucket: BUCKET.into(),
            region: "eu-central-1".into(),
            endpoint: Some(format!("http://{address}")),
            access_key_id: Some("roundtable".into()),
            secret_access_key: Some(Secret::new("a secret of ours")),
        };
        Self { settings, at }
    }

    fn bucket(&self) -> PathBuf {
        self.at.path().join(BUCKET)
    }
}

fn with_s3(data: &TempDir, settings: S3Settings) -> Configuration {
    let mut all = configuration(data.path());
    all.process.store.probe_seconds = 0;
    all.settings.media.s3 = Some(settings);
    all
}

#[tokio::test]
async fn a_bucket_that_cannot_be_used_is_named_at_start() {
    let (s3, data) = (S3Server::start().await, tempfile::tempdir().unwrap());
    let settings = || s3.settings.clone();
    let missing = S3Settings { bucket: "none".into(), ..settings() };
    let error = refused(with_s3(&data, missing)).await;
    assert!(error.contains("the bucket none does not work: there is no such bucket"), "{error}");
    assert!(error.contains("eu-central-1") && error.contains("`media.s3.bucket`"), "{error}");
    let secret_access_key = Some(Secret::new("another secret"));
    let error = refused(with_s3(&data, S3Settings { secret_access_key, ..settings() })).await;
    assert!(error.contains("the bucket files does not work: s3:ListBucket is denied"), "{error}");
    assert!(!error.contains("another secret"), "{error}");
}

/// Amazon redirects requests for a bucket of another region, without saying where to.
#[tokio::test]
async fn a_bucket_of_another_region_is_named_at_start() {
    let elsewhere = Router::new().fallback(async || StatusCode::MOVED_PERMANENTLY);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Some(format!("http://{}", listener.local_addr().unwrap()));
    tokio::spawn(async move { axum::serve(listener, elsewhere).await });
    let (s3, data) = (S3Server::start().await, tempfile::tempdir().unwrap());
    let error = refused(with_s3(&data, S3Settings { endpoint, ..s3.settings })).await;
    assert!(error.contains("it is not in the region eu-central-1"), "{error}");
    assert!(error.contains("`media.s3.region`"), "{error}");
}

#[tokio::test]
async fn a_bucket_that_disappears_is_named_until_it_is_back() {
    let (s3, data) = (S3Server::start().await, tempfile::tempdir().unwrap());
    let all = with_s3(&data, s3.settings.clone());
    let server = TestServer::start(all, Arc::new(SystemClock)).await;
    assert_eq!(problems(&server, true).await, Vec::<String>::new());
    std::fs::rename(s3.bucket(), s3.at.path().join("elsewhere")).unwrap();
    let [found] = &problems(&server, false).await[..] else { panic!("one problem") };
    assert!(found.starts_with("files: the bucket files does not work: "), "{found}");
    std::fs::rename(s3.at.path().join("elsewhere"), s3.bucket()).unwrap();
    assert_eq!(problems(&server, true).await, Vec::<String>::new());
    let left = walk(&s3.bucket());
    assert!(left.is_empty(), "a probe leaves nothing behind: {left:?}");
    server.stop().await;
}

/// A directory that cannot be written to is a problem, too.
#[tokio::test]
async fn a_directory_of_files_that_disappears_is_named() {
    let data = tempfile::tempdir().unwrap();
    let mut all = configuration(data.path());
    all.process.store.probe_seconds = 0;
    let server = TestServer::start(all, Arc::new(SystemClock)).await;
    assert_eq!(problems(&server, true).await, Vec::<String>::new());
    let media = data.path().join("media");
    std::fs::remove_dir_all(&media).unwrap();
    std::fs::write(&media, "a file in its place").unwrap();
    let [found] = &problems(&server, false).await[..] else { panic!("one problem") };
    assert!(found.starts_with("files: the directory "), "{found}");
    std::fs::remove_file(&media).unwrap();
    std::fs::create_dir(&media).unwrap();
    assert_eq!(problems(&server, true).await, Vec::<String>::new());
    server.stop().await;
}

/// All files below a directory, without those of the server itself.
fn walk(at: &std::path::Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] });
    files.filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.')).collect()
}
