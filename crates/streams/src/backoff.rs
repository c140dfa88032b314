//! How long to wait before trying again: twice as long each time, up to a limit, and never as long as
//! somebody else who failed at the same moment.

use std::time::Duration;

use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Waits between tries. Where its randomness comes from is given to it.
#[derive(Debug)]
pub struct Backoff {
    first: Duration,
    most: Duration,
    random: Mutex<StdRng>,
}

impl Backoff {
    /// Waits of half to all of `first` before the second try, doubled each time, up to `most`.
    pub fn new(first: Duration, most: Duration, seed: [u8; 32]) -> Self {
        Self { first, most, random: Mutex::new(StdRng::from_seed(seed)) }
    }

    /// No waits, for tests: time is theirs.
    pub fn none() -> Self {
        Self::new(Duration::ZERO, Duration::ZERO, [0; 32])
    }

    /// How long to wait after so many tries have failed.
    pub fn delay(&self, tries: u32) -> Duration {
        let doubled = 2u32.saturating_pow(tries.saturating_sub(1));
        let whole = self.first.saturating_mul(doubled).min(self.most);
        if whole.is_zero() {
            return whole;
        }
        self.random.lock().random_range(whole / 2..=whole)
    }

    /// Waits after so many tries have failed.
    pub async fn wait(&self, tries: u32) {
        let delay = self.delay(tries);
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
    fn waits_double_up_to_the_limit_and_differ() {
        let ms = Duration::from_millis;
        let backoff = Backoff::new(ms(100), ms(1_000), [1; 32]);
        for (tries, most) in [(1, 100), (2, 200), (4, 800), (5, 1_000), (60, 1_000)] {
            let waits: Vec<Duration> = (0..20).map(|_| backoff.delay(tries)).collect();
            assert!(waits.iter().all(|wait| (ms(most / 2)..=ms(most)).contains(wait)), "{waits:?}");
            assert!(waits.windows(2).any(|two| two[0] != two[1]), "{waits:?}");
        }
        assert_eq!(Backoff::none().delay(9), Duration::ZERO);
    }
}
