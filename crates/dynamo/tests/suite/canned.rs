//! A server that gives prepared answers and keeps what it was asked: for what no well-behaved
//! server does on demand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use roundtable_dynamo::{Config, Dynamo, Retries};
use roundtable_table::{Clock, ManualClock, Store, Table};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::server::{START_MS, definition};

/// One request: the operation's name and the body.
pub(crate) type Asked = (String, String);

#[derive(Default)]
struct State {
    answers: VecDeque<(u16, String)>,
    asked: Vec<Asked>,
}

/// A table whose server answers as prepared, in order; once it has no more, with a failure.
pub(crate) struct Canned {
    pub(crate) table: Table,
    pub(crate) store: Store,
    state: Arc<Mutex<State>>,
    task: tokio::task::JoinHandle<()>,
}

impl Canned {
    pub(crate) async fn start(answers: impl IntoIterator<Item = (u16, &str)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let answers = answers.into_iter().map(|(status, body)| (status, body.to_owned())).collect();
        let state = Arc::new(Mutex::new(State { answers, asked: Vec::new() }));
        let task = tokio::spawn(serve(listener, Arc::clone(&state)));
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at_ms(START_MS));
        let retries = Retries {
            attempts_max: 4,
            delay_first: Duration::from_micros(10),
            delay_max: Duration::from_micros(100),
            ..Retries::default()
        };
        let mut config = Config::local(endpoint).clock(clock).retries(retries);
        config.stream_poll = Duration::from_millis(1);
        let store = Store::new(Dynamo::connect(config));
        let table = store.table_as(definition());
        Self { table, store, state, task }
    }

    /// What was asked, oldest first.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.state.lock().unwrap().asked.clone()
    }

    /// The names of the operations asked for.
    pub(crate) fn operations(&self) -> Vec<String> {
        self.asked().into_iter().map(|(operation, _)| operation).collect()
    }
}

impl Drop for Canned {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) {
    while let Ok((connection, _)) = listener.accept().await {
        tokio::spawn(answer(connection, Arc::clone(&state)));
    }
}

async fn answer(connection: TcpStream, state: Arc<Mutex<State>>) -> Option<()> {
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
            state.asked.push((operation, String::from_utf8(body).ok()?));
            state.answers.pop_front().unwrap_or((500, String::from("{}")))
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
