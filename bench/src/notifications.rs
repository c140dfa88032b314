//! Notifications per second through their processor alone, from facts that are already in the table, and
//! the cost of counting unread ones.

mod town;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use roundtable_test_client::median;

use self::town::{FactKind, Town};
use crate::machine;
use crate::progress::log_step;
use crate::report::{Better, Report};

/// Notifications of the user who counts them.
const UNREAD: u64 = 1_000;

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Few facts, once: a functional test, not a measurement
    #[arg(long)]
    quick: bool,
    /// Directory for the data, which is removed afterwards
    #[arg(long, default_value = "target/bench-data")]
    dir: PathBuf,
}

/// Runs the benchmark. Without a peer, there are no bars.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let (rounds, facts) = if options.quick { (1, 500) } else { (5, 20_000) };
    std::fs::create_dir_all(&options.dir)
        .with_context(|| format!("creating {}", options.dir.display()))?;
    let root = tempfile::Builder::new().prefix("notifications-").tempdir_in(&options.dir)?;
    let mut report = Report::new(vec!["ours"]);
    machine::note_disk(root.path(), "before", &mut report)?;
    let mut town = Town::open(&root.path().join("town"))?;
    for kind in FactKind::ALL {
        log_step(kind.name());
        let mut rates = Vec::new();
        for _ in 0..rounds {
            town.write(kind, facts)?;
            machine::settle(root.path())?;
            rates.push(town.process(facts)?);
        }
        report.figure(kind.name(), Better::Higher, [median(rates)]);
    }
    log_step("counting unread notifications");
    let mut waits = town.count_unread(UNREAD)?;
    let label = format!("count of {UNREAD} unread, p50 µs");
    report.figure(label, Better::Lower, [waits.quantile_us(0.5)]);
    town.close()?;
    machine::note_disk(root.path(), "after", &mut report)?;
    Ok(report.print())
}
