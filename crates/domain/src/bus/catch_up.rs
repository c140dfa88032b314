//! Catching up with the stream. Concurrent callers share one run; a loop repeats runs.

use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared, WeakShared};
use parking_lot::Mutex;

use crate::ServiceError;

/// The longest a run waits for changes, and the pause after a failed run.
pub(super) const WAIT: Duration = Duration::from_secs(1);

/// One run: reads the stream to its end.
pub(super) type CatchUpRun = BoxFuture<'static, Result<(), ServiceError>>;

/// Runs, one at a time. No task owns a run: every caller that waits for it also polls it. So a
/// client that started one on a connection too slow to be polled again delays no other caller, as
/// it would if it held a lock.
#[derive(Debug, Default)]
pub(super) struct CatchUp {
    state: Mutex<CatchUpState>,
}

#[derive(Debug, Default)]
struct CatchUpState {
    /// The number of the newest run.
    started: u64,
    /// The newest run, held only as long as a caller waits for it.
    last: Option<WeakShared<CatchUpRun>>,
    /// The number of the newest run that finished.
    done: u64,
}

impl CatchUp {
    /// Waits for a run that starts after this call, started by any caller.
    pub(super) async fn wait_for_run(
        &self,
        run: impl Fn() -> CatchUpRun,
    ) -> Result<(), ServiceError> {
        let before = self.state.lock().started;
        while let Some((number, run)) = self.current(before, &run) {
            let done = run.await;
            if done.is_ok() {
                let mut state = self.state.lock();
                state.done = state.done.max(number);
            }
            if number > before {
                return done;
            }
        }
        Ok(())
    }

    /// Returns the run in progress, or a new one, with its number; `None` if a run later than
    /// `before` has finished.
    fn current(
        &self,
        before: u64,
        run: impl Fn() -> CatchUpRun,
    ) -> Option<(u64, Shared<CatchUpRun>)> {
        let mut state = self.state.lock();
        if state.done > before {
            return None;
        }
        let last = state.last.as_ref().and_then(WeakShared::upgrade);
        if let Some(run) = last.filter(|run| run.peek().is_none()) {
            return Some((state.started, run));
        }
        let next = run().shared();
        state.started += 1;
        state.last = next.downgrade();
        Some((state.started, next))
    }
}

/// Repeats `run` for ever. After a failed run it logs a warning with `name` and pauses.
// Not `AsyncFn`: its futures could not be proven `Send`, which a server needs.
pub(super) async fn repeat<Run>(name: &str, run: impl Fn() -> Run)
where
    Run: Future<Output = Result<(), ServiceError>>,
{
    loop {
        if let Err(failure) = run().await {
            tracing::warn!(%failure, reader = name, "cannot read the stream; retrying");
            tokio::time::sleep(WAIT).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::join_all;
    use tokio::sync::Semaphore;
    use tokio::task::yield_now;

    use super::*;

    /// A run that yields once and counts itself when it finishes.
    fn counted(finished: &Arc<AtomicUsize>) -> impl Fn() -> CatchUpRun + use<> {
        let finished = Arc::clone(finished);
        move || {
            let finished = Arc::clone(&finished);
            Box::pin(async move {
                yield_now().await;
                finished.fetch_add(1, Ordering::SeqCst);
                Ok(())
            })
        }
    }

    #[tokio::test]
    async fn concurrent_callers_share_a_run() {
        let (catch_up, finished) = (CatchUp::default(), Arc::new(AtomicUsize::new(0)));
        let gate = Arc::new(Semaphore::new(0));
        let run = || {
            let (counted, gate) = (counted(&finished)(), Arc::clone(&gate));
            async move {
                drop(gate.acquire().await);
                counted.await
            }
            .boxed()
        };
        let mut all = Box::pin(join_all((0..9).map(|_| catch_up.wait_for_run(run))));
        assert!(all.as_mut().now_or_never().is_none());
        gate.add_permits(1);
        assert!(all.await.iter().all(Result::is_ok));
        assert_eq!(
            finished.load(Ordering::SeqCst),
            2,
            "the first caller's run, and one for those who came during it"
        );
    }

    #[tokio::test]
    async fn a_caller_during_a_run_waits_for_the_next() {
        let (catch_up, finished) = (CatchUp::default(), Arc::new(AtomicUsize::new(0)));
        let mut first = Box::pin(catch_up.wait_for_run(counted(&finished)));
        assert!(first.as_mut().now_or_never().is_none());
        catch_up.wait_for_run(counted(&finished)).await.unwrap();
        assert_eq!(finished.load(Ordering::SeqCst), 2);
        first.await.unwrap();
        assert_eq!(finished.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn an_abandoned_run_is_not_waited_for() {
        let (catch_up, finished) = (CatchUp::default(), Arc::new(AtomicUsize::new(0)));
        assert!(catch_up.wait_for_run(counted(&finished)).now_or_never().is_none());
        catch_up.wait_for_run(counted(&finished)).await.unwrap();
        assert_eq!(finished.load(Ordering::SeqCst), 1);
    }
}
