//! Minutes of load at a fixed rate. Waits count from the scheduled time of each request, so a slow
//! server does not slow the load. The server's memory is sampled meanwhile.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use roundtable_test_client::{Connection, Samples, rate};

use super::requests::{RequestKind, Requests};
use super::server::ServerProcess;
use crate::machine;
use crate::progress::{Progress, log_step};
use crate::report::{Better, Report};

/// More connections than are ever busy, unless the server falls behind.
const CONNECTIONS: usize = 64;
const SAMPLE_INTERVAL: Duration = Duration::from_secs(10);
/// The time after which memory must not grow; in shorter runs, a fifth of them.
const WARM_UP: Duration = Duration::from_mins(2);
/// The tolerated growth of memory after that.
const GROWTH_MAX: f64 = 1.1;
const P99_MS_MAX: f64 = 25.0;
const P999_MS_MAX: f64 = 100.0;
/// A wait that counts as slow, as in the bar above.
const SLOW: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug)]
struct MemorySample {
    at: Duration,
    /// In megabytes: all, and the anonymous part.
    all: f64,
    anonymous: f64,
}

#[derive(Debug, Default)]
struct SoakStats {
    waits: Samples,
    /// The seconds of the run in which slow requests were due: few, if something interrupted it.
    slow_seconds: BTreeSet<u64>,
    errors: u64,
    first_error: Option<String>,
}

/// Requests pages at a fixed rate.
pub(super) fn run(
    server: &ServerProcess,
    requests: &Requests,
    per_second: f64,
    length: Duration,
    report: &mut Report,
) -> Result<()> {
    log_step(&format!(
        "{:.0} pages a second for {:.1} minutes",
        per_second,
        length.as_secs_f64() / 60.0
    ));
    let (next, started) = (AtomicU64::new(0), Instant::now());
    let others_before = cpu_time_of_others(server)?;
    let schedule = Schedule { started, every: Duration::from_secs_f64(1.0 / per_second), length };
    let (all, samples) = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..CONNECTIONS)
            .map(|_| scope.spawn(|| send_on_schedule(server, requests, &schedule, &next)))
            .collect();
        let samples = sample_memory(server, &schedule);
        let joined = senders
            .into_iter()
            .map(|one| one.join().map_err(|_| anyhow!("a connection's thread panicked")));
        anyhow::Ok((joined.collect::<Result<Vec<SoakStats>>>()?, samples?))
    })?;
    let mut stats = SoakStats::default();
    for one in all {
        stats.waits.extend(&one.waits);
        stats.slow_seconds.extend(&one.slow_seconds);
        stats.errors += one.errors;
        stats.first_error = stats.first_error.or(one.first_error);
    }
    let others = cpu_time_of_others(server)?.saturating_sub(others_before);
    report.note(format!(
        "under load: {:.1} s of processor time went to other programs; requests that took over {} ms \
         were due in {} of {} seconds",
        others.as_secs_f64(),
        SLOW.as_millis(),
        stats.slow_seconds.len(),
        length.as_secs(),
    ));
    add_to_report(stats, &samples, started.elapsed(), per_second, length, report);
    Ok(())
}

/// The processor time so far of everything but the server and this process, its client.
fn cpu_time_of_others(server: &ServerProcess) -> Result<Duration> {
    let own = machine::cpu_time(server.process())? + machine::cpu_time(std::process::id())?;
    Ok(machine::busy_time()?.saturating_sub(own))
}

#[derive(Clone, Copy, Debug)]
struct Schedule {
    started: Instant,
    every: Duration,
    length: Duration,
}

impl Schedule {
    /// Returns the scheduled time of a request; `None` after the last one.
    fn due(&self, number: u64) -> Option<Instant> {
        #[expect(clippy::cast_precision_loss, reason = "millions")]
        let after = self.every.mul_f64(number as f64);
        (after < self.length).then(|| self.started + after)
    }
}

/// Sends the requests of one connection.
fn send_on_schedule(
    server: &ServerProcess,
    requests: &Requests,
    schedule: &Schedule,
    next: &AtomicU64,
) -> SoakStats {
    let (mut stats, mut connection) = (SoakStats::default(), None);
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(due) = schedule.due(number) else { return stats };
        sleep(due.saturating_duration_since(Instant::now()));
        let number = usize::try_from(number).unwrap_or_default();
        match send_one(server, &mut connection, &requests.get(RequestKind::Feed, number)) {
            Ok(()) => {
                stats.waits.add_since(due);
                if due.elapsed() > SLOW {
                    stats.slow_seconds.insert(due.duration_since(schedule.started).as_secs());
                }
            }
            Err(error) => {
                connection = None;
                stats.errors += 1;
                stats.first_error.get_or_insert_with(|| format!("{error:#}"));
            }
        }
    }
}

fn send_one(
    server: &ServerProcess,
    connection: &mut Option<Connection>,
    request: &[u8],
) -> Result<()> {
    if connection.is_none() {
        *connection = Some(Connection::open(server.address)?);
    }
    let Some(connection) = connection else { return Ok(()) };
    let body = connection.request(request)?;
    if RequestKind::Feed.is_success(body) {
        return Ok(());
    }
    Err(anyhow!("{}", String::from_utf8_lossy(body.get(..200).unwrap_or(body))))
}

fn sample_memory(server: &ServerProcess, schedule: &Schedule) -> Result<Vec<MemorySample>> {
    let progress = Progress::new("asking, seconds", schedule.length.as_secs());
    let mut samples = Vec::new();
    loop {
        let (all, anonymous) = server.memory_mb()?;
        let at = schedule.started.elapsed();
        samples.push(MemorySample { at, all, anonymous });
        let left = schedule.length.saturating_sub(at);
        if left.is_zero() {
            return Ok(samples);
        }
        sleep(left.min(SAMPLE_INTERVAL));
        progress.add(left.min(SAMPLE_INTERVAL).as_secs());
    }
}

fn add_to_report(
    mut stats: SoakStats,
    samples: &[MemorySample],
    took: Duration,
    per_second: f64,
    length: Duration,
    report: &mut Report,
) {
    let warm_up = WARM_UP.min(length / 5);
    let at = |when: Duration| samples.iter().find(|sample| sample.at >= when).or(samples.last());
    let mb = |when| at(when).map(|sample| sample.all);
    let (base, end) = (mb(warm_up).unwrap_or_default(), mb(took).unwrap_or_default());
    let answered = rate(stats.waits.len() as u64, length.max(took));
    report.figure("under load: asked for, requests/s", Better::Higher, [per_second]);
    report.figure("  answered, requests/s", Better::Higher, [answered]);
    report.figure("  p50 ms", Better::Lower, [stats.waits.quantile_us(0.5) / 1e3]);
    let [p99, p999] = [0.99, 0.999].map(|share| stats.waits.quantile_us(share) / 1e3);
    report.figure("  p99 ms", Better::Lower, [p99]);
    report.figure("  p99.9 ms", Better::Lower, [p999]);
    report.figure("  memory before, MB", Better::Lower, [mb(Duration::ZERO)]);
    if length >= Duration::from_mins(1) {
        report.figure("  after a minute, MB", Better::Lower, [mb(Duration::from_mins(1))]);
    }
    let label = format!("  after {} s, MB", warm_up.as_secs());
    let anonymous = |when| [at(when).map(|sample| sample.anonymous)];
    let of_it = "    of it behind no file, MB";
    report.figure(label, Better::Lower, [base]);
    report.figure(of_it, Better::Lower, anonymous(warm_up));
    report.figure("  at the end, MB", Better::Lower, [end]);
    report.figure(of_it, Better::Lower, anonymous(took));
    let most = samples.iter().map(|sample| sample.all).max_by(f64::total_cmp);
    report.figure("  at the most, MB", Better::Lower, [most]);
    let steady: Vec<MemorySample> =
        samples.iter().filter(|sample| sample.at >= warm_up).copied().collect();
    report.note(format!(
        "memory under load: {:+.3} MB a minute from {} s on, over {} looks; {} pages in {:.1} minutes",
        slope(&steady),
        warm_up.as_secs(),
        steady.len(),
        stats.waits.len(),
        took.as_secs_f64() / 60.0,
    ));
    if let Some(first) = stats.first_error {
        report.note(format!("the first error: {first}"));
    }
    report.under("soak-p99", p99, P99_MS_MAX, "ms");
    report.under("soak-p99.9", p999, P999_MS_MAX, "ms");
    report.under("soak-memory", end / base.max(f64::MIN_POSITIVE), GROWTH_MAX, "x");
    #[expect(clippy::cast_precision_loss, reason = "a count of errors")]
    report.under("soak-errors", stats.errors as f64, 1.0, "");
    report.at_least("soak-pace", answered / per_second, 0.99);
}

/// Returns the growth of memory in megabytes per minute, by linear regression.
fn slope(samples: &[MemorySample]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a few hundreds")]
    let count = (samples.len() as f64).max(1.0);
    let minutes = |sample: &MemorySample| sample.at.as_secs_f64() / 60.0;
    let x = samples.iter().map(minutes).sum::<f64>() / count;
    let y = samples.iter().map(|sample| sample.all).sum::<f64>() / count;
    let across: f64 = samples.iter().map(|sample| (minutes(sample) - x) * (sample.all - y)).sum();
    let along: f64 = samples.iter().map(|sample| (minutes(sample) - x).powi(2)).sum();
    if along > 0.0 { across / along } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_the_growth_per_minute() {
        let at = |seconds| MemorySample {
            at: Duration::from_secs(seconds),
            all: 100.0 + Duration::from_secs(seconds).as_secs_f64() / 30.0,
            anonymous: 0.0,
        };
        assert!((slope(&[0, 10, 20, 30].map(at)) - 2.0).abs() < 1e-9);
        assert!(slope(&[]).abs() < 1e-9);
    }
}
