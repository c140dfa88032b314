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

use crate::bench::TestBench;
use crate::suite::CASES;

/// The time limit of a case; none waits longer than a few seconds for the stream.
const CASE_SECONDS_MAX: u64 = 120;
/// Threads that run cases for a report.
const WORKERS: usize = 4;

/// One requirement of the contract.
pub struct Case {
    /// The topic and the requirement, as a sentence.
    pub name: &'static str,
    pub(crate) run: fn(Arc<TestBench>) -> BoxFuture<'static, ()>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A requirement that a server is known not to meet. The case is expected to fail, so that a fixed
/// server is noticed.
#[derive(Clone, Copy, Debug)]
pub struct KnownDeviation {
    pub case: &'static str,
    /// The actual behaviour of the server.
    pub reason: &'static str,
}

/// Creates the stores to test.
#[async_trait]
pub trait Setup: Send + Sync {
    /// Creates the environment of one case.
    async fn bench(&self) -> TestBench;

    fn known_deviations(&self) -> &[KnownDeviation] {
        &[]
    }
}

enum CaseOutcome {
    Passed,
    DeviatedAsKnown(&'static str),
    /// Expected to fail, but passed.
    PassedUnexpectedly(&'static str),
    Failed(Box<dyn Any + Send>),
}

/// Runs the case `name`; panics if it fails.
pub fn run(setup: &dyn Setup, name: &str) {
    let case = CASES.iter().find(|case| case.name == name).expect("a case of this name");
    match outcome(setup, case) {
        CaseOutcome::Passed => {}
        CaseOutcome::DeviatedAsKnown(reason) => {
            print_line(&format!("known deviation: {name}: {reason}"));
        }
        CaseOutcome::PassedUnexpectedly(reason) => {
            panic!("{name} passes: remove it from the known deviations ({reason})")
        }
        CaseOutcome::Failed(panic) => resume_unwind(panic),
    }
}

/// Runs all cases and prints a line for each and one with the totals; returns `true` if none
/// failed.
pub fn report(setup: &dyn Setup) -> bool {
    let next = AtomicUsize::new(0);
    let counts = Mutex::new((0, 0, 0));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(case) = CASES.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = catch_unwind(AssertUnwindSafe(|| outcome(setup, case)))
                        .unwrap_or_else(CaseOutcome::Failed);
                    let mut counts = counts.lock();
                    match outcome {
                        CaseOutcome::Passed => {
                            counts.0 += 1;
                            print_line(&format!("{} ... ok", case.name));
                        }
                        CaseOutcome::DeviatedAsKnown(reason) => {
                            counts.1 += 1;
                            print_line(&format!("{} ... known deviation: {reason}", case.name));
                        }
                        CaseOutcome::PassedUnexpectedly(reason) => {
                            counts.2 += 1;
                            print_line(&format!(
                                "{} ... FAILED: passes, despite the known deviation: {reason}",
                                case.name
                            ));
                        }
                        CaseOutcome::Failed(panic) => {
                            counts.2 += 1;
                            print_line(&format!(
                                "{} ... FAILED: {}",
                                case.name,
                                panic_message(&*panic)
                            ));
                        }
                    }
                }
            });
        }
    });
    let (passed, deviated, failed) = *counts.lock();
    print_line(&format!("{passed} passed, {deviated} known deviations, {failed} failed"));
    failed == 0
}

fn outcome(setup: &dyn Setup, case: &'static Case) -> CaseOutcome {
    for KnownDeviation { case, .. } in setup.known_deviations() {
        assert!(CASES.iter().any(|known| known.name == *case), "there is no case {case}");
    }
    let deviation = setup.known_deviations().iter().find(|deviation| deviation.case == case.name);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let ended = runtime.block_on(async {
        let bench = Arc::new(setup.bench().await);
        let limit = Duration::from_secs(CASE_SECONDS_MAX);
        let running = tokio::spawn(tokio::time::timeout(limit, (case.run)(Arc::clone(&bench))));
        let ended = match running.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Box::new(format!("timed out after {CASE_SECONDS_MAX} s")) as Box<_>),
            Err(error) => Err(error.into_panic()),
        };
        bench.clear().await;
        ended
    });
    runtime.shutdown_background();
    match (ended, deviation) {
        (Ok(()), None) => CaseOutcome::Passed,
        (Ok(()), Some(deviation)) => CaseOutcome::PassedUnexpectedly(deviation.reason),
        (Err(_), Some(deviation)) => CaseOutcome::DeviatedAsKnown(deviation.reason),
        (Err(panic), None) => CaseOutcome::Failed(panic),
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

/// Prints a line that the test harness does not capture.
fn print_line(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
