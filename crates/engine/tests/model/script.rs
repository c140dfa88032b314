//! Random scripts of operations on two stores. They are generated before they run, so that a failing
//! one can be shrunk step by step.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_table::{
    BatchGet, BatchWrite, Delete, Get, Merge, Put, Query, Scan, TableDefinition, Update, Write,
};

use crate::generator::ScriptGenerator;
use crate::samples::pick;

pub(crate) const NAMES: [&str; 3] = ["alpha", "beta", "gamma"];

/// The engine's options for a script.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) memtable_bytes: usize,
    pub(crate) segment_bytes: u64,
    /// In some scripts short enough for the clock to pass it.
    pub(crate) retention: Duration,
    /// The engine's upkeep thread sweeps and trims while the script runs.
    pub(crate) has_upkeep: bool,
}

/// A table, printed by its name alone.
#[derive(Clone)]
pub(crate) struct NamedTable(pub(crate) Arc<TableDefinition>);

impl fmt::Debug for NamedTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    CreateTable(Arc<TableDefinition>),
    DeleteTable(String),
    DescribeTables,
    Put(NamedTable, Put),
    Update(NamedTable, Update),
    Delete(NamedTable, Delete),
    BatchWrite(NamedTable, Vec<BatchWrite>),
    Transact(Vec<(NamedTable, Write)>, Option<String>),
    Get(NamedTable, Get),
    BatchGet(NamedTable, BatchGet),
    TransactGet(Vec<(NamedTable, Get)>),
    Query(NamedTable, Query),
    /// Scans every segment, and the given one with its limits.
    Scan(NamedTable, Scan),
    Merge(NamedTable, Merge),
    /// Reads changes again: position in thousandths of those already read, and limit.
    Stream(NamedTable, usize, usize),
    AdvanceMs(u64),
    Sweep,
    Checkpoint,
    Reopen,
    Crash,
}

#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) setup: Setup,
    pub(crate) steps: Vec<Step>,
}

impl Script {
    /// Generates the script of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        let mut rng = SmallRng::seed_from_u64(seed);
        let setup = setup(&mut rng);
        let steps = ScriptGenerator::new(rng).write();
        Self { setup, steps }
    }
}

fn setup(rng: &mut SmallRng) -> Setup {
    let has_upkeep = rng.random_bool(0.2);
    let short = has_upkeep && rng.random_bool(0.5);
    Setup {
        memtable_bytes: *pick(rng, &[1, 512, 2 << 10, 8 << 10]),
        segment_bytes: *pick(rng, &[1 << 10, 4 << 10, 16 << 10]),
        retention: if short { Duration::from_mins(1) } else { Duration::from_hours(1 << 20) },
        has_upkeep,
    }
}
