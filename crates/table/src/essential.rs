//! Marks the writes that a store takes even while it keeps its last space in reserve.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};

thread_local! {
    static IS_ESSENTIAL: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether the running code is part of [`essential`] work.
pub fn is_essential() -> bool {
    IS_ESSENTIAL.get()
}

/// Runs `work` with all its writes marked as essential: those by which users sign in, operators help, and
/// the store gets along. A store that is short of space refuses all others. Tasks that `work` spawns are
/// not part of it.
pub fn essential<F: Future>(work: F) -> impl Future<Output = F::Output> {
    // Boxed, because this may not be unsafe.
    EssentialWork(Box::pin(work))
}

struct EssentialWork<F>(Pin<Box<F>>);

impl<F: Future> Future for EssentialWork<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _mark = EssentialMark { before: IS_ESSENTIAL.replace(true) };
        self.0.as_mut().poll(context)
    }
}

/// Restores the mark of before, also if the work panics.
struct EssentialMark {
    before: bool,
}

impl Drop for EssentialMark {
    fn drop(&mut self) {
        IS_ESSENTIAL.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::pin;
    use std::task::Waker;

    use super::*;

    #[test]
    fn only_the_work_itself_is_essential() {
        let mut context = Context::from_waker(Waker::noop());
        let mut yielded = false;
        let mut work = pin!(essential(std::future::poll_fn(move |_| {
            assert!(is_essential());
            if std::mem::replace(&mut yielded, true) { Poll::Ready(()) } else { Poll::Pending }
        })));
        assert!(work.as_mut().poll(&mut context).is_pending());
        assert!(!is_essential(), "other work runs between two polls");
        assert!(work.as_mut().poll(&mut context).is_ready());
        assert!(!is_essential());
        let mut breaks = pin!(essential(async { panic!("on purpose, for a test") }));
        let broken = catch_unwind(AssertUnwindSafe(|| breaks.as_mut().poll(&mut context)));
        assert!(broken.is_err() && !is_essential());
    }
}
