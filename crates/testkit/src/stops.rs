//! Stopping work in the middle: as a crash does, between two steps of it.

use std::pin::Pin;
use std::task::{Context, Poll};

/// Polls `work` until it is done, or until it has waited `stops` times: then it is dropped where it
/// stands, and the answer is `None`. Going through all numbers until there is an answer stops it at
/// every await point it has, over a store that [waits](crate::Yielding) at each operation.
///
/// ```
/// # use roundtable_testkit::stop_at;
/// # futures::executor::block_on(async {
/// let mut stops = 0;
/// while stop_at(stops, async { /* open the store, do the work */ }).await.is_none() {
///     // Start again, let it settle, and look whether everything is as it must be.
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

    /// Waits once.
    async fn a_moment() {
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
                a_moment().await;
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
