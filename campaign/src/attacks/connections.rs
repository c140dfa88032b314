//! Connections that cost the server memory and descriptors, and the client almost nothing.

use std::io::Write as _;
use std::net::{IpAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{ScopedJoinHandle, scope, sleep};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use serde_json::json;

use super::AttackCase;
use super::scene::{AttackScene, CREATE_POST, READER, STRANGERS};
use super::strangers::from_everywhere;
use super::watch::check_descriptors;

pub(super) const CASES: &[AttackCase] = &[
    AttackCase {
        name: "half-sent-heads",
        expected: "heads of 400 KB end at 32 KiB, and what is held of shorter ones has a budget",
        run: send_half_heads,
    },
    AttackCase {
        name: "half-sent-bodies",
        expected: "bodies that never end stay within their budget, and take no room of signed-in clients",
        run: send_half_bodies,
    },
    AttackCase {
        name: "idle-connections",
        expected: "strangers' connections make room for others, and leave the store its descriptors",
        run: open_idle_connections,
    },
    AttackCase {
        name: "half-open-requests",
        expected: "the log begins another file while strangers hold all descriptors that they can get",
        run: rotate_the_log,
    },
];

const UNFINISHED: &str = "roundtable_http_unfinished_request_bytes";
const REFUSED: &str = "roundtable_http_unfinished_requests_refused_total";
const DISPLACED: &str = "roundtable_http_connections_dropped_total";
/// The default budget of unfinished requests.
const UNFINISHED_MAX: f64 = 67_108_864.0;
/// Connections that an address opens again at once.
const REOPENED_MAX: usize = 50;
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The connections that the descriptors leave room for, and those that are being closed.
const CONNECTIONS_MAX: f64 = 800.0;

fn send_half_heads(scene: &AttackScene<'_>) -> Result<String> {
    const LONG_BYTES: usize = 400 << 10;
    const SHORT_BYTES: usize = 30_000;
    let refused_before = scene.metric(REFUSED)?;
    let answered = from_everywhere(|from| {
        let mut held = Vec::new();
        for number in 0..scene.size.heads / STRANGERS.len() {
            // Every second one stays below the limit of a head.
            let bytes = if number % 2 == 0 { LONG_BYTES } else { SHORT_BYTES };
            let Ok(mut stream) = scene.connect(from) else { continue };
            let begin = format!("GET /healthz HTTP/1.1\r\nhost: x\r\nx: {}", "v".repeat(bytes));
            // The server may hang up at any byte.
            let _ = stream.write_all(begin.as_bytes());
            held.push(stream);
        }
        let end = Instant::now() + scene.size.flood;
        while Instant::now() < end {
            let unfinished = scene.metric(UNFINISHED)?;
            ensure!(unfinished <= UNFINISHED_MAX, "{unfinished} bytes of heads are held");
            sleep(POLL_INTERVAL);
        }
        Ok(held.iter().filter(|stream| is_answered(stream)).count())
    })?;
    let refused = scene.metric(REFUSED)? - refused_before;
    ensure!(answered > 0, "no long head was answered or disconnected");
    Ok(format!(
        "{answered} of {} heads were answered or disconnected, {refused} for the budget",
        scene.size.heads
    ))
}

fn send_half_bodies(scene: &AttackScene<'_>) -> Result<String> {
    /// Together more than all bodies may take.
    const CONNECTIONS: usize = 40;
    const LENGTH: usize = 1_000_000;
    /// The default budget, and a quarter of it for the first bytes of each body.
    const BODIES_MAX: f64 = 1.25 * 67_108_864.0;
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         content-length: {LENGTH}\r\n\r\n"
    );
    let body = vec![b' '; LENGTH - 1];
    let sent: usize = from_everywhere(|from| {
        let streams = open_all(scene, from, CONNECTIONS, head.as_bytes());
        let mut streams: Vec<(TcpStream, usize)> =
            streams.into_iter().map(|stream| (stream, 0)).collect();
        let end = Instant::now() + scene.size.flood;
        while Instant::now() < end {
            for (stream, sent) in &mut streams {
                stream.set_nonblocking(true)?;
                // The server may have no room for more, or have hung up.
                let more = stream.write(body.get(*sent..).unwrap_or_default());
                *sent += more.unwrap_or_default();
            }
            let held = scene.metric("roundtable_http_request_body_bytes")?;
            ensure!(held <= BODIES_MAX, "{held} bytes of bodies are held");
            sleep(POLL_INTERVAL);
        }
        Ok(streams.iter().map(|(_, sent)| sent).sum())
    })?;
    let connections = STRANGERS.len() * CONNECTIONS;
    Ok(format!("{} MB were sent on {connections} connections", sent / 1_000_000))
}

/// Returns whether the server has sent something, or hung up.
fn is_answered(stream: &TcpStream) -> bool {
    let would_block = |error: std::io::Error| error.kind() == std::io::ErrorKind::WouldBlock;
    stream.set_nonblocking(true).is_ok() && !stream.peek(&mut [0]).is_err_and(would_block)
}

/// Opens connections that send this and nothing else. Returns those that came about.
fn open_all(scene: &AttackScene<'_>, from: IpAddr, number: usize, begin: &[u8]) -> Vec<TcpStream> {
    let mut held = Vec::with_capacity(number);
    for _ in 0..number {
        let Ok(mut stream) = scene.connect(from) else { continue };
        if stream.write_all(begin).is_ok() {
            held.push(stream);
        }
    }
    held
}

fn open_idle_connections(scene: &AttackScene<'_>) -> Result<String> {
    let before = scene.metric(DISPLACED)?;
    let number = scene.size.sockets / STRANGERS.len();
    let opened = from_everywhere(|from| {
        let mut held = open_all(scene, from, number, b"");
        let (mut opened, end) = (held.len(), Instant::now() + scene.size.flood);
        while Instant::now() < end {
            let connections = scene.metric("roundtable_http_connections")?;
            ensure!(connections <= CONNECTIONS_MAX, "{connections} connections are open");
            check_descriptors(scene)?;
            // In place of those that were displaced.
            held.retain(|stream| !is_answered(stream));
            let missing = number.saturating_sub(held.len()).min(REOPENED_MAX);
            let others = open_all(scene, from, missing, b"");
            opened += others.len();
            held.extend(others);
            sleep(POLL_INTERVAL);
        }
        Ok(opened)
    })?;
    let displaced = scene.metric(DISPLACED)? - before;
    ensure!(displaced > 0.0, "{opened} connections did not reach the limit");
    Ok(format!("{opened} connections, of which {displaced} were displaced"))
}

/// Writers fill a file of the log while strangers hold half-open requests.
fn rotate_the_log(scene: &AttackScene<'_>) -> Result<String> {
    const WRITERS: usize = 4;
    /// More than a file of the log has, each with the longest text.
    const POSTS_MAX: usize = 6_000;
    const CRABS: usize = 10_000;
    let log = scene.server.data("log");
    let before = log_files(&log);
    let number = scene.size.half_open / STRANGERS.len();
    let begin = b"POST /graphql HTTP/1.1\r\nhost: x\r\n";
    let held = STRANGERS.map(|from| open_all(scene, from, number, begin));
    let opened: usize = held.iter().map(Vec::len).sum();
    ensure!(opened > 0, "no request was begun");
    let filler = scene.sign_up(READER, "filler")?;
    let input = json!({ "content": "\u{1f980}".repeat(CRABS), "contentType": "text", "visibility": "private" });
    let variables = json!({ "input": input });
    let posted = AtomicUsize::new(0);
    scope(|threads| {
        let write = || -> Result<()> {
            while log_files(&log) <= before {
                let number = posted.fetch_add(1, Ordering::Relaxed);
                ensure!(number < POSTS_MAX, "the log has no other file after {number} posts");
                let answer = scene.ask(READER, Some(&filler.token), CREATE_POST, &variables)?;
                answer.require_success("a post during the attack")?;
            }
            Ok(())
        };
        let writers: Vec<_> = (0..WRITERS).map(|_| threads.spawn(write)).collect();
        let join = |writer: ScopedJoinHandle<'_, Result<()>>| {
            writer.join().map_err(|_| anyhow!("a writer panicked"))?
        };
        writers.into_iter().try_for_each(join)
    })?;
    check_descriptors(scene)?;
    drop(held);
    let posted = posted.into_inner();
    Ok(format!("{posted} posts beside {opened} half-open requests, and another file of the log"))
}

fn log_files(log: &Path) -> usize {
    let names = std::fs::read_dir(log).into_iter().flatten().filter_map(Result::ok);
    let is_segment = |path: &Path| path.extension().is_some_and(|end| end == "log");
    names.filter(|entry| is_segment(&entry.path())).count()
}
