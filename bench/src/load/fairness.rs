//! Fairness: the waits of two signed-in users while anonymous clients of other addresses send the most
//! expensive query that is allowed, as fast as they are answered.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use roundtable_test_client::{
    Connection, FloodStats, Samples, graphql, is_answer, rate, send_until,
};
use serde_json::json;

use super::content::Content;
use super::requests::{RequestKind, Requests};
use super::server::ServerProcess;
use crate::progress::log_step;
use crate::report::{Better, Report};

const ANONYMOUS: [IpAddr; 4] = [loopback(2), loopback(3), loopback(4), loopback(5)];
const SIGNED_IN: IpAddr = loopback(9);
/// Anonymous connections of all addresses together.
const CONNECTIONS: usize = 64;
/// The time between two requests of a probe.
const EVERY: Duration = Duration::from_millis(10);
/// A request may wait this long before it counts as failed.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Probes begin when the load has built up.
const BUILD_UP: Duration = Duration::from_secs(1);
const TYPENAME_MS_MAX: f64 = 50.0;
const FEED_MS_MAX: f64 = 250.0;

const fn loopback(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))
}

/// A document by its size, and the largest size to try.
struct Candidate {
    name: &'static str,
    document: fn(id: &str, size: usize) -> String,
    size_max: usize,
    id: String,
}

/// Measures both probes and reports them with their bars.
pub(super) fn run(
    server: &ServerProcess,
    requests: &Requests,
    content: &Content,
    quick: bool,
    report: &mut Report,
) -> Result<()> {
    log_step("finding the most expensive query");
    let query = most_expensive(server, content, report)?;
    let length = Duration::from_secs(if quick { 3 } else { 20 });
    log_step(&format!("{CONNECTIONS} anonymous connections for {} s", length.as_secs()));
    let (stats, stop) = (FloodStats::default(), AtomicBool::new(false));
    let started = Instant::now();
    let probes = std::thread::scope(|scope| {
        for number in 0..CONNECTIONS {
            let own = ANONYMOUS.get(number % ANONYMOUS.len()).copied().unwrap_or(SIGNED_IN);
            let (query, stats, stop) = (&query, &stats, &stop);
            scope.spawn(move || send_until(stop, own, server.address, query, TIMEOUT, stats));
        }
        sleep(BUILD_UP);
        let probes = [RequestKind::Typename, RequestKind::Feed]
            .map(|kind| scope.spawn(move || probe(server, requests, kind, length)));
        let probes =
            probes.map(|probe| probe.join().map_err(|_| anyhow!("a probe panicked")).flatten());
        stop.store(true, Ordering::Relaxed);
        probes
    });
    let [typename, feed] = probes;
    add_to_report(typename?, feed?, &stats, started.elapsed(), report);
    Ok(())
}

fn add_to_report(
    mut typename: Samples,
    mut feed: Samples,
    stats: &FloodStats,
    took: Duration,
    report: &mut Report,
) {
    let mut waits =
        |share| [feed.quantile_us(share), typename.quantile_us(share)].map(|us| us / 1e3);
    let [p50, p99] = [waits(0.5), waits(0.99)];
    let label = format!("beside {CONNECTIONS} anonymous connections, p50 ms");
    report.figure(label, Better::Lower, [Some(p50[0]), None, Some(p50[1])]);
    report.figure("  p99 ms", Better::Lower, [Some(p99[0]), None, Some(p99[1])]);
    let count = |count: &AtomicU64| rate(count.load(Ordering::Relaxed), took);
    report.note(format!(
        "anonymous clients: {:.1} requests/s answered, {:.1} refused, {:.1} broken off; probes: {} and {}",
        count(&stats.answered),
        count(&stats.refused),
        count(&stats.broken),
        feed.len(),
        typename.len(),
    ));
    report.under("fair-typename", p99[1], TYPENAME_MS_MAX, "ms");
    report.under("fair-feed", p99[0], FEED_MS_MAX, "ms");
}

/// Returns the anonymous request that takes longest of those that the limits allow.
fn most_expensive(
    server: &ServerProcess,
    content: &Content,
    report: &mut Report,
) -> Result<Vec<u8>> {
    const TRIES: usize = 5;
    let mut longest = (Duration::ZERO, Vec::new(), String::new());
    for candidate in candidates(content) {
        let mut connection = Connection::open_from(loopback(2), server.address, TIMEOUT)?;
        let size = largest_allowed(&mut connection, server, &candidate)?;
        let request = candidate.request(server, size);
        let mut times = Vec::with_capacity(TRIES);
        for _ in 0..TRIES {
            let started = Instant::now();
            connection.exchange(&request)?;
            times.push(started.elapsed());
        }
        let bytes = connection.exchange(&request)?.1.len();
        times.sort_unstable();
        let time = times.get(TRIES / 2).copied().unwrap_or_default();
        let name = candidate.name;
        report.note(format!(
            "{name}, size {size}: {:.1} ms, {bytes} bytes",
            time.as_secs_f64() * 1e3
        ));
        if time > longest.0 {
            longest = (time, request, name.to_owned());
        }
    }
    ensure!(!longest.1.is_empty(), "no query is allowed");
    report.note(format!("the most expensive query: {}", longest.2));
    Ok(longest.1)
}

fn candidates(content: &Content) -> [Candidate; 4] {
    [
        Candidate {
            name: "posts with their authors of a hundred users",
            document: |id, size| {
                format!(
                    "{{ getUser(id: \"{id}\") {{ followers(first: 100) {{ items {{ follower {{ \
                     posts(first: {size}) {{ items {{ content likeCount viewerHasLiked author {{ \
                     nickname profileImageUrl }} }} }} }} }} }} }} }}"
                )
            },
            size_max: 100,
            id: content.star.clone(),
        },
        Candidate {
            name: "short lists of many posts",
            document: |id, size| {
                format!(
                    "{{ getUser(id: \"{id}\") {{ followers(first: 100) {{ items {{ follower {{ \
                     posts(first: {size}) {{ items {{ comments(first: 1) {{ items {{ content }} }} \
                     likes(first: 1) {{ items {{ createdAt }} }} }} }} \
                     following(first: 1) {{ items {{ createdAt }} }} \
                     followers(first: 1) {{ items {{ createdAt }} }} }} }} }} }} }}"
                )
            },
            size_max: 100,
            id: content.star.clone(),
        },
        Candidate {
            name: "long posts, again and again",
            document: |id, size| {
                let again = |number: usize| format!("c{number}: content ");
                let again: String = (0..size).map(again).collect();
                format!(
                    "{{ getUser(id: \"{id}\") {{ posts(first: 100) {{ items {{ {again} }} }} }} }}"
                )
            },
            size_max: 50,
            id: content.novelist.clone(),
        },
        Candidate {
            name: "posts with cursors of a hundred users",
            document: |id, size| {
                format!(
                    "{{ getUser(id: \"{id}\") {{ followers(first: 100) {{ edges {{ cursor node {{ \
                     follower {{ posts(first: {size}) {{ edges {{ cursor node {{ nodeId content \
                     }} }} }} }} }} }} }} }} }}"
                )
            },
            size_max: 100,
            id: content.star.clone(),
        },
    ]
}

impl Candidate {
    fn request(&self, server: &ServerProcess, size: usize) -> Vec<u8> {
        graphql(server.address, None, &(self.document)(&self.id, size), &json!({}))
    }
}

/// Returns the largest size that is answered without errors.
fn largest_allowed(
    connection: &mut Connection,
    server: &ServerProcess,
    candidate: &Candidate,
) -> Result<usize> {
    let (mut allowed, mut refused) = (0, candidate.size_max + 1);
    while refused - allowed > 1 {
        let size = usize::midpoint(allowed, refused);
        let (status, body) = connection.exchange(&candidate.request(server, size))?;
        if is_answer(status, body) {
            allowed = size;
        } else {
            refused = size;
        }
    }
    ensure!(allowed > 0, "{} is refused in any size", candidate.name);
    Ok(allowed)
}

/// Sends a signed-in request in intervals. A failed one fails the measurement.
fn probe(
    server: &ServerProcess,
    requests: &Requests,
    kind: RequestKind,
    length: Duration,
) -> Result<Samples> {
    let mut connection = Connection::open_from(SIGNED_IN, server.address, TIMEOUT)?;
    let (mut samples, begin) = (Samples::default(), Instant::now());
    for number in 0.. {
        if begin.elapsed() >= length {
            break;
        }
        let started = Instant::now();
        let body = connection.request(&requests.get(kind, number))?;
        samples.add_since(started);
        ensure!(kind.is_success(body), "{}: {}", kind.name(), String::from_utf8_lossy(body));
        sleep(EVERY.saturating_sub(started.elapsed()));
    }
    Ok(samples)
}
