//! Concurrent callers that each wait for one acknowledgement before the next call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use futures::future::try_join_all;
use roundtable_test_client::{Samples, rate};

/// The number of users, and of posts to like and comment on: a power of two, see [`pair`].
pub(crate) const USERS: u64 = 4096;

#[derive(Debug)]
pub(crate) struct CallStats {
    /// From the first call to the last acknowledgement.
    elapsed: Duration,
    waits: Samples,
}

impl CallStats {
    pub(crate) fn per_second(&self) -> f64 {
        rate(self.waits.len() as u64, self.elapsed)
    }

    pub(crate) fn p99_ms(&mut self) -> f64 {
        self.waits.quantile_us(0.99) / 1e3
    }
}

/// Runs callers until the window ends. `next` numbers the actions, so that none is repeated.
pub(crate) async fn run_callers<A, F>(
    callers: Vec<A>,
    next: &Arc<AtomicU64>,
    window: Duration,
) -> Result<CallStats>
where
    A: Fn(u64) -> F + Send + Sync + 'static,
    F: Future<Output = Result<()>> + Send,
{
    let started = Instant::now();
    let tasks = callers.into_iter().map(|action| {
        let next = Arc::clone(next);
        tokio::spawn(async move {
            let mut waits = Samples::default();
            while started.elapsed() < window {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let called_at = Instant::now();
                action(number).await?;
                waits.add_since(called_at);
            }
            Ok::<_, anyhow::Error>(waits)
        })
    });
    let mut waits = Samples::default();
    for samples in try_join_all(tasks).await? {
        waits.extend(&samples?);
    }
    Ok(CallStats { elapsed: started.elapsed(), waits })
}

/// Returns two different users for every number below 16 million; no pair repeats. The first cycles
/// through all users, and the second looks random.
pub(crate) fn pair(number: u64) -> (usize, usize) {
    let (one, round) = (number % USERS, number / USERS);
    // An odd factor is a bijection modulo a power of two, so pairs of different rounds differ.
    let shift = one.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let further = 1 + (round + shift) % (USERS - 1);
    let one = one.wrapping_mul(0x5851_F42D) % USERS;
    (user_index(one), user_index(one + further))
}

/// Returns the index of the user for a number, in turn.
pub(crate) fn user_index(number: u64) -> usize {
    usize::try_from(number % USERS).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn pairs_differ() {
        let pairs: HashSet<_> = (0..1_000_000).map(pair).collect();
        assert!(pairs.iter().all(|(one, other)| one != other));
        assert_eq!(pairs.len(), 1_000_000);
    }
}
