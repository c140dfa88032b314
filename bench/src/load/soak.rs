//! Minutes of load: pages are asked for at a fixed pace, whether those before were answered or not, and
//! waiting counts from when each was due. The server's memory is looked at on the way.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use super::connection::Connection;
use super::requests::{Kind, Requests};
use super::served::Served;
use crate::progress::{Progress, say};
use crate::report::{Better, Report};
use crate::samples::{Samples, rate};

/// Connections that take turns: more than are ever busy, unless the server falls behind.
const CONNECTIONS: usize = 64;
/// Between two looks at the memory.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// From then on memory must be flat; in shorter runs, from a fifth on.
const GROWN: Duration = Duration::from_mins(2);
/// What may be added to it then.
const FLAT: f64 = 1.1;

/// One look.
#[derive(Clone, Copy, Debug)]
struct Look {
    at: Duration,
    /// In megabytes: all of it, and the part that no file is behind.
    all: f64,
    anonymous: f64,
}

/// What one connection did.
#[derive(Debug, Default)]
struct Done {
    waits: Samples,
    errors: u64,
    /// What went wrong first.
    first: Option<String>,
}

/// Asks for pages at this pace for so long.
pub(super) fn run(
    served: &Served,
    requests: &Requests,
    per_second: f64,
    length: Duration,
    report: &mut Report,
) -> Result<()> {
    say(&format!(
        "{:.0} pages a second for {:.1} minutes",
        per_second,
        length.as_secs_f64() / 60.0
    ));
    let (next, started) = (AtomicU64::new(0), Instant::now());
    let pace = Pace { started, every: Duration::from_secs_f64(1.0 / per_second), length };
    let (all, looks) = std::thread::scope(|scope| {
        let asking: Vec<_> =
            (0..CONNECTIONS).map(|_| scope.spawn(|| ask(served, requests, &pace, &next))).collect();
        let looks = look(served, &pace);
        let joined = asking
            .into_iter()
            .map(|one| one.join().map_err(|_| anyhow!("a connection's thread panicked")));
        anyhow::Ok((joined.collect::<Result<Vec<Done>>>()?, looks?))
    })?;
    let mut done = Done::default();
    for one in all {
        done.waits.extend(&one.waits);
        done.errors += one.errors;
        done.first = done.first.or(one.first);
    }
    tell(done, &looks, started.elapsed(), per_second, length, report);
    Ok(())
}

/// When what is due.
#[derive(Clone, Copy, Debug)]
struct Pace {
    started: Instant,
    every: Duration,
    length: Duration,
}

impl Pace {
    /// When the request with this number is due; `None` after the last one.
    fn due(&self, number: u64) -> Option<Instant> {
        #[expect(clippy::cast_precision_loss, reason = "millions")]
        let after = self.every.mul_f64(number as f64);
        (after < self.length).then(|| self.started + after)
    }
}

/// One connection's part of it.
fn ask(served: &Served, requests: &Requests, pace: &Pace, next: &AtomicU64) -> Done {
    let (mut done, mut connection) = (Done::default(), None);
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(due) = pace.due(number) else { return done };
        sleep(due.saturating_duration_since(Instant::now()));
        let number = usize::try_from(number).unwrap_or_default();
        match one(served, &mut connection, requests.get(Kind::Feed, number)) {
            Ok(()) => done.waits.add_since(due),
            Err(error) => {
                connection = None;
                done.errors += 1;
                done.first.get_or_insert_with(|| format!("{error:#}"));
            }
        }
    }
}

fn one(served: &Served, connection: &mut Option<Connection>, request: &[u8]) -> Result<()> {
    if connection.is_none() {
        *connection = Some(Connection::open(served.address)?);
    }
    let Some(connection) = connection else { return Ok(()) };
    let body = connection.ask(request)?;
    if Kind::Feed.is_answered(body) {
        return Ok(());
    }
    Err(anyhow!("{}", String::from_utf8_lossy(body.get(..200).unwrap_or(body))))
}

fn look(served: &Served, pace: &Pace) -> Result<Vec<Look>> {
    let progress = Progress::new("asking, seconds", pace.length.as_secs());
    let mut looks = Vec::new();
    loop {
        let (all, anonymous) = served.memory_mb()?;
        let at = pace.started.elapsed();
        looks.push(Look { at, all, anonymous });
        let left = pace.length.saturating_sub(at);
        if left.is_zero() {
            return Ok(looks);
        }
        sleep(left.min(LOOK_EVERY));
        progress.add(left.min(LOOK_EVERY).as_secs());
    }
}

fn tell(
    mut done: Done,
    looks: &[Look],
    took: Duration,
    per_second: f64,
    length: Duration,
    report: &mut Report,
) {
    let grown = GROWN.min(length / 5);
    let at = |when: Duration| looks.iter().find(|look| look.at >= when).or(looks.last());
    let mb = |when| at(when).map(|look| look.all);
    let (base, end) = (mb(grown).unwrap_or_default(), mb(took).unwrap_or_default());
    let kept = rate(done.waits.len() as u64, length.max(took));
    report.figure("under load: asked for, requests/s", Better::Higher, [per_second]);
    report.figure("  answered, requests/s", Better::Higher, [kept]);
    report.figure("  p50 ms", Better::Lower, [done.waits.quantile_us(0.5) / 1e3]);
    report.figure("  p99 ms", Better::Lower, [done.waits.quantile_us(0.99) / 1e3]);
    report.figure("  p99.9 ms", Better::Lower, [done.waits.quantile_us(0.999) / 1e3]);
    report.figure("  memory before, MB", Better::Lower, [mb(Duration::ZERO)]);
    if length >= Duration::from_mins(1) {
        report.figure("  after a minute, MB", Better::Lower, [mb(Duration::from_mins(1))]);
    }
    let label = format!("  after {} s, MB", grown.as_secs());
    report.figure(label, Better::Lower, [base]);
    report.figure("  at the end, MB", Better::Lower, [end]);
    let anonymous = at(took).map(|look| look.anonymous);
    report.figure("    of it behind no file, MB", Better::Lower, [anonymous]);
    let most = looks.iter().map(|look| look.all).max_by(f64::total_cmp);
    report.figure("  at the most, MB", Better::Lower, [most]);
    let steady: Vec<Look> = looks.iter().filter(|look| look.at >= grown).copied().collect();
    report.note(format!(
        "memory under load: {:+.3} MB a minute from {} s on, over {} looks; {} pages in {:.1} minutes",
        slope(&steady),
        grown.as_secs(),
        steady.len(),
        done.waits.len(),
        took.as_secs_f64() / 60.0,
    ));
    if let Some(first) = done.first {
        report.note(format!("the first error: {first}"));
    }
    report.under("soak-memory", end / base.max(f64::MIN_POSITIVE), FLAT, "x");
    #[expect(clippy::cast_precision_loss, reason = "a count of errors")]
    report.under("soak-errors", done.errors as f64, 1.0, "");
    report.at_least("soak-pace", kept / per_second, 0.99);
}

/// What memory grows by, in megabytes a minute: the line that fits best.
fn slope(looks: &[Look]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a few hundreds")]
    let count = (looks.len() as f64).max(1.0);
    let minutes = |look: &Look| look.at.as_secs_f64() / 60.0;
    let x = looks.iter().map(minutes).sum::<f64>() / count;
    let y = looks.iter().map(|look| look.all).sum::<f64>() / count;
    let across: f64 = looks.iter().map(|look| (minutes(look) - x) * (look.all - y)).sum();
    let along: f64 = looks.iter().map(|look| (minutes(look) - x).powi(2)).sum();
    if along > 0.0 { across / along } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_what_memory_grows_by_in_a_minute() {
        let at = |seconds| Look {
            at: Duration::from_secs(seconds),
            all: 100.0 + Duration::from_secs(seconds).as_secs_f64() / 30.0,
            anonymous: 0.0,
        };
        assert!((slope(&[0, 10, 20, 30].map(at)) - 2.0).abs() < 1e-9);
        assert!(slope(&[]).abs() < 1e-9);
    }
}
