//! Every processor there is, and every kind of work.

use roundtable_domain::Ground;

use crate::{Counters, Privacy, Purge, Runner, Scores, Setup};

impl Setup {
    /// A runner with every processor and every kind of work, as a server needs it.
    pub fn everything(ground: &Ground, seed: [u8; 32]) -> Self {
        Self::derived(ground, seed)
            .with(Purge::new(ground.clone()))
            .working(Purge::new(ground.clone()))
    }

    /// The same for tests, which decide themselves how time passes: nothing waits.
    pub fn everything_at_once(ground: &Ground) -> Self {
        Self::derived(ground, [0; 32])
            .with(Purge::new(ground.clone()).at_once())
            .working(Purge::new(ground.clone()).at_once())
            .at_once()
    }

    fn derived(ground: &Ground, seed: [u8; 32]) -> Self {
        Runner::on(ground.clone(), seed)
            .with(Counters::new(ground.clone()))
            .with(Scores::new(ground.clone()))
            .with(Privacy::new(ground.clone()))
            .working(Privacy::new(ground.clone()))
    }
}
