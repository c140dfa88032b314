//! Runs cases: one by name, or all of them with a report.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "this is test code: a broken promise is a panic"
)]

use std::any::Any;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use parking_lot::Mutex;

use crate::bench::Bench;
use crate::suite::CASES;

/// How long a case may take; none waits for more than a few seconds of stream.
const CASE_SECONDS_MAX: u64 = 120;
/// How many cases run beside each other in a report.
const WORKERS: usize = 4;

/// One promise of the contract.
pub struct Case {
    /// Topic and sentence.
    pub name: &'static str,
    pub(crate) run: fn(Arc<Bench>) -> BoxFuture<'static, ()>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A promise that a server itself is known not to keep. The run expects the case to fail, so that a
/// server that learns better is noticed.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The case.
    pub case: &'static str,
    /// What the server does instead.
    pub reason: &'static str,
}

/// How to get a store to test.
#[async_trait]
pub trait Setup: Send + Sync {
    /// A workplace for one case.
    async fn bench(&self) -> Bench;

    /// The promises that the server is known not to keep.
    fn departures(&self) -> &[Departure] {
        &[]
    }
}

/// How a case ended.
enum Outcome {
    Kept,
    Departed(&'static str),
    /// It was to fail, and did not.
    Surprising(&'static str),
    Broken(Box<dyn Any + Send>),
}

/// Runs the case called `name`; panics as it does.
pub fn run(setup: &dyn Setup, name: &str) {
    let case = CASES.iter().find(|case| case.name == name).expect("a case of this name");
    match outcome(setup, case) {
        Outcome::Kept => {}
        Outcome::Departed(reason) => say(&format!("departure: {name}: {reason}")),
        Outcome::Surprising(reason) => {
            panic!("{name} passes; it is no departure any more ({reason})")
        }
        Outcome::Broken(panic) => resume_unwind(panic),
    }
}

/// Runs all cases, with a line for each and one with the sums; returns whether none failed.
pub fn report(setup: &dyn Setup) -> bool {
    let next = AtomicUsize::new(0);
    let counts = Mutex::new((0, 0, 0));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(case) = CASES.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = catch_unwind(AssertUnwindSafe(|| outcome(setup, case)))
                        .unwrap_or_else(Outcome::Broken);
                    let mut counts = counts.lock();
                    match outcome {
                        Outcome::Kept => {
                            counts.0 += 1;
                            say(&format!("{} ... ok", case.name));
                        }
                        Outcome::Departed(reason) => {
                            counts.1 += 1;
                            say(&format!("{} ... departure: {reason}", case.name));
                        }
                        Outcome::Surprising(reason) => {
                            counts.2 += 1;
                            say(&format!("{} ... FAILED: passes, though: {reason}", case.name));
                        }
                        Outcome::Broken(panic) => {
                            counts.2 += 1;
                            say(&format!("{} ... FAILED: {}", case.name, words(&*panic)));
                        }
                    }
                }
            });
        }
    });
    let (passed, departures, failed) = *counts.lock();
    say(&format!("{passed} passed, {departures} departures, {failed} failed"));
    failed == 0
}

fn outcome(setup: &dyn Setup, case: &'static Case) -> Outcome {
    for Departure { case, .. } in setup.departures() {
        assert!(CASES.iter().any(|known| known.name == *case), "there is no case {case}");
    }
    let departure = setup.departures().iter().find(|departure| departure.case == case.name);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let ended = runtime.block_on(async {
        let bench = Arc::new(setup.bench().await);
        let limit = Duration::from_secs(CASE_SECONDS_MAX);
        let running = tokio::spawn(tokio::time::timeout(limit, (case.run)(Arc::clone(&bench))));
        let ended = match running.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Box::new(format!("no end after {CASE_SECONDS_MAX} s")) as Box<_>),
            Err(error) => Err(error.into_panic()),
        };
        bench.clear().await;
        ended
    });
    runtime.shutdown_background();
    match (ended, departure) {
        (Ok(()), None) => Outcome::Kept,
        (Ok(()), Some(departure)) => Outcome::Surprising(departure.reason),
        (Err(_), Some(departure)) => Outcome::Departed(departure.reason),
        (Err(panic), None) => Outcome::Broken(panic),
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words")
}

/// Says something that the test harness does not keep to itself.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
