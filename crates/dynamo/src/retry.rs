//! Pauses between tries, and random numbers for them. The SDK retries failures; this is for what it
//! takes for success: unprocessed parts of batches, and transactions that met others.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use crate::Retries;

/// Pauses that grow, up to a number of tries.
#[derive(Debug)]
pub(crate) struct Backoff {
    retries: Retries,
    tried: u32,
}

impl Backoff {
    pub(crate) const fn new(retries: Retries) -> Self {
        Self { retries, tried: 1 }
    }

    /// Pauses before the next try; `false`, at once, when there should be none.
    pub(crate) async fn pause(&mut self) -> bool {
        if self.tried >= self.retries.attempts_max {
            return false;
        }
        tokio::time::sleep(jittered(self.longest())).await;
        self.tried += 1;
        true
    }

    fn longest(&self) -> Duration {
        let doublings = (self.tried - 1).min(16);
        self.retries.delay_first.saturating_mul(1 << doublings).min(self.retries.delay_max)
    }
}

/// Anything up to `longest`, so that those who collided once do not collide again.
fn jittered(longest: Duration) -> Duration {
    const STEPS: u32 = 1 << 16;
    #[expect(clippy::cast_possible_truncation, reason = "any 16 bits will do")]
    let step = random() as u32 % STEPS;
    longest.mul_f64(f64::from(step) / f64::from(STEPS))
}

/// Each hasher of the standard library has new keys, seeded by the operating system.
fn random() -> u64 {
    RandomState::new().hash_one(())
}

/// A token no other transaction has.
pub(crate) fn fresh_token() -> String {
    format!("{:016x}{:016x}", random(), random())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_longest_one() {
        let retries = Retries {
            attempts_max: 100,
            delay_first: Duration::from_millis(10),
            delay_max: Duration::from_millis(50),
            attempt_wait: Duration::from_secs(1),
        };
        let longest = |tried| Backoff { retries, tried }.longest().as_millis();
        assert_eq!([1, 2, 3, 4, 90].map(longest), [10, 20, 40, 50, 50]);
        assert!(jittered(Duration::from_millis(10)) < Duration::from_millis(10));
    }

    #[tokio::test]
    async fn tries_come_to_an_end() {
        let retries =
            Retries { attempts_max: 3, delay_first: Duration::from_nanos(1), ..Retries::default() };
        let mut backoff = Backoff::new(retries);
        assert!(backoff.pause().await);
        assert!(backoff.pause().await);
        assert!(!backoff.pause().await);
    }

    #[test]
    fn tokens_differ_and_fit() {
        let (one, other) = (fresh_token(), fresh_token());
        assert_ne!(one, other);
        assert_eq!(one.len(), 32);
        assert!(one.len() <= roundtable_table::limits::TOKEN_BYTES_MAX);
    }
}
