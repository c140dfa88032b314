//! Keeping up with the stream, round after round: shared by all who ask for it at the same time, or until
//! told to stop.

use std::fmt::Display;
use std::pin::pin;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Either, Shared, WeakShared, select};
use parking_lot::Mutex;

use crate::Failure;

/// How long a round waits for news, and how long a failed one is followed by nothing.
pub(crate) const WAIT: Duration = Duration::from_secs(1);

/// One reading of the stream to its end.
pub(crate) type Round = BoxFuture<'static, Result<(), Failure>>;

/// Rounds, one at a time. A round belongs to nobody: whoever waits for it takes it further. So a client
/// that began one, and whose connection is too slow to be looked at again, keeps nobody waiting, as it
/// would if it held a lock.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    state: Mutex<State>,
}

/// Rounds are known by their numbers.
#[derive(Debug, Default)]
struct State {
    /// The last that began, and itself as long as somebody waits for it.
    begun: u64,
    last: Option<WeakShared<Round>>,
    /// The last that came to its end.
    done: u64,
}

impl Rounds {
    /// Waits for a round that begins after this call, whoever began it.
    pub(crate) async fn wait_for_one(&self, round: impl Fn() -> Round) -> Result<(), Failure> {
        let before = self.state.lock().begun;
        while let Some((number, round)) = self.current(before, &round) {
            let done = round.await;
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

    /// The round that is under way, or a new one, with its number; none if one is done that is later
    /// than this.
    fn current(&self, before: u64, round: impl Fn() -> Round) -> Option<(u64, Shared<Round>)> {
        let mut state = self.state.lock();
        if state.done > before {
            return None;
        }
        let last = state.last.as_ref().and_then(WeakShared::upgrade);
        if let Some(round) = last.filter(|round| round.peek().is_none()) {
            return Some((state.begun, round));
        }
        let next = round().shared();
        state.begun += 1;
        state.last = next.downgrade();
        Some((state.begun, next))
    }
}

/// Does `round` again and again until `stop` comes; `who` cannot read the stream when one fails.
// Not `AsyncFn`: nobody could tell that its futures are `Send`, and a server needs them to be.
pub(crate) async fn until_stopped<E, Round>(
    stop: impl Future<Output = ()>,
    who: &str,
    round: impl Fn() -> Round,
) where
    E: Display,
    Round: Future<Output = Result<(), E>>,
{
    let mut stop = pin!(stop);
    loop {
        match select(stop.as_mut(), pin!(round())).await {
            Either::Left(_) => return,
            Either::Right((Ok(()), _)) => {}
            Either::Right((Err(failure), _)) => {
                tracing::warn!(%failure, who, "the stream cannot be read");
                let pause = pin!(tokio::time::sleep(WAIT));
                if let Either::Left(_) = select(stop.as_mut(), pause).await {
                    return;
                }
            }
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

    /// A round that takes a turn, and counts itself when it is over.
    fn counted(over: &Arc<AtomicUsize>) -> impl Fn() -> Round + use<> {
        let over = Arc::clone(over);
        move || {
            let over = Arc::clone(&over);
            Box::pin(async move {
                yield_now().await;
                over.fetch_add(1, Ordering::SeqCst);
                Ok(())
            })
        }
    }

    #[tokio::test]
    async fn those_who_come_at_the_same_time_share_a_round() {
        let (rounds, over) = (Rounds::default(), Arc::new(AtomicUsize::new(0)));
        let gate = Arc::new(Semaphore::new(0));
        let round = || {
            let (counted, gate) = (counted(&over)(), Arc::clone(&gate));
            async move {
                drop(gate.acquire().await);
                counted.await
            }
            .boxed()
        };
        let mut all = Box::pin(join_all((0..9).map(|_| rounds.wait_for_one(round))));
        assert!(all.as_mut().now_or_never().is_none());
        gate.add_permits(1);
        assert!(all.await.iter().all(Result::is_ok));
        assert_eq!(over.load(Ordering::SeqCst), 2, "one was under way when most of them came");
    }

    #[tokio::test]
    async fn whoever_comes_during_a_round_waits_for_another() {
        let (rounds, over) = (Rounds::default(), Arc::new(AtomicUsize::new(0)));
        let mut first = Box::pin(rounds.wait_for_one(counted(&over)));
        assert!(first.as_mut().now_or_never().is_none());
        rounds.wait_for_one(counted(&over)).await.unwrap();
        assert_eq!(over.load(Ordering::SeqCst), 2);
        first.await.unwrap();
        assert_eq!(over.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_round_that_nobody_waits_for_is_not_waited_for() {
        let (rounds, over) = (Rounds::default(), Arc::new(AtomicUsize::new(0)));
        assert!(rounds.wait_for_one(counted(&over)).now_or_never().is_none());
        rounds.wait_for_one(counted(&over)).await.unwrap();
        assert_eq!(over.load(Ordering::SeqCst), 1);
    }
}
