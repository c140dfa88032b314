//! Background tasks of a process, by name. A task that ends before shutdown is not restarted: it is
//! logged at once and reported as down until the process is restarted.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::shutdown::ShutdownSignal;

#[derive(Debug, Default)]
pub(crate) struct BackgroundTasks {
    tasks: Mutex<JoinSet<()>>,
    /// True if each task is running, by its name.
    running: Arc<Mutex<BTreeMap<&'static str, bool>>>,
}

impl BackgroundTasks {
    /// Starts a task, which must run until `shutdown` is triggered.
    pub(crate) fn start(
        &self,
        task: &'static str,
        shutdown: &ShutdownSignal,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        self.running.lock().insert(task, true);
        let (running, shutdown) = (Arc::clone(&self.running), shutdown.clone());
        self.tasks.lock().spawn(async move {
            let result = AssertUnwindSafe(work).catch_unwind().await;
            let reason = match &result {
                Ok(()) if shutdown.is_triggered() => return,
                Ok(()) => "it returned",
                Err(reason) => panic_text(&**reason),
            };
            running.lock().insert(task, false);
            tracing::error!(
                task,
                reason,
                "a background task ended unexpectedly: restart this process"
            );
        });
    }

    pub(crate) fn running(&self) -> BTreeMap<&'static str, bool> {
        self.running.lock().clone()
    }

    /// Ends all tasks at once, in the middle of their work.
    pub(crate) fn abort(&self) {
        self.tasks.lock().abort_all();
    }

    /// Waits for all tasks; after `limit` it aborts those still running.
    pub(crate) async fn finish(&self, limit: Duration) {
        let mut tasks = std::mem::take(&mut *self.tasks.lock());
        let ended = async { while tasks.join_next().await.is_some() {} };
        if timeout(limit, ended).await.is_err() {
            tracing::warn!(
                "background tasks did not finish in time and were aborted; their work resumes at the next start"
            );
            tasks.abort_all();
            // Tasks that ignore the abort are detached.
            let aborted = async { while tasks.join_next().await.is_some() {} };
            let _ = timeout(Duration::from_secs(1), aborted).await;
            tasks.detach_all();
        }
    }
}

pub(crate) fn panic_text(reason: &(dyn Any + Send)) -> &str {
    let text = reason.downcast_ref::<&str>().copied();
    text.or(reason.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shutdown::ShutdownTrigger;

    #[tokio::test]
    async fn a_task_that_ends_before_shutdown_is_reported_by_name() {
        let (background, (trigger, shutdown)) =
            (BackgroundTasks::default(), ShutdownTrigger::new());
        background.start("breaks", &shutdown, async { panic!("on purpose, for a test") });
        background.start("ends", &shutdown, async {});
        background.start("works", &shutdown, shutdown.clone().triggered());
        let ended = || background.running().values().filter(|is_running| !**is_running).count();
        while ended() < 2 {
            tokio::task::yield_now().await;
        }
        let running = || background.running().into_iter().collect::<Vec<_>>();
        let all = [("breaks", false), ("ends", false), ("works", true)];
        assert_eq!(running(), all);
        trigger.trigger();
        background.finish(Duration::from_mins(1)).await;
        assert_eq!(running(), all, "ending after shutdown is no failure");
    }

    #[tokio::test]
    async fn shutdown_does_not_wait_longer_than_the_limit() {
        let (background, (trigger, shutdown)) =
            (BackgroundTasks::default(), ShutdownTrigger::new());
        let (left, leaves) = tokio::sync::oneshot::channel::<()>();
        background.start("stays", &shutdown, async move {
            let _left = left;
            std::future::pending::<()>().await;
        });
        trigger.trigger();
        background.finish(Duration::from_millis(1)).await;
        assert!(leaves.await.is_err(), "the task was aborted");
    }
}
