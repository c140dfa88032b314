//! Changes on their way from the workers that read them to the processes that answer requests, over an
//! internal connection: `GET /internal/changes`, with a token that only processes of the installation can
//! sign. Workers keep nothing for whoever is not there.
//!
//! Whoever was cut off has missed something. Until all workers are heard again it forgets what it
//! remembers, and reads the table instead.

mod line;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Empty};
use hyper::header::AUTHORIZATION;
use hyper::{Request, Uri};
use parking_lot::Mutex;
use roundtable_table::Change;
use tokio::sync::broadcast;

use crate::configuration::Misconfigured;
use crate::outgoing::{self, Client};
use crate::stopping::Stopping;
use crate::tap::Taps;
use crate::tokens::Tokens;

/// Where changes are to be had.
pub(crate) const PATH: &str = "/internal/changes";
/// Batches that wait for one who listens; whoever is further behind is cut off.
const BATCHES_MAX: usize = 256;
/// Before the next try to connect.
const PAUSE: Duration = Duration::from_secs(1);
/// A worker with nothing to tell says so at least as often.
pub(crate) const STILL_HERE: Duration = Duration::from_secs(5);
/// A worker that says nothing for so long is not there.
const SILENCE: Duration = Duration::from_secs(15);
/// Bytes of one line: a batch of changes, both images of each.
const LINE_BYTES_MAX: usize = 256 << 20;

/// What a worker tells.
#[derive(Clone, Debug)]
pub(crate) struct Relay(broadcast::Sender<Bytes>);

impl Relay {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(BATCHES_MAX))
    }

    /// Tells whoever listens.
    pub(crate) fn tell(&self, changes: &[Change]) {
        if self.0.receiver_count() > 0 && !changes.is_empty() {
            // Nobody left meanwhile is nobody's loss.
            let _ = self.0.send(line::write(changes));
        }
    }

    /// Somebody listens.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Bytes> {
        self.0.subscribe()
    }
}

/// Hears what the workers tell.
#[derive(Debug)]
pub(crate) struct Hearing {
    workers: Vec<Uri>,
    client: Client,
    tokens: Arc<Tokens>,
    taps: Taps,
    heard: Mutex<HashSet<Uri>>,
}

impl Hearing {
    /// Of these workers.
    pub(crate) fn of(
        workers: &[String],
        tokens: Arc<Tokens>,
        taps: Taps,
    ) -> Result<Self, Misconfigured> {
        let key = "live.workers";
        let client = outgoing::client(key, workers.iter().map(String::as_str))?;
        let uri = |worker: &String| {
            let wrong =
                || Misconfigured::together(key, format!("{worker:?} is no address of a worker"));
            let at = format!("{}{PATH}", worker.trim_end_matches('/'));
            let uri: Uri = at.parse().map_err(|_| wrong())?;
            if uri.scheme().is_some() && uri.authority().is_some() { Ok(uri) } else { Err(wrong()) }
        };
        let workers = workers.iter().map(uri).collect::<Result<_, _>>()?;
        Ok(Self { workers, client, tokens, taps, heard: Mutex::default() })
    }

    /// Hears all of them, until it is told to stop.
    pub(crate) async fn run(&self, stopping: &Stopping) {
        self.taps.hears(false);
        let all = self.workers.iter().map(|worker| self.follow(worker));
        stopping.unless(futures::future::join_all(all)).await;
        // Without workers there is nothing to hear, and still nothing to do.
        stopping.clone().wished().await;
    }

    async fn follow(&self, worker: &Uri) {
        loop {
            let why = self.hear(worker).await.unwrap_or_else(|why| why);
            tracing::warn!(worker = %worker, why, "a worker is not heard");
            self.heard.lock().remove(worker);
            self.taps.hears(false);
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Hears one until it ends; why it did.
    async fn hear(&self, worker: &Uri) -> Result<String, String> {
        let token = self.tokens.internal().ok_or("no token could be signed")?;
        let request = Request::get(worker).header(AUTHORIZATION, format!("Bearer {token}"));
        let request = request.body(Empty::new()).map_err(|error| error.to_string())?;
        let answer = tokio::time::timeout(SILENCE, self.client.request(request)).await;
        let answer = answer.map_err(|_| "no answer")?.map_err(|error| error.to_string())?;
        if !answer.status().is_success() {
            return Err(format!("it answered {}", answer.status()));
        }
        self.heard.lock().insert(worker.clone());
        if self.heard.lock().len() == self.workers.len() {
            tracing::info!("all workers are heard");
            self.taps.hears(true);
        }
        let (mut body, mut rest) = (answer.into_body(), BytesMut::new());
        loop {
            let part = tokio::time::timeout(SILENCE, body.frame()).await;
            let Some(part) = part.map_err(|_| "it fell silent")? else {
                return Ok(String::from("it hung up"));
            };
            let part = part.map_err(|error| error.to_string())?;
            rest.extend_from_slice(part.data_ref().map_or(&[], |data| data));
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line = rest.split_to(end + 1);
                self.taps.hear(&line::read(&line).ok_or("it cannot be understood")?);
            }
            if rest.len() > LINE_BYTES_MAX {
                return Err(String::from("it cannot be understood"));
            }
        }
    }
}
