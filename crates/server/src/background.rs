//! What works in the background of a process, each part by its name. One that ends before the process is
//! to stop does not come back by itself: it is written down at once, and shown until somebody restarts
//! the process.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::stopping::Stopping;

/// The parts of a process.
#[derive(Debug, Default)]
pub(crate) struct Background {
    tasks: Mutex<JoinSet<()>>,
    /// By their names, whether they are at work.
    parts: Arc<Mutex<BTreeMap<&'static str, bool>>>,
}

impl Background {
    /// Starts a part, which ends when `stopping` says so and not before.
    pub(crate) fn start(
        &self,
        part: &'static str,
        stopping: &Stopping,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        self.parts.lock().insert(part, true);
        let (parts, stopping) = (Arc::clone(&self.parts), stopping.clone());
        self.tasks.lock().spawn(async move {
            let ended = AssertUnwindSafe(work).catch_unwind().await;
            let why = match &ended {
                Ok(()) if stopping.is_wished() => return,
                Ok(()) => "it came to its end",
                Err(why) => panic_text(&**why),
            };
            parts.lock().insert(part, false);
            tracing::error!(part, why, "a part has ended that should not: restart this process");
        });
    }

    /// All parts, and whether they are at work.
    pub(crate) fn parts(&self) -> BTreeMap<&'static str, bool> {
        self.parts.lock().clone()
    }

    /// Waits for all of them, for so long; what is not finished then is given up.
    pub(crate) async fn finish(&self, patience: Duration) {
        let mut tasks = std::mem::take(&mut *self.tasks.lock());
        let ended = async { while tasks.join_next().await.is_some() {} };
        if timeout(patience, ended).await.is_err() {
            tracing::warn!(
                "what works in the background was not finished in time; it goes on next time"
            );
            tasks.abort_all();
            // What does not even hear that is left alone.
            let gone = async { while tasks.join_next().await.is_some() {} };
            let _ = timeout(Duration::from_secs(1), gone).await;
            tasks.detach_all();
        }
    }
}

/// What something that broke said.
pub(crate) fn panic_text(why: &(dyn Any + Send)) -> &str {
    let text = why.downcast_ref::<&str>().copied();
    text.or(why.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopping::Stop;

    #[tokio::test]
    async fn a_part_that_ends_too_early_is_known_by_its_name() {
        let (background, (stop, stopping)) = (Background::default(), Stop::new());
        background.start("breaks", &stopping, async { panic!("by intention, for a test") });
        background.start("ends", &stopping, async {});
        background.start("works", &stopping, stopping.clone().wished());
        let ended = || background.parts().values().filter(|at_work| !**at_work).count();
        while ended() < 2 {
            tokio::task::yield_now().await;
        }
        let parts = || background.parts().into_iter().collect::<Vec<_>>();
        let all = [("breaks", false), ("ends", false), ("works", true)];
        assert_eq!(parts(), all);
        stop.wish();
        background.finish(Duration::from_mins(1)).await;
        assert_eq!(parts(), all, "whatever ends in time is no fault");
    }

    #[tokio::test]
    async fn whoever_does_not_stop_is_not_waited_for_longer_than_was_said() {
        let (background, (stop, stopping)) = (Background::default(), Stop::new());
        let (left, leaves) = tokio::sync::oneshot::channel::<()>();
        background.start("stays", &stopping, async move {
            let _left = left;
            std::future::pending::<()>().await;
        });
        stop.wish();
        background.finish(Duration::from_millis(1)).await;
        assert!(leaves.await.is_err(), "it is gone");
    }
}
