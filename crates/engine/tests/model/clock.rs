//! Clocks that the scripts control.

use std::sync::Arc;

use roundtable_table::{Clock, ManualClock};

/// The engine's thread that sweeps and trims in the background.
const UPKEEP_THREAD: &str = "roundtable-upkeep";
/// The engine's thread that evaluates writes.
const WRITER_THREAD: &str = "roundtable-writer";
const LATE_MS: u64 = 20_000;

/// The script's clock. Unless the script has upkeep, it stands still for the engine's upkeep thread, so
/// that expired items stay until a sweep: hiding them meanwhile is half of the test.
#[derive(Debug)]
pub(crate) struct ScriptClock {
    pub(crate) now: ManualClock,
    pub(crate) has_upkeep: bool,
}

/// A flawed clock: late for all threads but the writer.
#[derive(Debug)]
pub(crate) struct LateClock(pub(crate) Arc<ScriptClock>);

impl Clock for ScriptClock {
    fn now_ms(&self) -> u64 {
        let for_upkeep = std::thread::current().name() == Some(UPKEEP_THREAD);
        if for_upkeep && !self.has_upkeep {
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
