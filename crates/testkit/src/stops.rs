//! Stops work at an await point, as a crash would.

use std::pin::Pin;
use std::task::{Context, Poll};

/// Polls `work` until it is done, or until it has waited `stops` times: then drops it and returns
/// `None`. Trying all numbers until the work is done stops it at each of its await points, over a
/// backend that [yields](crate::YieldingBackend) at each operation.
///
/// ```
/// # use roundtable_testkit::stop_at;
/// # futures::executor::block_on(async {
/// let mut stops = 0;
/// while stop_at(stops, async { /* open the store, do the work */ }).await.is_none() {
///     // Start again, let it settle, and check the result.
///     stops += 1;
/// }
/// # });
/// ```
pub async fn stop_at<F: Future>(stops: usize, work: F) -> Option<F::Output> {
    StopAt { work: Some(Box::pin(work)), left: stops }.await
}

struct StopAt<F> {
    work: Option<Pin<Box<F>>>,
    left: usize,
}

impl<F: Future> Future for StopAt<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.work else { return Poll::Ready(None) };
        match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if self.left == 0 => {
                self.work = None;
                Poll::Ready(None)
            }
            Poll::Pending => {
                self.left -= 1;
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures::executor::block_on;

    use super::*;

    async fn yield_once() {
        let mut waited = false;
        std::future::poll_fn(|context| {
            if std::mem::replace(&mut waited, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    #[test]
    fn work_is_dropped_at_each_of_its_await_points() {
        let done = Cell::new(0);
        let work = async || {
            for _ in 0..3 {
                yield_once().await;
                done.set(done.get() + 1);
            }
            "done"
        };
        for (stops, steps, answer) in [(0, 0, None), (2, 2, None), (3, 3, Some("done"))] {
            done.set(0);
            assert_eq!(block_on(stop_at(stops, work())), answer);
            assert_eq!(done.get(), steps);
        }
    }
}
