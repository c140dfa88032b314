//! Randomness for secrets and waits. It is injected, like time and ids: tests use a seed, a server
//! the operating system.

use std::time::Duration;
use std::{fmt, io};

use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};

/// A source of unpredictable bytes.
pub struct Entropy(Mutex<StdRng>);

impl Entropy {
    /// Returns a deterministic source, for tests.
    pub fn seeded(seed: [u8; 32]) -> Self {
        Self(Mutex::new(StdRng::from_seed(seed)))
    }

    pub fn from_os() -> io::Result<Self> {
        Ok(Self(Mutex::new(StdRng::try_from_os_rng()?)))
    }

    pub(crate) fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.lock().fill_bytes(&mut bytes);
        bytes
    }

    /// Returns a duration between half of `wait` and one and a half.
    pub(crate) fn around(&self, wait: Duration) -> Duration {
        wait / 2 + wait.mul_f64(f64::from(u16::from_le_bytes(self.bytes())) / f64::from(u16::MAX))
    }
}

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The state is secret: it determines the secrets to come.
        f.debug_struct("Entropy").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_differ_and_keep_their_average() {
        let (entropy, wait) = (Entropy::seeded([1; 32]), Duration::from_millis(64));
        let waits: Vec<Duration> = (0..1_000).map(|_| entropy.around(wait)).collect();
        assert!(waits.iter().all(|one| (wait / 2..=wait * 3 / 2).contains(one)));
        let (shortest, longest) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
        assert!(longest.saturating_sub(*shortest) > wait * 9 / 10, "{shortest:?} to {longest:?}");
        let average = waits.iter().sum::<Duration>() / 1_000;
        assert!((wait * 9 / 10..wait * 11 / 10).contains(&average), "{average:?}");
    }
}
