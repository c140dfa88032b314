//! Where stories are played: the servers that people reach, and in which manner they ask.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::RwLock;

use reqwest::Client;
use serde_json::Value;

/// In which manner people ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Every mutation once.
    Plain,
    /// Every mutation twice under one request id, the second time at another server if there is one: the
    /// answers must be the same, and what came of it that of one.
    Twice,
}

/// Makes somebody, by their nickname, a moderator: as whoever runs the installation can.
type Grant = Box<dyn Fn(&str) + Send + Sync>;

/// The servers of one installation.
pub(crate) struct Scene {
    pub(super) http: Client,
    pub(super) style: Style,
    doors: RwLock<Doors>,
    grant: Grant,
    patience: Duration,
    /// Everybody has another name, and every request another id.
    numbers: AtomicUsize,
}

/// The addresses of servers; none where one has gone.
pub(crate) type Doors = Vec<Option<String>>;

impl Scene {
    /// At these addresses. `patience` is how long anything may take that follows from something else.
    pub(crate) fn at(
        doors: Doors,
        style: Style,
        patience: Duration,
        grant: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        Self {
            http: Client::builder().no_proxy().build().unwrap(),
            style,
            doors: RwLock::new(doors),
            grant: Box::new(grant),
            patience,
            numbers: AtomicUsize::new(0),
        }
    }

    /// From now on the servers are there.
    pub(super) fn moves_to(&self, doors: Doors) {
        *self.doors.write() = doors;
    }

    pub(super) fn number(&self) -> usize {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// The server that somebody goes to, or the next one if nobody is there any more.
    pub(super) fn door(&self, wanted: usize) -> String {
        let doors = self.doors.read();
        let from = doors.iter().cycle().skip(wanted % doors.len()).take(doors.len());
        from.flatten().next().unwrap().clone()
    }

    /// Makes somebody a moderator.
    pub(super) fn grant(&self, nickname: &str) {
        (self.grant)(nickname);
    }

    /// A deadline for what has to come.
    pub(super) fn deadline(&self) -> Deadline {
        Deadline { began: Instant::now(), patience: self.patience }
    }

    pub(super) const fn patience(&self) -> Duration {
        self.patience
    }

    /// How many things are listened to at a server, as it says itself.
    pub(super) async fn listened_to(&self, door: &str) -> u64 {
        self.figure(door, "roundtable_live_matters").await
    }

    async fn figure(&self, door: &str, name: &str) -> u64 {
        let page = self.http.get(format!("{door}/metrics")).send().await.unwrap();
        let page = page.text().await.unwrap();
        let mut figures = page.lines().filter_map(|line| line.split_once(' '));
        let (_, figure) = figures.find(|line| line.0 == name).unwrap_or_else(|| panic!("{page}"));
        figure.parse().unwrap()
    }

    /// Waits until nobody listens any more: what a story leaves behind would be heard in the next.
    pub(super) async fn is_quiet(&self) {
        let doors: Vec<String> = self.doors.read().iter().flatten().cloned().collect();
        for door in doors {
            let deadline = self.deadline();
            while self.listened_to(&door).await > 0 {
                deadline.wait("somebody still listens").await;
            }
        }
    }
}

/// Until when something must have come.
pub(super) struct Deadline {
    began: Instant,
    patience: Duration,
}

impl Deadline {
    /// A moment until the next look; panics when there was time enough.
    pub(super) async fn wait(&self, what: impl std::fmt::Display) {
        assert!(self.began.elapsed() < self.patience, "not in {:?}: {what}", self.patience);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The text that is there.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// One field of each item of a list.
pub(crate) fn each<'v>(list: &'v Value, field: &str) -> Vec<&'v Value> {
    let items = list["items"].as_array().unwrap_or_else(|| panic!("no list: {list}"));
    items.iter().map(|item| &item[field]).collect()
}
