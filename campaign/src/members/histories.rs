//! Recorded histories of concurrent calls to the engine, on several threads.

use roundtable_conformance::history::check_store;
use roundtable_engine::{Engine, Options};
use roundtable_model::table::Store;

use crate::totals::Counts;

const THREADS: usize = 2;

/// Checks the histories of a seed. The threads race, so that a finding may need several attempts to be
/// repeated; it shows the whole history.
pub(super) fn check(seed: u64) -> Result<Counts, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let directory = tempfile::tempdir().map_err(|error| text(&error))?;
    let options = Options {
        // Checkpoints and trims happen all the time.
        memtable_bytes: 64 << 10,
        segment_bytes: 64 << 10,
        ..Options::default()
    };
    let engine = Engine::open(directory.path(), options).map_err(|error| text(&error))?;
    let store = Store::new(engine.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_time()
        .build()
        .map_err(|error| text(&error))?;
    let checked = runtime.block_on(check_store(async |_| store.clone(), seed..seed + 1));
    let counts = checked.map_err(|failure| text(&failure))?;
    let faults = engine.audit().map_err(|error| text(&error))?;
    if !faults.is_empty() {
        return Err(format!("the audit found {faults:#?}"));
    }
    let calls = counts.read + counts.written + counts.refused + counts.failed + counts.unknown;
    Ok(Counts::from([
        ("calls".to_owned(), calls as u64),
        ("pages".to_owned(), counts.pages as u64),
    ]))
}
