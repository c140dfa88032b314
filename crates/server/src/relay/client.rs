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
use roundtable_streams::{ActiveWorkers, AnnouncedWorker};
use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::{PATH, WORKER, wire};
use crate::configuration::ConfigurationError;
use crate::https_client::{self, HttpsClient};
use crate::shutdown::ShutdownSignal;
use crate::tokens::AccessTokens;
use crate::worker_leases::WorkerRegistry;

/// Before the next attempt to connect.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);
/// Interval of the search for workers that have registered.
const SEARCH_INTERVAL: Duration = Duration::from_secs(5);
/// Silence after which a worker is considered gone.
const SILENCE_LIMIT: Duration = Duration::from_secs(15);
/// Bytes of one line: a batch of changes with both images of each.
const LINE_BYTES_MAX: usize = 256 << 20;
const INVALID_LINE: &str = "it sent an invalid line; do both processes run the same version?";

#[derive(Debug)]
pub(crate) struct RelayClient {
    /// The configured workers.
    listed: Vec<Uri>,
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
    /// The active workers without an address last warned about.
    unknown: Vec<String>,
}

/// The tasks that stay connected to workers.
#[derive(Debug, Default)]
struct WorkerConnections {
    tasks: JoinSet<()>,
    by_worker: HashMap<Uri, AbortHandle>,
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
        let client = https_client::https_client(["https://"]).or_else(|_| {
            // A machine without root certificates has workers with plain HTTP.
            https_client::https_client(workers.iter().map(String::as_str))
                .map_err(|reason| ConfigurationError::conflict(key, reason))
        })?;
        let listed = workers.iter().map(|worker| worker_uri(key, worker));
        let mut listed: Vec<Uri> = listed.collect::<Result<_, _>>()?;
        listed.sort_by_key(ToString::to_string);
        listed.dedup();
        let (state, changed) = (Mutex::default(), Notify::new());
        Ok(Self { listed, client, tokens, bus, registry, is_worker, state, changed })
    }

    /// Returns whether all changes are received.
    pub(crate) fn is_complete(&self) -> bool {
        self.state.lock().is_complete
    }

    pub(crate) fn connected_workers(&self) -> usize {
        self.state.lock().connected.len()
    }

    /// Receives from all workers until shutdown.
    pub(crate) async fn run(self: Arc<Self>, shutdown: ShutdownSignal) {
        self.bus.set_complete(false);
        shutdown.unless_triggered(self.watch_workers()).await;
    }

    /// Connects to the workers that are listed or have registered, and checks repeatedly that every
    /// active one is connected.
    async fn watch_workers(self: &Arc<Self>) {
        let mut connections = WorkerConnections::default();
        self.listed.iter().for_each(|worker| connections.open(self, worker, None));
        loop {
            match self.registry.active_workers().await {
                Ok(active) => {
                    self.connect_to_registered(&active.workers, &mut connections);
                    self.update(&active);
                }
                // A process that cannot reach the table learns nothing new from it either.
                Err(error) => {
                    tracing::warn!(%error, "cannot read the list of active workers from the store; retrying");
                }
            }
            connections.resume_panics();
            let _ = timeout(SEARCH_INTERVAL, self.changed.notified()).await;
        }
    }

    /// Connects to workers that have registered, and leaves those that are gone.
    fn connect_to_registered(
        self: &Arc<Self>,
        active: &[AnnouncedWorker],
        connections: &mut WorkerConnections,
    ) {
        let others = active.iter().filter(|worker| worker.name != *self.registry.own_name);
        let registered: HashMap<Uri, &str> = others
            .filter_map(|worker| {
                let uri = worker_uri("address", worker.address.as_deref()?).ok()?;
                Some((uri, worker.name.as_str()))
            })
            .collect();
        let is_wanted =
            |worker: &Uri| self.listed.contains(worker) || registered.contains_key(worker);
        for gone in connections.close_unless(is_wanted) {
            self.on_disconnected(&gone);
        }
        for (worker, name) in &registered {
            connections.open(self, worker, Some(*name));
        }
    }

    /// Compares the active workers with the connected ones.
    fn update(&self, active: &ActiveWorkers) {
        let mut state = self.state.lock();
        let is_connected = |worker: &&AnnouncedWorker| {
            self.is_worker && *worker.name == *self.registry.own_name
                || state.connected.values().any(|name| *name == worker.name)
        };
        let disconnected: Vec<&AnnouncedWorker> =
            active.workers.iter().filter(|worker| !is_connected(worker)).collect();
        // Without a worker, nothing is received. The shards of one that died are read again once the
        // others have taken them; later they may be free for a moment, on the way from one to another.
        let is_complete = disconnected.is_empty()
            && !active.workers.is_empty()
            && (state.is_complete || active.hold_all_shards);
        let unknown = disconnected.iter().filter(|worker| worker.address.is_none());
        let unknown: Vec<String> = unknown.map(|worker| worker.name.clone()).collect();
        // While a listed worker is disconnected, any of these may be it.
        let is_unlisted = self.listed.iter().all(|worker| state.connected.contains_key(worker));
        if is_unlisted && !unknown.is_empty() && state.unknown != unknown {
            tracing::error!(
                workers = ?unknown,
                "live.workers: these workers are not listed and have registered no address, or have just \
                 stopped; until all are connected, feeds are read from the table and subscribers miss events"
            );
        }
        state.unknown = unknown;
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

    /// Returns whether a worker is connected at another address, such as a listed one.
    fn is_connected_elsewhere(&self, worker: &Uri, name: &str) -> bool {
        let state = self.state.lock();
        state.connected.iter().any(|(at, connected)| at != worker && connected == name)
    }

    /// Stays connected to a worker. `name` is that of a worker that has registered.
    async fn stay_connected(&self, worker: &Uri, name: Option<&str>) {
        let mut warning = LastWarning::default();
        if name.is_some() && !self.listed.is_empty() {
            // It is listed as well, perhaps, and that connection is the first.
            tokio::time::sleep(RECONNECT_DELAY).await;
        }
        loop {
            if name.is_none_or(|name| !self.is_connected_elsewhere(worker, name)) {
                let reason = self.connect(worker).await.unwrap_or_else(|reason| reason);
                if warning.is_new(self.on_disconnected(worker), &reason) {
                    tracing::warn!(worker = %worker, reason, "not connected to a worker; retrying");
                }
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

impl WorkerConnections {
    /// Starts a task that stays connected to a worker, unless there is one.
    fn open(&mut self, client: &Arc<RelayClient>, worker: &Uri, name: Option<&str>) {
        if self.by_worker.contains_key(worker) {
            return;
        }
        let (client, at, name) = (Arc::clone(client), worker.clone(), name.map(str::to_owned));
        let task = async move { client.stay_connected(&at, name.as_deref()).await };
        self.by_worker.insert(worker.clone(), self.tasks.spawn(task));
    }

    /// Ends the tasks of all workers that are not wanted, and returns these.
    fn close_unless(&mut self, is_wanted: impl Fn(&Uri) -> bool) -> Vec<Uri> {
        let unwanted = self.by_worker.extract_if(|worker, _| !is_wanted(worker));
        let closed = unwanted.map(|(worker, task)| {
            task.abort();
            worker
        });
        closed.collect()
    }

    /// Panics if a task has, so that the whole relay is reported as down.
    fn resume_panics(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            if let Err(error) = ended
                && let Ok(panic) = error.try_into_panic()
            {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// Parses the address of a worker, and adds the path of the relay.
pub(crate) fn worker_uri(key: &'static str, address: &str) -> Result<Uri, ConfigurationError> {
    let at = format!("{}{PATH}", address.trim_end_matches('/'));
    let uri = at.parse::<Uri>().ok();
    uri.filter(|uri| uri.scheme().is_some() && uri.authority().is_some()).ok_or_else(|| {
        let problem =
            format!("{address:?} is not the address of a worker, such as http://10.0.0.5:4000");
        ConfigurationError::conflict(key, problem)
    })
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
