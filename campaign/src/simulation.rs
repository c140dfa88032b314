//! The whole system in one process, one thread and no time of its own: users, services, stream
//! processors and the engine on a simulated disk. One number, the seed, decides what they do, who runs
//! next, and when the power fails.
//!
//! Not simulated: the tree's own I/O (LMDB writes to a real directory; a commit of it counts as one
//! step), the network, and the media store, which never loses anything.

mod checkpoint_holds;
mod machine;
mod seeded_tasks;
mod town_archive;
mod town_run;

use std::panic::AssertUnwindSafe;

use parking_lot::Mutex;

use crate::panics::PanicLog;

/// The figures of a simulation. Two runs with one seed are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulationReport {
    /// Actions that users tried, and those that succeeded.
    pub actions: u64,
    pub done: u64,
    /// Steps of the simulated disk.
    pub disk_steps: u64,
    /// Times at which the power failed, or the process was killed.
    pub power_cuts: u64,
    pub kills: u64,
    /// Starts that were interrupted themselves.
    pub failed_starts: u64,
    /// A hash of all disk steps and of the store at the end.
    pub digest: u64,
}

/// Held by the simulation that runs: the services' locks on heads belong to the whole process, and two
/// simulations would wait for each other.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs the simulation of a seed, and returns the first thing that is wrong.
pub fn simulate(seed: u64) -> Result<SimulationReport, String> {
    let _alone = ALONE.lock();
    let log = PanicLog::start();
    let run = AssertUnwindSafe(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .map_err(|error| format!("cannot start a runtime: {error}"))?;
        runtime.block_on(town_run::run(seed)).map_err(|error| format!("{error:#}"))
    });
    let result = std::panic::catch_unwind(run);
    // A panic that something caught is a finding, too.
    match (log.first(), result) {
        (Some(panic), _) => Err(panic),
        (None, Ok(result)) => result,
        (None, Err(_)) => Err(String::from("a panic without a message")),
    }
}
