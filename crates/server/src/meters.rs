//! What a process counts of what it does, and how `/metrics` shows it, in the text form that Prometheus
//! reads.

mod page;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

pub(crate) use self::page::Page;

/// Upper bounds of the buckets of times, in milliseconds.
const BOUNDS_MS: [u64; 11] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000];

/// Counts.
#[derive(Debug)]
pub(crate) struct Meters {
    started: Instant,
    requests: Mutex<BTreeMap<(&'static str, u16), Times>>,
    answers: AtomicU64,
    refusals: Mutex<BTreeMap<String, u64>>,
    connections: AtomicU64,
    listeners: AtomicU64,
    slow: AtomicU64,
}

/// How long something took, how often.
#[derive(Clone, Debug, Default)]
struct Times {
    count: u64,
    sum: Duration,
    buckets: [u64; BOUNDS_MS.len()],
}

/// Counts something as long as it is there.
#[derive(Debug)]
pub(crate) struct Held<'a>(&'a AtomicU64);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Meters {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            requests: Mutex::default(),
            answers: AtomicU64::new(0),
            refusals: Mutex::default(),
            connections: AtomicU64::new(0),
            listeners: AtomicU64::new(0),
            slow: AtomicU64::new(0),
        }
    }

    /// A request was answered.
    pub(crate) fn request(&self, route: &'static str, status: u16, took: Duration) {
        let mut requests = self.requests.lock();
        let times = requests.entry((route, status)).or_default();
        times.count += 1;
        times.sum += took;
        for (bucket, bound_ms) in times.buckets.iter_mut().zip(BOUNDS_MS) {
            if took <= Duration::from_millis(bound_ms) {
                *bucket += 1;
            }
        }
    }

    /// A document was answered.
    pub(crate) fn answered(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    /// A part of it was refused.
    pub(crate) fn refused(&self, code: &str) {
        let mut refusals = self.refusals.lock();
        match refusals.get_mut(code) {
            Some(count) => *count += 1,
            None => drop(refusals.insert(code.to_owned(), 1)),
        }
    }

    /// Somebody has connected.
    pub(crate) fn connection(&self) -> Held<'_> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Held(&self.connections)
    }

    /// Somebody listens.
    pub(crate) fn listener(&self) -> Held<'_> {
        self.listeners.fetch_add(1, Ordering::Relaxed);
        Held(&self.listeners)
    }

    /// How many listen.
    pub(crate) fn listeners(&self) -> u64 {
        self.listeners.load(Ordering::Relaxed)
    }

    /// A client was too slow.
    pub(crate) fn slow(&self) {
        self.slow.fetch_add(1, Ordering::Relaxed);
    }

    /// Writes all of it down.
    pub(crate) fn show(&self, page: &mut Page) {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        page.gauge(
            "roundtable_uptime_seconds",
            "Since the start.",
            self.started.elapsed().as_secs(),
        );
        page.gauge("roundtable_http_connections", "Open connections.", load(&self.connections));
        page.gauge("roundtable_live_listeners", "Connections that listen.", load(&self.listeners));
        page.counter(
            "roundtable_live_slow_total",
            "Clients dropped as too slow.",
            load(&self.slow),
        );
        page.counter(
            "roundtable_graphql_answers_total",
            "Documents answered.",
            load(&self.answers),
        );
        page.begin("roundtable_graphql_errors_total", "counter", "Errors, by their code.");
        for (code, count) in &*self.refusals.lock() {
            page.sample("roundtable_graphql_errors_total", &[("code", code)], *count);
        }
        self.show_requests(page);
    }

    fn show_requests(&self, page: &mut Page) {
        let name = "roundtable_http_request_seconds";
        page.begin(name, "histogram", "How long requests took, by route and status.");
        for ((route, status), times) in &*self.requests.lock() {
            let status = status.to_string();
            let labels = [("route", *route), ("status", status.as_str())];
            for (bound_ms, count) in BOUNDS_MS.iter().zip(times.buckets) {
                let bound = page::decimal(Duration::from_millis(*bound_ms));
                let labels = [labels[0], labels[1], ("le", bound.as_str())];
                page.sample(&format!("{name}_bucket"), &labels, count);
            }
            let all = [labels[0], labels[1], ("le", "+Inf")];
            page.sample(&format!("{name}_bucket"), &all, times.count);
            page.sample(&format!("{name}_sum"), &labels, page::decimal(times.sum));
            page.sample(&format!("{name}_count"), &labels, times.count);
        }
    }
}
