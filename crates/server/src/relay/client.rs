//! The receiving side of the relay, which knows whether it is connected to all workers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::header::AUTHORIZATION;
use hyper::{Request, Response, Uri};
use parking_lot::Mutex;
use roundtable_domain::LiveBus;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::{PATH, WORKER, wire};
use crate::configuration::ConfigurationError;
use crate::https_client::{self, HttpsClient};
use crate::shutdown::ShutdownSignal;
use crate::tokens::AccessTokens;
use crate::worker_leases::WorkerRegistry;

/// Before the next attempt to connect.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);
/// Interval of the search for workers that are not configured.
const SEARCH_INTERVAL: Duration = Duration::from_secs(5);
/// Silence after which a worker is considered gone.
const SILENCE_LIMIT: Duration = Duration::from_secs(15);
/// Bytes of one line: a batch of changes with both images of each.
const LINE_BYTES_MAX: usize = 256 << 20;
const INVALID_LINE: &str = "it sent an invalid line; do both processes run the same version?";

#[derive(Debug)]
pub(crate) struct RelayClient {
    workers: Vec<Uri>,
    client: HttpsClient<Empty<Bytes>>,
    tokens: Arc<AccessTokens>,
    bus: LiveBus,
    registry: WorkerRegistry,
    /// True if this process is a worker itself.
    is_worker: bool,
    state: Mutex<RelayState>,
    /// A worker connected or disconnected.
    changed: Notify,
}

#[derive(Debug, Default)]
struct RelayState {
    /// The names of connected workers.
    connected: HashMap<Uri, String>,
    is_complete: bool,
    /// True if a worker connected since the last comparison.
    has_connected: bool,
    /// The unlisted workers last warned about.
    unlisted: Vec<String>,
}

impl RelayClient {
    pub(crate) fn new(
        workers: &[String],
        is_worker: bool,
        tokens: Arc<AccessTokens>,
        bus: LiveBus,
        registry: WorkerRegistry,
    ) -> Result<Self, ConfigurationError> {
        let key = "live.workers";
        let client = https_client::https_client(workers.iter().map(String::as_str))
            .map_err(|reason| ConfigurationError::conflict(key, reason))?;
        let uri = |worker: &String| {
            let invalid = || {
                ConfigurationError::conflict(
                    key,
                    format!(
                        "{worker:?} is not the address of a worker, such as http://10.0.0.5:4000"
                    ),
                )
            };
            let at = format!("{}{PATH}", worker.trim_end_matches('/'));
            let uri: Uri = at.parse().map_err(|_| invalid())?;
            if uri.scheme().is_some() && uri.authority().is_some() {
                Ok(uri)
            } else {
                Err(invalid())
            }
        };
        let mut workers: Vec<Uri> = workers.iter().map(uri).collect::<Result<_, _>>()?;
        workers.sort_by_key(ToString::to_string);
        workers.dedup();
        let (state, changed) = (Mutex::default(), Notify::new());
        Ok(Self { workers, client, tokens, bus, registry, is_worker, state, changed })
    }

    /// Returns whether all changes are received.
    pub(crate) fn is_complete(&self) -> bool {
        self.state.lock().is_complete
    }

    /// Receives from all workers until shutdown.
    pub(crate) async fn run(&self, shutdown: &ShutdownSignal) {
        self.bus.set_complete(false);
        let all = futures::future::join_all(
            self.workers.iter().map(|worker| self.stay_connected(worker)),
        );
        shutdown.unless_triggered(futures::future::join(all, self.watch_workers())).await;
    }

    /// Checks repeatedly that every active worker is connected.
    async fn watch_workers(&self) {
        loop {
            match self.registry.workers().await {
                Ok(active) => self.update(&active),
                // A process that cannot reach the table learns nothing new from it either.
                Err(error) => {
                    tracing::warn!(%error, "cannot read the list of active workers from the store; retrying");
                }
            }
            let _ = timeout(SEARCH_INTERVAL, self.changed.notified()).await;
        }
    }

    /// Compares the active workers with the connected ones.
    fn update(&self, active: &[String]) {
        let mut state = self.state.lock();
        let is_connected = |name: &&String| {
            self.is_worker && ***name == *self.registry.own_name
                || state.connected.values().any(|other| other == *name)
        };
        let disconnected: Vec<String> =
            active.iter().filter(|name| !is_connected(name)).cloned().collect();
        let is_complete = disconnected.is_empty() && state.connected.len() == self.workers.len();
        // While a listed worker is disconnected, any of these may be it.
        let is_unlisted = state.connected.len() == self.workers.len() && !disconnected.is_empty();
        if is_unlisted && state.unlisted != disconnected {
            tracing::error!(
                workers = ?disconnected,
                "live.workers: these workers are not listed, or have just stopped; until all are \
                 connected, feeds are read from the table and subscribers miss events"
            );
        }
        state.unlisted = if is_unlisted { disconnected } else { Vec::new() };
        // Subscribers that started while a worker was disconnected have missed its changes.
        if std::mem::take(&mut state.has_connected) || state.is_complete != is_complete {
            self.set_complete(&mut state, is_complete);
        }
    }

    fn set_complete(&self, state: &mut RelayState, is_complete: bool) {
        state.is_complete = is_complete;
        self.bus.set_complete(is_complete);
        tracing::info!(is_complete, "receiving changes from workers");
    }

    fn on_connected(&self, worker: &Uri, name: String) {
        let mut state = self.state.lock();
        state.connected.insert(worker.clone(), name);
        state.has_connected = true;
        self.changed.notify_one();
    }

    /// Returns whether the worker was connected.
    fn on_disconnected(&self, worker: &Uri) -> bool {
        let mut state = self.state.lock();
        let was_connected = state.connected.remove(worker).is_some();
        if was_connected {
            self.set_complete(&mut state, false);
        }
        was_connected
    }

    async fn stay_connected(&self, worker: &Uri) {
        let mut warning = LastWarning::default();
        loop {
            let reason = self.connect(worker).await.unwrap_or_else(|reason| reason);
            if warning.is_new(self.on_disconnected(worker), &reason) {
                tracing::warn!(worker = %worker, reason, "not connected to a worker; retrying");
            }
            tokio::time::sleep(RECONNECT_DELAY).await;
        }
    }

    /// Receives from one worker until the connection ends; returns why it did.
    async fn connect(&self, worker: &Uri) -> Result<String, String> {
        let token = self.tokens.internal().ok_or("no token could be signed")?;
        let request = Request::get(worker).header(AUTHORIZATION, format!("Bearer {token}"));
        let request = request.body(Empty::new()).map_err(|error| error.to_string())?;
        let response = timeout(SILENCE_LIMIT, self.client.request(request)).await;
        let response = response.map_err(|_| "no response")?.map_err(|error| error.to_string())?;
        if !response.status().is_success() {
            return Err(format!("it responded with {}", response.status()));
        }
        let name = response.headers().get(WORKER).and_then(|name| name.to_str().ok());
        let name = name.ok_or("its response has no worker name")?.to_owned();
        let is_self = name == *self.registry.own_name;
        tracing::info!(worker = %worker, name, "connected to a worker");
        self.on_connected(worker, name);
        if is_self {
            // This process applies its own changes directly.
            drop(response);
            return std::future::pending().await;
        }
        self.read_changes(response).await
    }

    async fn read_changes(&self, response: Response<Incoming>) -> Result<String, String> {
        let (mut body, mut buffer) = (response.into_body(), BytesMut::new());
        loop {
            let frame = timeout(SILENCE_LIMIT, body.frame()).await;
            let Some(frame) = frame.map_err(|_| "it stopped sending")? else {
                return Ok(String::from("it closed the connection"));
            };
            let frame = frame.map_err(|error| error.to_string())?;
            // The bytes before contain no line end.
            let mut from = buffer.len();
            buffer.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
            while let Some(end) = buffer.iter().skip(from).position(|byte| *byte == b'\n') {
                let line = buffer.split_to(from + end + 1);
                self.bus.apply(&wire::read(&line).ok_or(INVALID_LINE)?);
                from = 0;
            }
            if buffer.len() > LINE_BYTES_MAX {
                return Err(String::from(INVALID_LINE));
            }
        }
    }
}

/// The last warning about a worker, so that a long absence is logged once and not with every attempt.
#[derive(Debug, Default)]
struct LastWarning(Option<String>);

impl LastWarning {
    fn is_new(&mut self, was_connected: bool, reason: &str) -> bool {
        let is_new = was_connected || self.0.as_deref() != Some(reason);
        self.0 = Some(reason.to_owned());
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_stays_away_is_warned_about_once() {
        let mut warning = LastWarning::default();
        let warned = [
            (false, "refused"),
            (false, "refused"),
            (false, "no response"),
            (false, "no response"),
            (true, "no response"),
            (false, "no response"),
        ]
        .map(|(was_connected, reason)| warning.is_new(was_connected, reason));
        assert_eq!(warned, [true, false, true, false, true, false]);
    }
}
