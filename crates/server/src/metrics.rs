//! The metrics of a process, in the Prometheus text format.

mod page;
mod process;
mod search;
mod time_histogram;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use roundtable_graphql::AnswerTimes;

pub(crate) use self::page::MetricsPage;
use self::time_histogram::TimeHistogram;

/// Upper bounds of the histogram's buckets.
const BOUNDS_MS: [u64; 11] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000];

#[derive(Debug)]
pub(crate) struct ServerMetrics {
    started: Instant,
    requests: Mutex<BTreeMap<(&'static str, u16), DurationHistogram>>,
    responses: AtomicU64,
    /// Waiting for a permit, reading and writing of answers.
    waits: TimeHistogram,
    readings: TimeHistogram,
    writings: TimeHistogram,
    errors: Mutex<BTreeMap<String, u64>>,
    connections: AtomicU64,
    dropped_connections: Mutex<BTreeMap<&'static str, u64>>,
    live_connections: AtomicU64,
    slow_clients: AtomicU64,
    displaced_live_connections: AtomicU64,
}

#[derive(Clone, Debug, Default)]
struct DurationHistogram {
    count: u64,
    sum: Duration,
    buckets: [u64; BOUNDS_MS.len()],
}

/// The reason that the server closed a connection, or did not take one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DropReason {
    /// Only the descriptors that are reserved for the store were left.
    Descriptors,
    /// Accounts with one connection each have all connections.
    Full,
    /// Another one has got its place.
    Displaced,
}

impl DropReason {
    const fn label(self) -> &'static str {
        match self {
            Self::Descriptors => "descriptors",
            Self::Full => "full",
            Self::Displaced => "displaced",
        }
    }
}

/// Counts a connection until it is dropped.
#[derive(Debug)]
pub(crate) struct ActiveGuard<'a>(&'a AtomicU64);

impl Drop for ActiveGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ServerMetrics {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            requests: Mutex::default(),
            responses: AtomicU64::new(0),
            waits: TimeHistogram::default(),
            readings: TimeHistogram::default(),
            writings: TimeHistogram::default(),
            errors: Mutex::default(),
            connections: AtomicU64::new(0),
            dropped_connections: Mutex::default(),
            live_connections: AtomicU64::new(0),
            slow_clients: AtomicU64::new(0),
            displaced_live_connections: AtomicU64::new(0),
        }
    }

    pub(crate) fn record_request(&self, route: &'static str, status: u16, took: Duration) {
        let mut requests = self.requests.lock();
        let histogram = requests.entry((route, status)).or_default();
        histogram.count += 1;
        histogram.sum += took;
        for (bucket, bound_ms) in histogram.buckets.iter_mut().zip(BOUNDS_MS) {
            if took <= Duration::from_millis(bound_ms) {
                *bucket += 1;
            }
        }
    }

    /// Counts an answer, and the time that it took.
    pub(crate) fn record_response(&self, times: AnswerTimes) {
        self.responses.fetch_add(1, Ordering::Relaxed);
        if times != AnswerTimes::default() {
            self.readings.record(times.reading);
            self.writings.record(times.writing);
        }
    }

    /// Counts the time that work waited for a permit.
    pub(crate) fn record_wait(&self, waited: Duration) {
        self.waits.record(waited);
    }

    pub(crate) fn record_error(&self, code: &str) {
        let mut errors = self.errors.lock();
        match errors.get_mut(code) {
            Some(count) => *count += 1,
            None => drop(errors.insert(code.to_owned(), 1)),
        }
    }

    pub(crate) fn track_connection(&self) -> ActiveGuard<'_> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        ActiveGuard(&self.connections)
    }

    pub(crate) fn record_dropped_connection(&self, reason: DropReason) {
        *self.dropped_connections.lock().entry(reason.label()).or_default() += 1;
    }

    pub(crate) fn track_live_connection(&self) -> ActiveGuard<'_> {
        self.live_connections.fetch_add(1, Ordering::Relaxed);
        ActiveGuard(&self.live_connections)
    }

    pub(crate) fn live_connections(&self) -> u64 {
        self.live_connections.load(Ordering::Relaxed)
    }

    pub(crate) fn record_slow_client(&self) {
        self.slow_clients.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn record_displaced_live_connection(&self) {
        self.displaced_live_connections.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn write_to(&self, page: &mut MetricsPage) {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let build_info = "roundtable_build_info";
        page.begin(build_info, "gauge", "The version of the program; always 1.");
        page.sample(build_info, &[("version", env!("CARGO_PKG_VERSION"))], 1);
        page.gauge(
            "roundtable_uptime_seconds",
            "Seconds since the server started.",
            self.started.elapsed().as_secs(),
        );
        page.gauge(
            "roundtable_http_connections",
            "Open HTTP connections.",
            load(&self.connections),
        );
        let dropped = "roundtable_http_connections_dropped_total";
        page.begin(dropped, "counter", "Connections that a limit closed, or did not let in.");
        for (reason, count) in &*self.dropped_connections.lock() {
            page.sample(dropped, &[("reason", reason)], count);
        }
        page.gauge(
            "roundtable_live_connections",
            "Open WebSocket and server-sent event connections.",
            load(&self.live_connections),
        );
        page.counter(
            "roundtable_live_slow_clients_total",
            "Clients disconnected because they did not read their events or answers.",
            load(&self.slow_clients),
        );
        page.counter(
            "roundtable_live_displaced_connections_total",
            "Live connections closed because others needed their place.",
            load(&self.displaced_live_connections),
        );
        page.counter(
            "roundtable_graphql_responses_total",
            "GraphQL responses, events of subscriptions included.",
            load(&self.responses),
        );
        let errors = "roundtable_graphql_errors_total";
        page.begin(errors, "counter", "Errors in GraphQL responses, by code.");
        for (code, count) in &*self.errors.lock() {
            page.sample(errors, &[("code", code)], *count);
        }
        self.waits.write_to(
            page,
            "roundtable_graphql_wait_duration_seconds",
            "Time that executions waited for a permit.",
        );
        self.readings.write_to(
            page,
            "roundtable_graphql_read_duration_seconds",
            "Time to read what an answer shows; the writing of mutations included.",
        );
        self.writings.write_to(
            page,
            "roundtable_graphql_write_duration_seconds",
            "Time to write an answer as JSON.",
        );
        self.write_requests(page);
        process::write_to(page);
    }

    fn write_requests(&self, page: &mut MetricsPage) {
        let name = "roundtable_http_request_duration_seconds";
        page.begin(name, "histogram", "Duration of HTTP requests, by route and status.");
        for ((route, status), histogram) in &*self.requests.lock() {
            let status = status.to_string();
            let labels = [("route", *route), ("status", status.as_str())];
            for (bound_ms, count) in BOUNDS_MS.iter().zip(histogram.buckets) {
                let bound = page::seconds(Duration::from_millis(*bound_ms));
                let labels = [labels[0], labels[1], ("le", bound.as_str())];
                page.sample(&format!("{name}_bucket"), &labels, count);
            }
            let all = [labels[0], labels[1], ("le", "+Inf")];
            page.sample(&format!("{name}_bucket"), &all, histogram.count);
            page.sample(&format!("{name}_sum"), &labels, page::seconds(histogram.sum));
            page.sample(&format!("{name}_count"), &labels, histogram.count);
        }
    }
}
