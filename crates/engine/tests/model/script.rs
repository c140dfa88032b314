//! Random scripts: what is done to the two stores, decided before anything runs, so that a failing
//! one can be cut down step by step.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_table::{
    BatchGet, BatchWrite, Delete, Get, Merge, Put, Query, Scan, TableDefinition, Update, Write,
};

use crate::author::Author;
use crate::words::pick;

/// The names of all tables.
pub(crate) const NAMES: [&str; 3] = ["alpha", "beta", "gamma"];

/// How the engine is opened for a script.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) memtable_bytes: usize,
    pub(crate) segment_bytes: u64,
    /// Short enough for the script's clock to pass it, in some.
    pub(crate) retention: Duration,
    /// Whether the engine's own upkeep sweeps and trims while the script runs.
    pub(crate) is_restless: bool,
}

/// A table that a step is about, printed by its name alone.
#[derive(Clone)]
pub(crate) struct Named(pub(crate) Arc<TableDefinition>);

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}

/// One step.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    CreateTable(Arc<TableDefinition>),
    DeleteTable(String),
    DescribeTables,
    Put(Named, Put),
    Update(Named, Update),
    Delete(Named, Delete),
    BatchWrite(Named, Vec<BatchWrite>),
    Transact(Vec<(Named, Write)>, Option<String>),
    Get(Named, Get),
    BatchGet(Named, BatchGet),
    TransactGet(Vec<(Named, Get)>),
    Query(Named, Query),
    /// Scans every segment, and the given one as asked.
    Scan(Named, Scan),
    Merge(Named, Merge),
    /// Reads this many changes of the stream after one of those seen, in thousandths of all.
    Stream(Named, usize, usize),
    AdvanceMs(u64),
    Sweep,
    Checkpoint,
    Reopen,
    Crash,
}

/// All of it.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) setup: Setup,
    pub(crate) steps: Vec<Step>,
}

impl Script {
    /// The script of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        let mut rng = SmallRng::seed_from_u64(seed);
        let setup = setup(&mut rng);
        let steps = Author::new(rng).write();
        Self { setup, steps }
    }
}

fn setup(rng: &mut SmallRng) -> Setup {
    let is_restless = rng.random_bool(0.2);
    let short = is_restless && rng.random_bool(0.5);
    Setup {
        memtable_bytes: *pick(rng, &[1, 512, 2 << 10, 8 << 10]),
        segment_bytes: *pick(rng, &[1 << 10, 4 << 10, 16 << 10]),
        retention: if short { Duration::from_mins(1) } else { Duration::from_hours(1 << 20) },
        is_restless,
    }
}
