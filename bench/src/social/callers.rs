//! Callers who do one thing after the other, each waiting for its acknowledgement.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use futures::future::try_join_all;

use crate::samples::{Samples, rate};

/// People, and posts to like and comment on, are so many: a power of two, see [`pair`].
pub(crate) const CAST: u64 = 4096;

/// What callers did in a window.
#[derive(Debug)]
pub(crate) struct Done {
    /// From the first call to the last acknowledgement.
    elapsed: Duration,
    /// How long each call took.
    waits: Samples,
}

impl Done {
    pub(crate) fn per_second(&self) -> f64 {
        rate(self.waits.len() as u64, self.elapsed)
    }

    pub(crate) fn p99_ms(&mut self) -> f64 {
        self.waits.quantile_us(0.99) / 1e3
    }
}

/// Lets each caller act until the window ends. What they do is numbered by `next`, so that nothing is
/// done twice.
pub(crate) async fn together<A, F>(
    callers: Vec<A>,
    next: &Arc<AtomicU64>,
    window: Duration,
) -> Result<Done>
where
    A: Fn(u64) -> F + Send + Sync + 'static,
    F: Future<Output = Result<()>> + Send,
{
    let started = Instant::now();
    let tasks = callers.into_iter().map(|act| {
        let next = Arc::clone(next);
        tokio::spawn(async move {
            let mut waits = Samples::default();
            while started.elapsed() < window {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let asked = Instant::now();
                act(number).await?;
                waits.add_since(asked);
            }
            Ok::<_, anyhow::Error>(waits)
        })
    });
    let mut waits = Samples::default();
    for samples in try_join_all(tasks).await? {
        waits.extend(&samples?);
    }
    Ok(Done { elapsed: started.elapsed(), waits })
}

/// Two different members of the cast for every number below some 16 million, no pair twice. The first
/// takes turns with all others; whom the second is looks like chance.
pub(crate) fn pair(number: u64) -> (usize, usize) {
    let (one, round) = (number % CAST, number / CAST);
    // An odd factor and a shift of a full circle: different rounds stay different.
    let shift = one.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let further = 1 + (round + shift) % (CAST - 1);
    let one = one.wrapping_mul(0x5851_F42D) % CAST;
    (place(one), place(one + further))
}

/// The member of the cast that a number stands for, in turn.
pub(crate) fn place(number: u64) -> usize {
    usize::try_from(number % CAST).unwrap_or(0)
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
