//! A server for one test, and a client for it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Response, StatusCode};
use roundtable_domain::{Accounts, SignUp, SignedInUser};
use roundtable_model::Secret;
use roundtable_server::{Configuration, Server, ServerHandle, StoreKind};
use roundtable_table::{Clock, SystemClock};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) const PASSWORD: &str = "correct horse battery staple";

pub(crate) struct TestServer {
    pub(crate) url: String,
    pub(crate) handle: ServerHandle,
    pub(crate) client: reqwest::Client,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
    _data: Option<TempDir>,
}

/// Lets a server use a store that speaks DynamoDB's API.
pub(crate) fn use_dynamodb(all: &mut Configuration, url: &str) {
    all.process.store.kind = StoreKind::Dynamodb;
    all.process.store.endpoint = Some(url.to_owned());
    all.process.sign_in.secret = Some(Secret::new("s".repeat(40)));
}

/// The configuration of tests: any free port, and cheap password hashes.
pub(crate) fn configuration(data: &Path) -> Configuration {
    let mut configuration = Configuration::default();
    configuration.process.http.listen = "127.0.0.1:0".parse().unwrap();
    data.clone_into(&mut configuration.process.store.data);
    configuration.settings.login.hash_memory_kib = 64;
    configuration.settings.login.hash_passes = 1;
    configuration
}

impl TestServer {
    pub(crate) async fn fresh() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Configuration)) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut configuration = configuration(data.path());
        change(&mut configuration);
        let server = Self::start(configuration, Arc::new(SystemClock)).await;
        Self { _data: Some(data), ..server }
    }

    pub(crate) async fn start(configuration: Configuration, clock: Arc<dyn Clock>) -> Self {
        let server = Server::open_at(configuration, clock).await.unwrap();
        let (url, handle) = (server.url().to_owned(), server.handle());
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(server.run(async { drop(stopped.await) }));
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { url, handle, client, stop, running, _data: None }
    }

    pub(crate) async fn stop(self) {
        let Self { stop, running, handle, .. } = self;
        drop(handle);
        stop.send(()).unwrap();
        running.await.unwrap();
    }

    pub(crate) fn trigger_stop(self) -> JoinHandle<()> {
        self.stop.send(()).unwrap();
        self.running
    }

    /// Ends the server as `kill -9` would: nothing is finished or released. Not while a WebSocket is
    /// open.
    pub(crate) async fn crash(self) {
        // First, because they would take the end of the server for a shutdown, and leave in good order.
        self.handle.abort_background_tasks();
        self.running.abort();
        assert!(self.running.await.unwrap_err().is_cancelled());
    }

    /// The value of one of its metrics.
    pub(crate) async fn metric(&self, name: &str) -> u64 {
        let page = self.get("/metrics").await.text().await.unwrap();
        let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name} is not in {page}")).parse().unwrap()
    }

    /// Waits until one of its metrics has a value.
    pub(crate) async fn until(&self, name: &str, value: u64) {
        let mut last = None;
        let has = async {
            while last != Some(value) {
                last = Some(self.metric(name).await);
            }
        };
        let in_time = tokio::time::timeout(Duration::from_mins(1), has).await.is_ok();
        assert!(in_time, "{name} is {last:?}, not {value}");
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.client.get(format!("{}{path}", self.url)).send().await.unwrap()
    }

    pub(crate) async fn send(&self, body: impl Into<reqwest::Body>) -> (StatusCode, Value) {
        let post = self.client.post(format!("{}/graphql", self.url));
        let response = post.header("content-type", "application/json").body(body).send();
        read(response.await.unwrap()).await
    }

    pub(crate) async fn ask(&self, token: Option<&str>, query: &str) -> (StatusCode, Value) {
        self.ask_with(token, query, json!({})).await
    }

    pub(crate) async fn ask_with(
        &self,
        token: Option<&str>,
        query: &str,
        variables: Value,
    ) -> (StatusCode, Value) {
        let mut post = self.client.post(format!("{}/graphql", self.url));
        if let Some(token) = token {
            post = post.bearer_auth(token);
        }
        let body = json!({ "query": query, "variables": variables });
        read(post.json(&body).send().await.unwrap()).await
    }

    /// Queries `me` with this token.
    pub(crate) async fn me(&self, token: &str) -> (StatusCode, Value) {
        self.ask(Some(token), "{ me { nickname roles } }").await
    }

    /// Signs a user up without HTTP; returns the access token.
    pub(crate) async fn sign_up(&self, nickname: &str) -> String {
        let signed_in = self.registered(nickname).await;
        self.token(&signed_in).await
    }

    pub(crate) async fn registered(&self, nickname: &str) -> SignedInUser {
        let sign_up = SignUp {
            email: format!("{nickname}@example.org").parse().unwrap(),
            password: Secret::new(PASSWORD),
            nickname: nickname.parse().unwrap(),
            handle: None,
            invitation: None,
            full_name: None,
            language: None,
            identity: None,
        };
        self.accounts().register(&sign_up, None, None).await.unwrap()
    }

    pub(crate) async fn token(&self, signed_in: &SignedInUser) -> String {
        self.handle.services().issuer.access_token(signed_in).await.unwrap().0
    }

    pub(crate) fn accounts(&self) -> Accounts {
        Accounts::new(self.handle.services().context.clone())
    }
}

pub(crate) async fn read(response: Response) -> (StatusCode, Value) {
    let status = response.status();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

pub(crate) fn aliases(field: &str, count: usize) -> String {
    (0..count).fold(String::new(), |all, n| all + &format!("a{n}: {field} "))
}

/// The code of the first error of a response, which appears twice in it.
pub(crate) fn code(response: &Value) -> &str {
    let error = &response["errors"][0];
    assert_eq!(error["errorType"], error["extensions"]["code"], "{response}");
    error["errorType"].as_str().unwrap_or_default()
}
