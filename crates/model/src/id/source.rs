//! Where new ids come from. Time and randomness are given to it, and it never repeats itself.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use roundtable_table::Clock;
use ulid::Ulid;

use super::Id;
use crate::time::Time;

/// Makes ULIDs that always rise: within a millisecond, and when the clock steps back.
///
/// What a ULID leaves to chance is a counter here, which begins anywhere and never goes back, and 32
/// bits that remain random:
///
/// ```text
/// time in ms:48  count:48  random:32
/// ```
///
/// So ids of one process rise without a memory of the times they were made for, and two processes
/// would have to draw the same 79 bits in the same millisecond to make the same id.
pub struct Ids {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

struct State {
    random: StdRng,
    /// The time of the last id that was made for now.
    latest: Time,
    /// Begins in the lower half of its 48 bits: at a million ids each second, the upper half alone
    /// lasts for four years.
    count: u64,
}

impl Ids {
    /// Ids with the randomness of a seed: the same seed and times make the same ids, as tests like it.
    pub fn new(clock: Arc<dyn Clock>, seed: [u8; 32]) -> Self {
        Self::drawing(clock, StdRng::from_seed(seed))
    }

    /// Ids with the randomness of the operating system.
    pub fn from_os(clock: Arc<dyn Clock>) -> io::Result<Self> {
        Ok(Self::drawing(clock, StdRng::try_from_os_rng()?))
    }

    fn drawing(clock: Arc<dyn Clock>, mut random: StdRng) -> Self {
        let count = random.next_u64() >> 17;
        Self { clock, state: Mutex::new(State { random, latest: Time::EPOCH, count }) }
    }

    /// A new id, which is above all that this made before for now.
    pub fn next<T: From<Id>>(&self) -> T {
        let now = Time::now(&*self.clock);
        self.draw(|state| {
            state.latest = state.latest.max(now);
            state.latest
        })
    }

    /// A new id of exactly this time, which is above all that this made before for that time.
    pub fn next_at<T: From<Id>>(&self, time: Time) -> T {
        self.draw(|_| time)
    }

    fn draw<T: From<Id>>(&self, time: impl FnOnce(&mut State) -> Time) -> T {
        // A panic elsewhere leaves nothing half done in here.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let ms = time(&mut state).ms();
        state.count += 1;
        let chance = u128::from(state.count) << 32 | u128::from(state.random.next_u32());
        Id::of_ulid(Ulid::from_parts(ms, chance)).into()
    }
}

impl fmt::Debug for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whoever knows its state knows the ids to come.
        f.debug_struct("Ids").field("clock", &self.clock).finish_non_exhaustive()
    }
}
