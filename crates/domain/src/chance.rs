//! Where secrets come from. Like time and ids, randomness is given from outside: tests repeat
//! themselves, a server asks the operating system.

use std::{fmt, io};

use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};

/// A source of bytes that nobody can guess.
pub struct Chance(Mutex<StdRng>);

impl Chance {
    /// The randomness of a seed: the same bytes every time, as tests like it.
    pub fn seeded(seed: [u8; 32]) -> Self {
        Self(Mutex::new(StdRng::from_seed(seed)))
    }

    /// The randomness of the operating system.
    pub fn from_os() -> io::Result<Self> {
        Ok(Self(Mutex::new(StdRng::try_from_os_rng()?)))
    }

    /// So many bytes.
    pub(crate) fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.lock().fill_bytes(&mut bytes);
        bytes
    }
}

impl fmt::Debug for Chance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whoever knows its state knows the secrets to come.
        f.debug_struct("Chance").finish_non_exhaustive()
    }
}
