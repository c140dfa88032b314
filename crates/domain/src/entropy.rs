//! Randomness for secrets. It is injected, like time and ids: tests use a seed, a server the
//! operating system.

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
}

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The state is secret: it determines the secrets to come.
        f.debug_struct("Entropy").finish_non_exhaustive()
    }
}
