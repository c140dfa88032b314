//! The time that a script decides on.

use std::sync::Arc;

use roundtable_table::{Clock, ManualClock};

/// The name of the engine's thread that sweeps and trims on its own.
const UPKEEP_THREAD: &str = "roundtable-upkeep";
/// The name of the engine's thread that evaluates writes.
const WRITER_THREAD: &str = "roundtable-writer";
const LATE_MS: u64 = 20_000;

/// The script's clock. Unless the script is restless it stands still for the engine's own upkeep, so
/// that expired items stay until somebody sweeps: what is seen meanwhile is half of the test.
#[derive(Debug)]
pub(crate) struct ScriptClock {
    pub(crate) now: ManualClock,
    pub(crate) is_restless: bool,
}

/// What the engine is told, with a flaw planted in what its readers are told.
#[derive(Debug)]
pub(crate) struct LateClock(pub(crate) Arc<ScriptClock>);

impl Clock for ScriptClock {
    fn now_ms(&self) -> u64 {
        let for_upkeep = std::thread::current().name() == Some(UPKEEP_THREAD);
        if for_upkeep && !self.is_restless {
            return 0;
        }
        self.now.now_ms()
    }
}

impl Clock for LateClock {
    fn now_ms(&self) -> u64 {
        let for_writer = std::thread::current().name() == Some(WRITER_THREAD);
        self.0.now_ms().saturating_sub(if for_writer { 0 } else { LATE_MS })
    }
}
