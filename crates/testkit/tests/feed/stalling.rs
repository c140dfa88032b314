//! Work that stops in the middle, and goes on when others have done theirs.

use std::fmt;
use std::pin::Pin;
use std::task::Poll;

/// Work under way.
pub(crate) struct Stalled(Pin<Box<dyn Future<Output = ()>>>);

impl Stalled {
    /// Work up to its so many-th wait; `None` if it is done by then.
    pub(crate) async fn after(
        waits: usize,
        work: impl Future<Output = ()> + 'static,
    ) -> Option<Self> {
        let mut work: Pin<Box<dyn Future<Output = ()>>> = Box::pin(work);
        up_to(&mut work, waits).await.is_none().then_some(Self(work))
    }

    /// The rest of it.
    pub(crate) async fn go_on(self) {
        self.0.await;
    }
}

impl fmt::Debug for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stalled")
    }
}

/// Works until the work is done, or has waited so often.
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
