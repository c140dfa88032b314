//! What others see of an attack: a signed-in reader, clients that come meanwhile, and the operator. The
//! server's memory is sampled all the time.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use roundtable_test_client::{Connection, Samples, get, is_answer};

use super::AttackCase;
use super::scene::{AttackScene, OPERATOR, READER, TIMEOUT};
use super::size::AttackSize;

/// The anonymous memory at which the server is stopped.
const ANONYMOUS_BYTES_MAX: u64 = 1_000_000_000;
const SAMPLE_INTERVAL: Duration = Duration::from_millis(10);
/// The time between two pages of the reader.
const PAGE_INTERVAL: Duration = Duration::from_millis(20);
/// The time between two clients that come during an attack.
const ARRIVAL_INTERVAL: Duration = Duration::from_millis(300);
/// Connections that are left after an attack: those of the watch itself, and what has not been closed yet.
const CONNECTIONS_LEFT_MAX: f64 = 20.0;
/// The part of the descriptors that nothing but the store may need.
const DESCRIPTORS_MAX: f64 = 896.0;

/// The figures of one attack.
#[derive(Clone, Debug, Default)]
pub struct AttackFigures {
    pub name: &'static str,
    /// What the attacker saw; empty if the attack found something.
    pub outcome: String,
    pub seconds: f64,
    /// The reader's pages, and how long they took.
    pub pages: usize,
    pub page_p50_ms: f64,
    pub page_p99_ms: f64,
    /// The longest time that a new connection and the first answer on it took.
    pub arrival_max_ms: f64,
    /// The most anonymous memory, in megabytes.
    pub memory_mb: f64,
}

impl fmt::Display for AttackFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, outcome, seconds, pages, page_p50_ms, page_p99_ms, .. } = self;
        let Self { arrival_max_ms, memory_mb, .. } = self;
        write!(
            f,
            "{name:22} {seconds:5.1} s, {pages:5} pages, p50 {page_p50_ms:.1} ms, p99 {page_p99_ms:.1} ms, \
             arrivals up to {arrival_max_ms:.0} ms, {memory_mb:.0} MB; {outcome}"
        )
    }
}

/// Runs an attack. Returns its figures, and all that was not as expected.
pub(super) fn during(scene: &AttackScene<'_>, case: &AttackCase) -> (AttackFigures, Vec<String>) {
    let (is_over, most_bytes) = (AtomicBool::new(false), AtomicU64::new(0));
    let started = Instant::now();
    let (attacked, memory, pages, arrivals) = std::thread::scope(|scope| {
        let memory = scope.spawn(|| sample_memory(scene, &is_over, &most_bytes));
        let pages = scope.spawn(|| read_pages(scene, &is_over));
        let arrivals = scope.spawn(|| arrive(scene, &is_over));
        let attacked = (case.run)(scene);
        is_over.store(true, Ordering::Relaxed);
        let panicked = |_| anyhow!("a thread of the watch panicked");
        let memory = memory.join().map_err(panicked).flatten();
        let pages = pages.join().map_err(panicked).flatten();
        (attacked, memory, pages, arrivals.join().map_err(panicked).flatten())
    });
    let mut figures = AttackFigures { name: case.name, ..AttackFigures::default() };
    let mut findings = Vec::new();
    let mut note = |finding: &anyhow::Error| findings.push(format!("{finding:#}"));
    match attacked {
        Ok(outcome) => figures.outcome = outcome,
        Err(error) => note(&error),
    }
    match pages {
        Ok(pages) => figures.add_pages(pages),
        Err(error) => note(&error.context("the signed-in reader")),
    }
    match arrivals {
        Ok(longest) => figures.arrival_max_ms = longest.as_secs_f64() * 1e3,
        Err(error) => note(&error.context("a client that came during the attack")),
    }
    if let Err(error) = memory.and_then(|()| figures.check(scene.size)) {
        note(&error);
    }
    if let Err(error) = check_operator(scene) {
        note(&error.context("the operator, after the attack"));
    }
    figures.seconds = started.elapsed().as_secs_f64();
    figures.memory_mb = megabytes(most_bytes.into_inner());
    (figures, findings)
}

impl AttackFigures {
    fn add_pages(&mut self, mut pages: Samples) {
        self.pages = pages.len();
        self.page_p50_ms = pages.quantile_us(0.5) / 1e3;
        self.page_p99_ms = pages.quantile_us(0.99) / 1e3;
    }

    fn check(&self, size: &AttackSize) -> Result<()> {
        let milliseconds = |limit: Duration| limit.as_secs_f64() * 1e3;
        let (page, arrival) = (self.page_p99_ms, self.arrival_max_ms);
        let (page_max, arrival_max) =
            (milliseconds(size.page_p99_max), milliseconds(size.arrival_max));
        ensure!(page <= page_max, "pages of the reader took {page:.0} ms at p99, over {page_max}");
        ensure!(arrival <= arrival_max, "a new client waited {arrival:.0} ms, over {arrival_max}");
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "bytes of memory stay below 2^52")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Watches the server's memory, and stops the server if it takes too much.
fn sample_memory(
    scene: &AttackScene<'_>,
    is_over: &AtomicBool,
    most_bytes: &AtomicU64,
) -> Result<()> {
    while !is_over.load(Ordering::Relaxed) && scene.server.is_running() {
        let bytes = scene.server.anonymous_bytes()?;
        most_bytes.fetch_max(bytes, Ordering::Relaxed);
        if bytes > ANONYMOUS_BYTES_MAX {
            scene.server.kill();
            return Err(anyhow!(
                "the server had {:.0} MB of memory, and was stopped",
                megabytes(bytes)
            ));
        }
        sleep(SAMPLE_INTERVAL);
    }
    Ok(())
}

/// Reads pages of the feed on one connection, as an open app does. Each must be answered.
fn read_pages(scene: &AttackScene<'_>, is_over: &AtomicBool) -> Result<Samples> {
    let request = scene.page_request();
    let mut connection = Connection::open_from(READER, scene.server.address, TIMEOUT)?;
    let mut samples = Samples::default();
    while !is_over.load(Ordering::Relaxed) || samples.len() < scene.size.pages_min {
        let started = Instant::now();
        let (status, body) = connection.exchange(&request)?;
        samples.add_since(started);
        ensure!(
            is_answer(status, body),
            "page {} was answered with {status}: {}",
            samples.len(),
            String::from_utf8_lossy(body.get(..600).unwrap_or(body))
        );
        sleep(PAGE_INTERVAL.saturating_sub(started.elapsed()));
    }
    Ok(samples)
}

/// Connects again and again, as the reader and as the operator, and returns the longest time that one took.
fn arrive(scene: &AttackScene<'_>, is_over: &AtomicBool) -> Result<Duration> {
    let (page, ready) = (scene.page_request(), get(scene.server.address, "/readyz"));
    let mut longest = Duration::ZERO;
    while !is_over.load(Ordering::Relaxed) {
        for (from, request) in [(READER, &page), (OPERATOR, &ready)] {
            let started = Instant::now();
            let mut connection = Connection::open_from(from, scene.server.address, TIMEOUT)?;
            let body = connection.request(request).with_context(|| {
                format!("from {from}, after {:.1} s", started.elapsed().as_secs_f64())
            })?;
            let is_good = from == OPERATOR || is_answer(200, body);
            ensure!(is_good, "from {from}: {}", String::from_utf8_lossy(body));
            longest = longest.max(started.elapsed());
        }
        sleep(ARRIVAL_INTERVAL);
    }
    Ok(longest)
}

/// Checks what the operator sees once the attack is over: a server that is ready, without internal errors, and
/// without anything left of the attack.
fn check_operator(scene: &AttackScene<'_>) -> Result<()> {
    ensure!(scene.server.is_running(), "the server has ended");
    if let Some(line) = scene.server.panic() {
        return Err(anyhow!("a thread of the server panicked: {line}"));
    }
    let mut connection = Connection::open_from(OPERATOR, scene.server.address, TIMEOUT)?;
    let (status, body) = connection.exchange(&get(scene.server.address, "/readyz"))?;
    ensure!(status == 200, "/readyz: {status} {}", String::from_utf8_lossy(body));
    for (metric, expected) in [
        ("roundtable_engine_takes_writes", 1.0),
        ("roundtable_graphql_errors_total{code=\"INTERNAL\"}", 0.0),
        ("roundtable_graphql_errors_total{code=\"OUTCOME_UNKNOWN\"}", 0.0),
        ("roundtable_stream_dead_letters_total", 0.0),
        ("roundtable_jobs_dead_letters_total", 0.0),
    ] {
        let value = scene.metric(metric)?;
        ensure!((value - expected).abs() < 0.5, "{metric} is {value}, not {expected}");
    }
    for metric in [
        "roundtable_graphql_unread_answer_bytes",
        "roundtable_http_unfinished_request_bytes",
        "roundtable_http_request_body_bytes",
        "roundtable_media_transfers",
        "roundtable_live_connections",
    ] {
        scene.until(&format!("{metric} is 0 again"), || Ok(scene.metric(metric)? < 0.5))?;
    }
    let open = "roundtable_http_connections";
    scene.until("connections are closed", || Ok(scene.metric(open)? < CONNECTIONS_LEFT_MAX))?;
    check_descriptors(scene)
}

/// Fails if more files are open than connections may take, whatever the attack is.
pub(super) fn check_descriptors(scene: &AttackScene<'_>) -> Result<()> {
    let open = scene.metric("process_open_fds")?;
    ensure!(open < DESCRIPTORS_MAX, "{open} descriptors are open: those of the store are taken");
    Ok(())
}
