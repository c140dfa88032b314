//! Delays between retries: they double up to a limit and are randomized, so that processes which
//! failed at the same moment do not retry at the same moment.

use std::time::Duration;

use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Randomized exponential backoff. The caller supplies the seed.
#[derive(Debug)]
pub struct Backoff {
    first: Duration,
    max: Duration,
    rng: Mutex<StdRng>,
}

impl Backoff {
    /// Delays of half to all of `first` before the second attempt, doubled for each further
    /// attempt, up to `max`.
    pub fn new(first: Duration, max: Duration, seed: [u8; 32]) -> Self {
        Self { first, max, rng: Mutex::new(StdRng::from_seed(seed)) }
    }

    /// No delays, for tests.
    pub fn none() -> Self {
        Self::new(Duration::ZERO, Duration::ZERO, [0; 32])
    }

    /// Returns the delay after `attempts` failed attempts.
    pub fn delay(&self, attempts: u32) -> Duration {
        let doubled = 2u32.saturating_pow(attempts.saturating_sub(1));
        let whole = self.first.saturating_mul(doubled).min(self.max);
        if whole.is_zero() {
            return whole;
        }
        self.rng.lock().random_range(whole / 2..=whole)
    }

    /// Sleeps for [`delay`](Self::delay).
    pub async fn wait(&self, attempts: u32) {
        let delay = self.delay(attempts);
        if delay.is_zero() {
            tokio::task::yield_now().await;
        } else {
            tokio::time::sleep(delay).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_limit_and_differ() {
        let ms = Duration::from_millis;
        let backoff = Backoff::new(ms(100), ms(1_000), [1; 32]);
        for (attempts, max) in [(1, 100), (2, 200), (4, 800), (5, 1_000), (60, 1_000)] {
            let waits: Vec<Duration> = (0..20).map(|_| backoff.delay(attempts)).collect();
            assert!(waits.iter().all(|wait| (ms(max / 2)..=ms(max)).contains(wait)), "{waits:?}");
            assert!(waits.windows(2).any(|two| two[0] != two[1]), "{waits:?}");
        }
        assert_eq!(Backoff::none().delay(9), Duration::ZERO);
    }
}
