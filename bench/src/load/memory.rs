//! Memory under requests that ask for as much as they may, from clients that read slowly or not at all,
//! while a signed-in user goes on reading pages.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use roundtable_test_client::{Connection, Samples, hold_unread};
use serde_json::json;

use super::content::Content;
use super::requests::{RequestKind, Requests};
use super::server::ServerProcess;
use crate::progress::log_step;
use crate::report::{Better, Report};

/// The growth of anonymous memory that is tolerated.
const GROWTH_MB_MAX: f64 = 128.0;
const SAMPLE_INTERVAL: Duration = Duration::from_millis(20);
/// Longer than the allocator keeps freed memory.
const SETTLING_TIME: Duration = Duration::from_secs(12);
/// The time between two pages of the signed-in user.
const PROBE_INTERVAL: Duration = Duration::from_millis(20);
/// What each client of a scenario may take for an answer.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Clients that send the same request again and again.
const CLIENTS: usize = 4;
const SUBSCRIPTIONS: usize = 500;
const POSTS: usize = 5;
/// As many as a document may have; too many for the longest answer.
const ALIASES: usize = 50;
/// As many as fit into the longest answer, with a hundred posts of the longest texts.
const LONG_ANSWER_ALIASES: usize = 7;
/// Requests of one batch.
const BATCH: usize = 10;
/// The time for which answers stay unread.
const UNREAD_TIME: Duration = Duration::from_secs(10);
/// The time that events have to reach their subscribers.
const EVENTS_TIME: Duration = Duration::from_secs(10);

/// What anonymous and signed-in clients send in a scenario.
struct Attack<'a> {
    server: &'a ServerProcess,
    content: &'a Content,
    repetitions: usize,
}

type Scenario<'a> = fn(&Attack<'a>) -> Result<()>;

/// Runs each scenario and reports how much memory it took.
pub(super) fn run(
    server: &ServerProcess,
    requests: &Requests,
    content: &Content,
    quick: bool,
    report: &mut Report,
) -> Result<()> {
    let attack = Attack { server, content, repetitions: if quick { 2 } else { 10 } };
    let scenarios: [(&str, Scenario<'_>); 6] = [
        ("aliases", Attack::aliases),
        ("batches", Attack::batches),
        ("nested", Attack::nested_lists),
        ("mutations", Attack::mutations),
        ("subscriptions", Attack::subscriptions),
        ("unread", Attack::unread_answers),
    ];
    for (name, scenario) in scenarios {
        log_step(&format!("memory: {name}"));
        let before = settled_memory(server)?;
        let outcome = watch(server, requests, || scenario(&attack))?;
        let growth = outcome.most_mb - before;
        let mut waits = outcome.waits;
        report.figure(format!("memory, {name}: MB more"), Better::Lower, [growth]);
        let p99 = waits.quantile_us(0.99) / 1e3;
        report.figure("  signed-in feed page beside it, p99 ms", Better::Lower, [p99]);
        report.under(format!("memory-{name}"), growth, GROWTH_MB_MAX, "MB");
        let is_answered = !waits.is_empty() && outcome.failures == 0;
        let failures = if is_answered { 0.0 } else { 1.0 };
        report.under(format!("memory-{name}-others"), failures, 1.0, "");
        if outcome.failures > 0 {
            report.note(format!("{name}: {} pages beside it failed", outcome.failures));
        }
    }
    Ok(())
}

/// Waits until the allocator has returned what the scenario before left, and returns the memory that is
/// kept, in megabytes.
fn settled_memory(server: &ServerProcess) -> Result<f64> {
    let (mut least, mut since) = (server.memory_mb()?.1, Instant::now());
    while since.elapsed() < SETTLING_TIME {
        sleep(SAMPLE_INTERVAL);
        let now = server.memory_mb()?.1;
        if now < least {
            (least, since) = (now, Instant::now());
        }
    }
    Ok(least)
}

struct ScenarioOutcome {
    /// The most anonymous memory, in megabytes.
    most_mb: f64,
    /// The waits of the signed-in user.
    waits: Samples,
    failures: u64,
}

/// Samples memory, and reads pages as a signed-in user, while a scenario runs.
fn watch(
    server: &ServerProcess,
    requests: &Requests,
    scenario: impl FnOnce() -> Result<()>,
) -> Result<ScenarioOutcome> {
    let (is_over, failures) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let memory = scope.spawn(|| {
            let mut most: f64 = 0.0;
            while !is_over.load(Ordering::Relaxed) {
                most = most.max(server.memory_mb()?.1);
                sleep(SAMPLE_INTERVAL);
            }
            anyhow::Ok(most)
        });
        let probe = scope.spawn(|| {
            let (mut waits, mut connection) =
                (Samples::default(), Connection::open(server.address)?);
            for number in 0.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let started = Instant::now();
                match connection.request(&requests.get(RequestKind::Feed, number)) {
                    Ok(body) if RequestKind::Feed.is_success(body) => waits.add_since(started),
                    _ => {
                        failures.fetch_add(1, Ordering::Relaxed);
                        connection = Connection::open(server.address)?;
                    }
                }
                sleep(PROBE_INTERVAL);
            }
            anyhow::Ok(waits)
        });
        let done = scenario();
        is_over.store(true, Ordering::Relaxed);
        let joined = |_| anyhow!("a thread panicked");
        let (most_mb, waits) = (memory.join().map_err(joined)??, probe.join().map_err(joined)??);
        done?;
        Ok(ScenarioOutcome { most_mb, waits, failures: failures.load(Ordering::Relaxed) })
    })
}

impl Attack<'_> {
    /// Long posts, each fifty times.
    fn aliases(&self) -> Result<()> {
        self.repeat(&request_body(&self.aliases_document(ALIASES)))
    }

    fn batches(&self) -> Result<()> {
        let one = json!({ "query": self.aliases_document(ALIASES) });
        self.repeat(&json!(vec![one; BATCH]).to_string())
    }

    fn aliases_document(&self, aliases: usize) -> String {
        let again = aliases_of_content(aliases);
        let novelist = &self.content.novelist;
        format!(
            "{{ getUser(id: \"{novelist}\") {{ posts(first: 100) {{ items {{ {again} }} }} }} }}"
        )
    }

    /// The long posts of the author of each of a hundred posts.
    fn nested_lists(&self) -> Result<()> {
        let novelist = &self.content.novelist;
        self.repeat(&request_body(&format!(
            "{{ getUser(id: \"{novelist}\") {{ posts(first: 100) {{ items {{ author {{ \
             posts(first: 60) {{ items {{ content }} }} }} }} }} }} }}"
        )))
    }

    /// Eight mutations that each select as much.
    fn mutations(&self) -> Result<()> {
        let novelist = &self.content.novelist;
        let one = |number: usize| {
            format!(
                "m{number}: followUser(followeeId: \"{novelist}\") {{ followee {{ posts(first: 10) {{ \
                 items {{ author {{ posts(first: 80) {{ items {{ content }} }} }} }} }} }} }} "
            )
        };
        let all: String = (0..8).map(one).collect();
        let body = request_body(&format!("mutation {{ {all} }}"));
        let tokens = self.server.tokens.iter().take(CLIENTS);
        self.send_all(tokens.map(|token| (Some(token.as_str()), body.as_str())).collect())
    }

    /// Subscribers that select as much from every post, and some posts.
    fn subscriptions(&self) -> Result<()> {
        let selection = "author { posts(first: 10) { items { author { posts(first: 80) { items { content } } } } } }";
        let body = request_body(&format!("subscription {{ onCreatePost {{ {selection} }} }}"));
        let mut streams = Vec::with_capacity(SUBSCRIPTIONS);
        for number in 0..SUBSCRIPTIONS {
            let token = self.server.tokens.get(number % self.server.tokens.len().max(1));
            let token = token.context("there are no readers")?;
            let mut stream = TcpStream::connect(self.server.address)?;
            stream.write_all(&post(self.server.address, Some(token), EVENTS, &body))?;
            stream.set_nonblocking(true)?;
            streams.push(stream);
        }
        let mut connection = Connection::open(self.server.address)?;
        for (number, token) in self.server.tokens.iter().take(POSTS).enumerate() {
            let document = format!(
                "mutation {{ createPost(input: {{ content: \"news {number}\", contentType: text }}) {{ id }} }}"
            );
            let body = request_body(&document);
            connection.request(&post(self.server.address, Some(token), JSON, &body))?;
        }
        drain(&mut streams, EVENTS_TIME);
        Ok(())
    }

    /// Long answers on HTTP/2 streams whose client accepts none of their bytes.
    fn unread_answers(&self) -> Result<()> {
        let body = request_body(&self.aliases_document(LONG_ANSWER_ALIASES));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let own = self.server.address.ip();
        runtime.block_on(hold_unread(own, self.server.address, body.into(), UNREAD_TIME))?;
        Ok(())
    }

    /// Several anonymous clients send the same again and again.
    fn repeat(&self, body: &str) -> Result<()> {
        self.send_all(vec![(None, body); CLIENTS])
    }

    fn send_all(&self, clients: Vec<(Option<&str>, &str)>) -> Result<()> {
        std::thread::scope(|scope| {
            let clients: Vec<_> = clients
                .into_iter()
                .map(|(token, body)| {
                    scope.spawn(move || {
                        for _ in 0..self.repetitions {
                            exchange(self.server.address, token, body)?;
                        }
                        anyhow::Ok(())
                    })
                })
                .collect();
            clients.into_iter().try_for_each(|client| {
                client.join().map_err(|_| anyhow!("a client's thread panicked"))?
            })
        })
    }
}

fn request_body(document: &str) -> String {
    json!({ "query": document }).to_string()
}

fn aliases_of_content(count: usize) -> String {
    let alias = |number: usize| format!("c{number}: content ");
    (0..count).map(alias).collect()
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Returns the bytes of a request.
fn post(address: SocketAddr, token: Option<&str>, accept: &str, body: &str) -> Vec<u8> {
    let token = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    let length = body.len();
    format!(
        "POST /graphql HTTP/1.1\r\nhost: {address}\r\n{token}content-type: {JSON}\r\naccept: {accept}\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Sends one request on a connection of its own and reads the response, however it is framed.
fn exchange(address: SocketAddr, token: Option<&str>, body: &str) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let request = String::from_utf8(post(address, token, JSON, body))?;
    let request = request.replacen("\r\n\r\n", "\r\nconnection: close\r\n\r\n", 1);
    stream.write_all(request.as_bytes())?;
    let (mut buffer, mut bytes) = (vec![0; 64 << 10], 0);
    loop {
        match stream.read(&mut buffer)? {
            0 => break,
            more => bytes += more,
        }
    }
    ensure!(bytes > 0, "the server closed the connection without a response");
    Ok(())
}

/// Reads and discards what arrives on many connections.
fn drain(streams: &mut [TcpStream], length: Duration) {
    let (started, mut buffer) = (Instant::now(), vec![0; 64 << 10]);
    while started.elapsed() < length {
        let mut is_idle = true;
        for stream in &mut *streams {
            // An error means that nothing is there, or that the server has ended the stream.
            is_idle &= !stream.read(&mut buffer).is_ok_and(|bytes| bytes > 0);
        }
        if is_idle {
            sleep(SAMPLE_INTERVAL);
        }
    }
}
