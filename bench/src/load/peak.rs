//! The peak of requests per second: connections that send the next request after each response, in the
//! best number. Request kinds alternate.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};

use super::connection::Connection;
use super::requests::{RequestKind, Requests};
use super::server::ServerProcess;
use crate::machine;
use crate::progress::log_step;
use crate::report::{Better, Report};
use crate::samples::{Samples, median, rate};

/// The numbers of connections to try.
const CONNECTIONS: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// The gain that justifies more connections, since they wait longer.
const GAIN_MIN: f64 = 1.02;

#[derive(Clone, Copy, Debug)]
pub(super) struct Peak {
    pub(super) per_second: f64,
}

#[derive(Debug, Default)]
struct Window {
    waits: Samples,
    per_second: f64,
    /// Processor time per request, of the server and of this process.
    server_us: f64,
    own_us: f64,
}

/// Finds and reports the peak of every request kind.
pub(super) fn run(
    server: &ServerProcess,
    requests: &Requests,
    quick: bool,
    report: &mut Report,
) -> Result<Peak> {
    let (trial, length, rounds) = if quick { (200, 500, 3) } else { (1_500, 5_000, 5) };
    let [trial, length] = [trial, length].map(Duration::from_millis);
    log_step("finding the best number of connections");
    let mut best = [(1, 0.0); RequestKind::ALL.len()];
    for connections in CONNECTIONS {
        for (kind, best) in RequestKind::ALL.into_iter().zip(&mut best) {
            let window = window(server, requests, kind, connections, trial)?;
            if window.per_second > best.1 * GAIN_MIN {
                *best = (connections, window.per_second);
            }
        }
    }
    log_step("measuring alternately");
    let mut windows = RequestKind::ALL.map(|_| Vec::new());
    let mut alone = RequestKind::ALL.map(|_| Vec::new());
    for _ in 0..rounds {
        for (index, kind) in RequestKind::ALL.into_iter().enumerate() {
            let connections = best.get(index).map_or(1, |best| best.0);
            let many = window(server, requests, kind, connections, length)?;
            let one = window(server, requests, kind, 1, trial)?;
            windows.get_mut(index).context("an unknown request kind")?.push(many);
            alone.get_mut(index).context("an unknown request kind")?.push(one);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a few dozens")]
    let connections = best.map(|(connections, _)| connections as f64);
    let median_of = |figure: fn(&Window) -> f64| {
        windows.each_ref().map(|windows| median(windows.iter().map(figure)))
    };
    let per_second = median_of(|window| window.per_second);
    report.figure("requests/s", Better::Higher, per_second);
    report.figure("  connections", Better::Lower, connections);
    report.figure("  p50 ms", Better::Lower, waits(&windows, 0.5));
    report.figure("  p99 ms", Better::Lower, waits(&windows, 0.99));
    report.figure("  server's processor time, µs", Better::Lower, median_of(|w| w.server_us));
    report.figure("  of whoever asks, µs", Better::Lower, median_of(|w| w.own_us));
    report.figure("one connection, p50 ms", Better::Lower, waits(&alone, 0.5));
    report.figure("  p99 ms", Better::Lower, waits(&alone, 0.99));
    let [feed, healthz, typename] = per_second;
    report.note(format!(
        "for each page, {:.1} requests to {} or {:.1} to {} would be answered",
        healthz / feed,
        RequestKind::Healthz.name(),
        typename / feed,
        RequestKind::Typename.name(),
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

/// Sends requests on a number of connections.
fn window(
    server: &ServerProcess,
    requests: &Requests,
    kind: RequestKind,
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
                    let connection = Connection::open(server.address);
                    ready.wait();
                    send_requests(connection?, requests, kind, caller, length)
                })
            })
            .collect();
        let before = server.cpu_time().and_then(|time| Ok((time, machine::cpu_time(own)?)));
        ready.wait();
        let joined = callers.into_iter().map(|caller| {
            caller.join().map_err(|_| anyhow!("a connection's thread panicked")).flatten()
        });
        let all = joined.collect::<Result<Vec<Samples>>>()?;
        let before = before?;
        let server_time = server.cpu_time()?.saturating_sub(before.0);
        anyhow::Ok((all, server_time, machine::cpu_time(own)?.saturating_sub(before.1)))
    })?;
    let mut waits = Samples::default();
    all.iter().for_each(|samples| waits.extend(samples));
    ensure!(waits.len() > 0, "no request succeeded");
    let requests = waits.len() as u64;
    let each = |time: Duration| 1e6 / rate(requests, time).max(f64::MIN_POSITIVE);
    Ok(Window {
        per_second: rate(requests, length),
        server_us: each(server_time),
        own_us: each(own_time),
        waits,
    })
}

fn send_requests(
    mut connection: Connection,
    requests: &Requests,
    kind: RequestKind,
    caller: usize,
    length: Duration,
) -> Result<Samples> {
    const CALLER_OFFSET: usize = 31;
    let (mut samples, end) = (Samples::default(), Instant::now() + length);
    let mut number = caller * CALLER_OFFSET;
    loop {
        let started = Instant::now();
        if started >= end {
            return Ok(samples);
        }
        let body = connection.request(requests.get(kind, number))?;
        ensure!(kind.is_success(body), "{}: {}", kind.name(), String::from_utf8_lossy(body));
        samples.add_since(started);
        number += 1;
    }
}
