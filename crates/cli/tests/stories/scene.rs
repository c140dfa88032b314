//! The scene of stories: the servers that users reach, and the style of their requests.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::RwLock;

use reqwest::Client;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Sends every mutation once.
    Plain,
    /// Sends every mutation twice under one request id, the second time to another server if there is
    /// one: the responses must be equal, and the effect that of one.
    Twice,
}

/// Makes a user a moderator by nickname, as an operator can.
type Grant = Box<dyn Fn(&str) + Send + Sync>;

/// The servers of one installation.
pub(crate) struct Scene {
    pub(super) http: Client,
    pub(super) style: Style,
    servers: RwLock<ServerAddresses>,
    grant: Grant,
    timeout: Duration,
    /// Makes nicknames and request ids unique.
    numbers: AtomicUsize,
}

/// The addresses of servers; `None` for one that is gone.
pub(crate) type ServerAddresses = Vec<Option<String>>;

impl Scene {
    /// `timeout` is the time for derived work.
    pub(crate) fn at(
        servers: ServerAddresses,
        style: Style,
        timeout: Duration,
        grant: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        Self {
            http: Client::builder().no_proxy().build().unwrap(),
            style,
            servers: RwLock::new(servers),
            grant: Box::new(grant),
            timeout,
            numbers: AtomicUsize::new(0),
        }
    }

    pub(super) fn set_servers(&self, servers: ServerAddresses) {
        *self.servers.write() = servers;
    }

    pub(super) fn number(&self) -> usize {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// The user's server, or the next one that is up.
    pub(super) fn server(&self, wanted: usize) -> String {
        let servers = self.servers.read();
        let from = servers.iter().cycle().skip(wanted % servers.len()).take(servers.len());
        from.flatten().next().unwrap().clone()
    }

    pub(super) fn grant(&self, nickname: &str) {
        (self.grant)(nickname);
    }

    pub(super) fn deadline(&self) -> Deadline {
        Deadline { began: Instant::now(), timeout: self.timeout }
    }

    pub(super) const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The number of subscribed topics, by the server's own metrics.
    pub(super) async fn subscribed_topics(&self, server: &str) -> u64 {
        self.metric(server, "roundtable_live_topics").await
    }

    async fn metric(&self, server: &str, name: &str) -> u64 {
        let page = self.http.get(format!("{server}/metrics")).send().await.unwrap();
        let page = page.text().await.unwrap();
        let mut metrics = page.lines().filter_map(|line| line.split_once(' '));
        let (_, metric) = metrics.find(|line| line.0 == name).unwrap_or_else(|| panic!("{page}"));
        metric.parse().unwrap()
    }

    /// Waits until all subscriptions have ended: one left by a story would receive the next one's
    /// events.
    pub(super) async fn wait_until_unsubscribed(&self) {
        let servers: Vec<String> = self.servers.read().iter().flatten().cloned().collect();
        for server in servers {
            let deadline = self.deadline();
            while self.subscribed_topics(&server).await > 0 {
                deadline.wait("somebody still listens").await;
            }
        }
    }
}

pub(super) struct Deadline {
    began: Instant,
    timeout: Duration,
}

impl Deadline {
    /// Waits a moment; panics after the deadline.
    pub(super) async fn wait(&self, what: impl std::fmt::Display) {
        assert!(self.began.elapsed() < self.timeout, "not in {:?}: {what}", self.timeout);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// One field of each item of a list.
pub(crate) fn each<'v>(list: &'v Value, field: &str) -> Vec<&'v Value> {
    let items = list["items"].as_array().unwrap_or_else(|| panic!("no list: {list}"));
    items.iter().map(|item| &item[field]).collect()
}
