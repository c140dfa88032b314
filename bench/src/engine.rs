//! The embedded engine compared with bare LMDB and SQLite, one after the other on the same disk.

mod beside;
mod big;
pub(crate) mod child;
mod data;
mod durable;
mod feed;
mod lmdb;
mod load;
mod ours;
mod reads;
mod reopen;
mod sqlite;
mod subject;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use roundtable_test_client::rate;

use self::data::Town;
use self::lmdb::Lmdb;
use self::ours::Ours;
use self::sqlite::Sqlite;
use self::subject::{Peer, Subject};
use crate::machine;
use crate::progress::log_step;
use crate::report::{Better, Report};

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// A tenth of the data: a functional test, not a measurement
    #[arg(long)]
    quick: bool,
    /// Only these workloads (all but `big` when absent)
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<Workload>,
    /// Directory for the data, which is removed afterwards
    #[arg(long, default_value = "target/bench-data")]
    dir: PathBuf,
    /// Items under the reads and writes, and behind the reopening
    #[arg(long, value_name = "N")]
    items: Option<u64>,
    /// For `big` without a control group: hold all of the machine's memory but this many MiB
    #[arg(long, value_name = "MIB")]
    spare: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Workload {
    /// Random existing items, one caller
    Get,
    /// The newest 50 of random partitions, one caller
    Newest50,
    /// Durable full writes by 1, 16 and 128 callers
    Writes,
    /// A burst of small feed items, synced per thousand
    Feed,
    /// Gets during saturating writes
    Beside,
    /// A long load in batches: stalls and memory
    Load,
    /// Reopening after kill -9
    Reopen,
    /// Data four times the memory
    Big,
}

impl Workload {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug)]
struct Scale {
    items: u64,
    rounds: u64,
    gets: usize,
    newests: usize,
    write_window: Duration,
    write_pool: u64,
    feed_items: u64,
    beside_window: Duration,
    load_items: u64,
}

impl Scale {
    fn of(options: &Options) -> Self {
        let full = Self {
            items: options.items.unwrap_or(1_000_000),
            rounds: 5,
            gets: 200_000,
            newests: 30_000,
            write_window: Duration::from_secs(4),
            write_pool: 400_000,
            feed_items: 100_000,
            beside_window: Duration::from_secs(10),
            load_items: 3_000_000,
        };
        if !options.quick {
            return full;
        }
        Self {
            items: options.items.unwrap_or(100_000),
            rounds: 3,
            gets: 20_000,
            newests: 3_000,
            write_window: Duration::from_secs(1),
            write_pool: 100_000,
            feed_items: 20_000,
            beside_window: Duration::from_secs(3),
            load_items: 300_000,
        }
    }
}

/// State shared by the workloads on filled subjects. Ours is the first subject.
struct EngineBench {
    scale: Scale,
    town: Town,
    subjects: Vec<Box<dyn Subject>>,
    report: Report,
    dir: PathBuf,
    /// The number of later activities used so far: every write is of a new item.
    used: u64,
}

impl EngineBench {
    fn filled(dir: &Path, scale: Scale, mut report: Report) -> Result<Self> {
        let town = Town::of(scale.items);
        let mut subjects: Vec<Box<dyn Subject>> = vec![
            Box::new(Ours::open(&dir.join("ours"))?),
            Box::new(Lmdb::open(&dir.join("lmdb"))?),
            Box::new(Sqlite::open(&dir.join("sqlite"))?),
        ];
        let mut rates = Vec::new();
        for subject in &mut subjects {
            rates.push(rate(scale.items, subject.fill(town)?));
            machine::settle(dir)?;
        }
        report.figure("first filling, items/s", Better::Higher, rates);
        Ok(Self { scale, town, subjects, report, dir: dir.to_owned(), used: 0 })
    }

    /// Lets every subject find its fastest way to serve `callers` concurrent writers.
    fn tune(&mut self, callers: usize) -> Result<()> {
        const POOL: u64 = 40_000;
        let pool = self.town.later(self.used, POOL);
        self.used += POOL;
        for subject in &mut self.subjects {
            if let Some(found) = subject.tune(callers, &pool)? {
                self.report.note(found);
            }
        }
        Ok(())
    }

    /// Returns later activities that were not written yet.
    fn pool(&mut self) -> Vec<roundtable_table::Item> {
        let pool = self.town.later(self.used, self.scale.write_pool);
        self.used += self.scale.write_pool;
        pool
    }
}

type WorkloadFn = fn(&mut EngineBench) -> Result<()>;

/// The workloads on filled subjects. Reads come first, because writes would disturb them.
const IN_PROCESS: [(Workload, WorkloadFn); 5] = [
    (Workload::Get, reads::get),
    (Workload::Newest50, reads::newest),
    (Workload::Writes, durable::run),
    (Workload::Feed, feed::run),
    (Workload::Beside, beside::run),
];

/// Runs the chosen workloads; the exit code says whether every bar is met.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let scale = Scale::of(options);
    let only: BTreeSet<Workload> = options.only.iter().copied().collect();
    let wanted = |workload| {
        if only.is_empty() { workload != Workload::Big } else { only.contains(&workload) }
    };
    std::fs::create_dir_all(&options.dir)
        .with_context(|| format!("creating {}", options.dir.display()))?;
    let root = tempfile::Builder::new().prefix("engine-").tempdir_in(&options.dir)?;
    let mut report = Report::new(vec!["ours", Lmdb::NAME, Sqlite::NAME]);
    machine::note_disk(root.path(), "before", &mut report)?;

    if IN_PROCESS.iter().any(|(workload, _)| wanted(*workload)) {
        let dir = tempfile::tempdir_in(root.path())?;
        let mut bench = EngineBench::filled(dir.path(), scale, report)?;
        for (workload, run) in IN_PROCESS.into_iter().filter(|(workload, _)| wanted(*workload)) {
            let name = workload.name();
            log_step(&name);
            if let Err(error) = run(&mut bench) {
                bench.report.failed(&name, &error);
            }
        }
        report = bench.report;
    }
    for workload in [Workload::Load, Workload::Reopen, Workload::Big] {
        if !wanted(workload) {
            continue;
        }
        let name = workload.name();
        log_step(&name);
        let done = match workload {
            Workload::Load => load::run(root.path(), scale.load_items, &mut report),
            Workload::Reopen => reopen::run(root.path(), scale.items, &mut report),
            _ => big::run(root.path(), options.spare, &mut report),
        };
        if let Err(error) = done {
            report.failed(&name, &error);
        }
    }
    machine::note_disk(root.path(), "after", &mut report)?;
    Ok(report.print())
}
