//! A server that returns canned responses and records its requests, for behaviour that a real server
//! does not show on demand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use roundtable_dynamo::{Config, Dynamo, RetryPolicy};
use roundtable_table::{Clock, ManualClock, Store, Table};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::server::{START_MS, definition};

/// One request: the operation's name and the body.
pub(crate) type RecordedRequest = (String, String);

#[derive(Default)]
struct State {
    responses: VecDeque<(u16, String)>,
    requests: Vec<RecordedRequest>,
}

/// A table whose server returns the canned responses in order, then failures.
pub(crate) struct CannedServer {
    pub(crate) table: Table,
    pub(crate) store: Store,
    state: Arc<Mutex<State>>,
    task: tokio::task::JoinHandle<()>,
}

impl CannedServer {
    pub(crate) async fn start(responses: impl IntoIterator<Item = (u16, &str)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let responses =
            responses.into_iter().map(|(status, body)| (status, body.to_owned())).collect();
        let state = Arc::new(Mutex::new(State { responses, requests: Vec::new() }));
        let task = tokio::spawn(serve(listener, Arc::clone(&state)));
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at_ms(START_MS));
        let retries = RetryPolicy {
            attempts_max: 4,
            delay_first: Duration::from_micros(10),
            delay_max: Duration::from_micros(100),
            ..RetryPolicy::default()
        };
        let mut config = Config::local(endpoint).clock(clock).retries(retries);
        config.stream_poll_interval = Duration::from_millis(1);
        let store = Store::new(Dynamo::connect(config));
        let table = store.table_as(definition());
        Self { table, store, state, task }
    }

    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        self.state.lock().unwrap().requests.clone()
    }

    /// Returns the operations of all requests, oldest first.
    pub(crate) fn operations(&self) -> Vec<String> {
        self.requests().into_iter().map(|(operation, _)| operation).collect()
    }
}

impl Drop for CannedServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) {
    while let Ok((connection, _)) = listener.accept().await {
        tokio::spawn(respond(connection, Arc::clone(&state)));
    }
}

async fn respond(connection: TcpStream, state: Arc<Mutex<State>>) -> Option<()> {
    let mut connection = BufReader::new(connection);
    loop {
        let (mut operation, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            connection.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
            let lower = line.trim().to_ascii_lowercase();
            if lower.is_empty() {
                break;
            }
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if lower.starts_with("x-amz-target:") {
                operation = line.trim().rsplit('.').next()?.to_owned();
            }
        }
        let mut body = vec![0; length];
        connection.read_exact(&mut body).await.ok()?;
        let (status, text) = {
            let mut state = state.lock().unwrap();
            state.requests.push((operation, String::from_utf8(body).ok()?));
            state.responses.pop_front().unwrap_or((500, String::from("{}")))
        };
        let head = format!(
            "HTTP/1.1 {status} x\r\ncontent-type: application/x-amz-json-1.0\r\n\
             content-length: {}\r\n\r\n",
            text.len()
        );
        connection.write_all(head.as_bytes()).await.ok()?;
        connection.write_all(text.as_bytes()).await.ok()?;
    }
}
