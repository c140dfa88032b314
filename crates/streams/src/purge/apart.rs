//! Waiting for a service on a thread of its own.
//!
//! The compiler cannot tell that what the services' mutations wait for may move between threads, so
//! that the runner's tasks, which do, cannot wait for them directly.

use tokio::runtime::Handle;

use crate::Failure;

/// Does `work` on a thread of its own, and waits for it.
pub(super) async fn apart<E: Send + 'static>(
    work: impl AsyncFnOnce() -> Result<(), E> + Send + 'static,
) -> Result<(), Failure>
where
    Failure: From<E>,
{
    let here = Handle::current();
    let done = tokio::task::spawn_blocking(move || here.block_on(work()));
    match done.await {
        Ok(done) => Ok(done?),
        Err(error) => Err(Failure::broken(error)),
    }
}
