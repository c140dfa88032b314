//! Threads with a low priority for expensive work.

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

/// How nice these threads are to others, of 19 at most: under contention they get about a tenth of what
/// the others get.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// A runtime on threads of its own. The operating system shares the processor between these threads and
/// all others, so that work which never waits does not hold up anything but its like.
#[derive(Debug)]
pub(super) struct BackgroundThreads(Option<Runtime>);

impl BackgroundThreads {
    pub(super) fn start(threads: usize) -> std::io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("background")
            .on_thread_start(lower_priority)
            .enable_all()
            .build()?;
        Ok(Self(Some(runtime)))
    }

    /// Runs work to its end; it is given up if the caller is.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let Some(runtime) = &self.0 else { return work.await };
        let mut tasks = JoinSet::new();
        tasks.spawn_on(work, runtime.handle());
        match tasks.join_next().await {
            Some(Ok(done)) => done,
            Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The runtime is shutting down, and this process with it.
            _ => std::future::pending().await,
        }
    }
}

impl Drop for BackgroundThreads {
    fn drop(&mut self) {
        // May happen within another runtime, which must not block.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Elsewhere the priority is that of the whole process.
#[cfg(target_os = "linux")]
fn lower_priority() {
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::warn!(%error, "a background thread keeps its priority");
    }
}

#[cfg(not(target_os = "linux"))]
const fn lower_priority() {}
