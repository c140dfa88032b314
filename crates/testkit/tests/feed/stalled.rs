//! Work that stops in the middle and resumes later.

use std::fmt;
use std::pin::{Pin, pin};
use std::task::Poll;

use futures::future::join;

/// Polls before work counts as blocked: more than any work in a history waits for the store.
const PATIENCE: usize = 20_000;

pub(crate) struct Stalled(Pin<Box<dyn Future<Output = ()>>>);

impl Stalled {
    /// Polls work up to this wait; returns `None` if it is done by then.
    pub(crate) async fn after(
        waits: usize,
        work: impl Future<Output = ()> + 'static,
    ) -> Option<Self> {
        let mut work: Pin<Box<dyn Future<Output = ()>>> = Box::pin(work);
        up_to(&mut work, waits).await.is_none().then_some(Self(work))
    }

    pub(crate) async fn resume(self) {
        self.0.await;
    }
}

impl fmt::Debug for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stalled")
    }
}

/// Runs some work while other work is stalled; if it waits for the other, both continue together.
/// Returns the result of the work, and that of the other if it finished.
pub(crate) async fn before<W: Future, O: Future + Unpin>(
    work: W,
    other: &mut O,
) -> (W::Output, Option<O::Output>) {
    let mut work = pin!(work);
    let mut patience = PATIENCE;
    let alone = std::future::poll_fn(|context| {
        patience -= 1;
        // It may wait for the stalled work.
        context.waker().wake_by_ref();
        match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if patience == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    });
    if let Some(done) = alone.await {
        return (done, None);
    }
    let (done, other) = join(work, other).await;
    (done, Some(other))
}

/// Polls work until it is done, or has waited this often.
pub(crate) async fn up_to<F: Future + Unpin>(work: &mut F, mut waits: usize) -> Option<F::Output> {
    std::future::poll_fn(|context| match Pin::new(&mut *work).poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if waits == 0 => Poll::Ready(None),
        Poll::Pending => {
            waits -= 1;
            Poll::Pending
        }
    })
    .await
}
