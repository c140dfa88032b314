//! The peak of requests per second: connections that send the next request after each response, in the
//! best number. Subjects alternate.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Barrier;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use roundtable_test_client::{Connection, Samples, median, rate};

use super::requests::RequestKind;
use crate::machine;
use crate::progress::log_step;

/// The numbers of connections to try.
const CONNECTIONS: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// The gain that justifies more connections, since they wait longer.
const GAIN_MIN: f64 = 1.02;

/// Requests of one kind to one server.
pub(super) struct PeakSubject<'a> {
    pub(super) name: &'static str,
    pub(super) address: SocketAddr,
    /// The first processes of the server and of its database.
    pub(super) processes: Vec<u32>,
    /// Returns the bytes of a request by its number.
    pub(super) request: Box<dyn Fn(usize) -> Cow<'a, [u8]> + Sync + 'a>,
    pub(super) kind: RequestKind,
}

/// The measurements of a subject.
#[derive(Debug, Default)]
pub(super) struct PeakFigures {
    /// The best number of connections, and its requests per second in a trial.
    best: (usize, f64),
    windows: Vec<Window>,
    /// With one connection.
    alone: Vec<Window>,
}

#[derive(Debug, Default)]
struct Window {
    waits: Samples,
    per_second: f64,
    /// Processor time per request, of the server and of this process.
    server_us: f64,
    own_us: f64,
}

impl PeakFigures {
    pub(super) fn per_second(&self) -> f64 {
        median(self.windows.iter().map(|window| window.per_second))
    }

    /// The requests per second of the slowest round.
    pub(super) fn slowest(&self) -> f64 {
        self.windows.iter().map(|window| window.per_second).fold(f64::INFINITY, f64::min)
    }

    #[expect(clippy::cast_precision_loss, reason = "a few dozens")]
    pub(super) const fn connections(&self) -> f64 {
        self.best.0 as f64
    }

    /// A quantile of the waits, in milliseconds.
    pub(super) fn wait_ms(&self, share: f64) -> f64 {
        wait_ms(&self.windows, share)
    }

    /// A quantile of the waits with one connection.
    pub(super) fn wait_alone_ms(&self, share: f64) -> f64 {
        wait_ms(&self.alone, share)
    }

    pub(super) fn server_us(&self) -> f64 {
        median(self.windows.iter().map(|window| window.server_us))
    }

    pub(super) fn own_us(&self) -> f64 {
        median(self.windows.iter().map(|window| window.own_us))
    }
}

fn wait_ms(windows: &[Window], share: f64) -> f64 {
    let mut all = Samples::default();
    windows.iter().for_each(|window| all.extend(&window.waits));
    all.quantile_us(share) / 1e3
}

/// Measures the peak of every subject, in the order of the subjects.
pub(super) fn measure(subjects: &[PeakSubject<'_>], quick: bool) -> Result<Vec<PeakFigures>> {
    let (trial, length, rounds) = if quick { (200, 500, 3) } else { (1_500, 5_000, 5) };
    let [trial, length] = [trial, length].map(Duration::from_millis);
    let mut figures: Vec<PeakFigures> = subjects.iter().map(|_| PeakFigures::default()).collect();
    log_step("finding the best number of connections");
    for connections in CONNECTIONS {
        for (subject, figures) in subjects.iter().zip(&mut figures) {
            let window = window(subject, connections, trial)?;
            if window.per_second > figures.best.1 * GAIN_MIN {
                figures.best = (connections, window.per_second);
            }
        }
    }
    log_step("measuring alternately");
    for _ in 0..rounds {
        for (subject, figures) in subjects.iter().zip(&mut figures) {
            figures.windows.push(window(subject, figures.best.0, length)?);
            figures.alone.push(window(subject, 1, trial)?);
        }
    }
    Ok(figures)
}

/// Sends requests on a number of connections.
fn window(subject: &PeakSubject<'_>, connections: usize, length: Duration) -> Result<Window> {
    let ready = Barrier::new(connections + 1);
    let own = std::process::id();
    let cpu_times = || anyhow::Ok((subject.cpu_time()?, machine::cpu_time(own)?));
    let (all, server_time, own_time) = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..connections)
            .map(|caller| {
                let ready = &ready;
                scope.spawn(move || {
                    let connection = Connection::open(subject.address);
                    ready.wait();
                    send_requests(connection?, subject, caller, length)
                })
            })
            .collect();
        let before = cpu_times();
        ready.wait();
        let joined = callers.into_iter().map(|caller| {
            caller.join().map_err(|_| anyhow!("a connection's thread panicked")).flatten()
        });
        let all = joined.collect::<Result<Vec<Samples>>>()?;
        let (before, after) = (before?, cpu_times()?);
        anyhow::Ok((all, after.0.saturating_sub(before.0), after.1.saturating_sub(before.1)))
    })?;
    if subject.kind == RequestKind::Like {
        // Processors go on working after the last response.
        subject.settle()?;
    }
    let mut waits = Samples::default();
    all.iter().for_each(|samples| waits.extend(samples));
    ensure!(!waits.is_empty(), "{}: no request succeeded", subject.name);
    let requests = waits.len() as u64;
    let each = |time: Duration| 1e6 / rate(requests, time).max(f64::MIN_POSITIVE);
    Ok(Window {
        per_second: rate(requests, length),
        server_us: each(server_time),
        own_us: each(own_time),
        waits,
    })
}

impl PeakSubject<'_> {
    fn cpu_time(&self) -> Result<Duration> {
        self.processes.iter().map(|process| machine::family_cpu_time(*process)).sum()
    }

    /// Waits until the server is idle, so that its processors do not slow the next subject.
    fn settle(&self) -> Result<()> {
        const TIMEOUT: Duration = Duration::from_mins(1);
        const INTERVAL: Duration = Duration::from_millis(200);
        // A tenth of one core.
        const IDLE: Duration = Duration::from_millis(20);
        let started = Instant::now();
        loop {
            let before = self.cpu_time()?;
            sleep(INTERVAL);
            if self.cpu_time()?.saturating_sub(before) <= IDLE {
                return Ok(());
            }
            ensure!(started.elapsed() < TIMEOUT, "{}: the server does not come to rest", self.name);
        }
    }
}

fn send_requests(
    mut connection: Connection,
    subject: &PeakSubject<'_>,
    caller: usize,
    length: Duration,
) -> Result<Samples> {
    const CALLER_OFFSET: usize = 31;
    let (mut samples, end) = (Samples::default(), Instant::now() + length);
    let mut number = caller * CALLER_OFFSET;
    loop {
        let request = (subject.request)(number);
        let started = Instant::now();
        if started >= end {
            return Ok(samples);
        }
        let body = connection.request(&request)?;
        let text = || String::from_utf8_lossy(body.get(..500).unwrap_or(body));
        ensure!(subject.kind.is_success(body), "{}: {}", subject.name, text());
        samples.add_since(started);
        number += 1;
    }
}
