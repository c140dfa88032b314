//! The most requests a second: connections that ask again as soon as they are answered, as many of them as
//! answers the most. What is asked takes turns.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};

use super::connection::Connection;
use super::requests::{Kind, Requests};
use super::served::Served;
use crate::machine;
use crate::progress::say;
use crate::report::{Better, Report};
use crate::samples::{Samples, median, rate};

/// Connections at the same time, of which the best are taken.
const CONNECTIONS: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// More connections must answer so much more to be taken: they wait longer.
const WORTH: f64 = 1.02;

/// What was reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peak {
    /// Pages a second.
    pub(super) per_second: f64,
}

/// What happened while so many connections asked.
#[derive(Debug, Default)]
struct Window {
    waits: Samples,
    per_second: f64,
    /// Processor time for a request, in microseconds: the server's and ours.
    server_us: f64,
    own_us: f64,
}

/// Finds it for everything that can be asked, and reports it.
pub(super) fn run(
    served: &Served,
    requests: &Requests,
    quick: bool,
    report: &mut Report,
) -> Result<Peak> {
    let (trial, length, rounds) = if quick { (200, 500, 3) } else { (1_500, 5_000, 5) };
    let [trial, length] = [trial, length].map(Duration::from_millis);
    say("looking for the best number of connections");
    let mut best = [(1, 0.0); Kind::ALL.len()];
    for connections in CONNECTIONS {
        for (kind, best) in Kind::ALL.into_iter().zip(&mut best) {
            let window = window(served, requests, kind, connections, trial)?;
            if window.per_second > best.1 * WORTH {
                *best = (connections, window.per_second);
            }
        }
    }
    say("asking in turn");
    let mut windows = Kind::ALL.map(|_| Vec::new());
    let mut alone = Kind::ALL.map(|_| Vec::new());
    for _ in 0..rounds {
        for (place, kind) in Kind::ALL.into_iter().enumerate() {
            let connections = best.get(place).map_or(1, |best| best.0);
            let many = window(served, requests, kind, connections, length)?;
            let one = window(served, requests, kind, 1, trial)?;
            windows.get_mut(place).context("a kind of no place")?.push(many);
            alone.get_mut(place).context("a kind of no place")?.push(one);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a few dozens")]
    let connections = best.map(|(connections, _)| connections as f64);
    let middle = |figure: fn(&Window) -> f64| {
        windows.each_ref().map(|windows| median(windows.iter().map(figure)))
    };
    let per_second = middle(|window| window.per_second);
    report.figure("requests/s", Better::Higher, per_second);
    report.figure("  connections", Better::Lower, connections);
    report.figure("  p50 ms", Better::Lower, waits(&windows, 0.5));
    report.figure("  p99 ms", Better::Lower, waits(&windows, 0.99));
    report.figure("  server's processor time, µs", Better::Lower, middle(|w| w.server_us));
    report.figure("  of whoever asks, µs", Better::Lower, middle(|w| w.own_us));
    report.figure("one connection, p50 ms", Better::Lower, waits(&alone, 0.5));
    report.figure("  p99 ms", Better::Lower, waits(&alone, 0.99));
    let [feed, healthz, typename] = per_second;
    report.note(format!(
        "for each page, {:.1} requests to {} or {:.1} to {} would be answered",
        healthz / feed,
        Kind::Healthz.name(),
        typename / feed,
        Kind::Typename.name(),
    ));
    Ok(Peak { per_second: feed })
}

fn waits<const KINDS: usize>(windows: &[Vec<Window>; KINDS], share: f64) -> [f64; KINDS] {
    windows.each_ref().map(|windows| {
        let mut all = Samples::default();
        windows.iter().for_each(|window| all.extend(&window.waits));
        all.quantile_us(share) / 1e3
    })
}

/// Asks with so many connections for so long.
fn window(
    served: &Served,
    requests: &Requests,
    kind: Kind,
    connections: usize,
    length: Duration,
) -> Result<Window> {
    let ready = Barrier::new(connections + 1);
    let own = std::process::id();
    let (all, server_time, own_time) = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..connections)
            .map(|caller| {
                let ready = &ready;
                scope.spawn(move || {
                    let connection = Connection::open(served.address);
                    ready.wait();
                    ask(connection?, requests, kind, caller, length)
                })
            })
            .collect();
        let before = served.cpu_time().and_then(|time| Ok((time, machine::cpu_time(own)?)));
        ready.wait();
        let joined = callers.into_iter().map(|caller| {
            caller.join().map_err(|_| anyhow!("a connection's thread panicked")).flatten()
        });
        let all = joined.collect::<Result<Vec<Samples>>>()?;
        let before = before?;
        let server_time = served.cpu_time()?.saturating_sub(before.0);
        anyhow::Ok((all, server_time, machine::cpu_time(own)?.saturating_sub(before.1)))
    })?;
    let mut waits = Samples::default();
    all.iter().for_each(|samples| waits.extend(samples));
    ensure!(waits.len() > 0, "nothing was answered");
    let requests = waits.len() as u64;
    let each = |time: Duration| 1e6 / rate(requests, time).max(f64::MIN_POSITIVE);
    Ok(Window {
        per_second: rate(requests, length),
        server_us: each(server_time),
        own_us: each(own_time),
        waits,
    })
}

fn ask(
    mut connection: Connection,
    requests: &Requests,
    kind: Kind,
    caller: usize,
    length: Duration,
) -> Result<Samples> {
    const APART: usize = 31;
    let (mut samples, end) = (Samples::default(), Instant::now() + length);
    let mut number = caller * APART;
    loop {
        let started = Instant::now();
        if started >= end {
            return Ok(samples);
        }
        let body = connection.ask(requests.get(kind, number))?;
        ensure!(kind.is_answered(body), "{}: {}", kind.name(), String::from_utf8_lossy(body));
        samples.add_since(started);
        number += 1;
    }
}
