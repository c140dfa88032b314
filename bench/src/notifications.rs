//! What people are told: notifications a second through their processor alone, from facts that are in the
//! table already, and what it costs to count those that are unread.

mod town;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use self::town::{Facts, Town};
use crate::machine;
use crate::progress::say;
use crate::report::{Better, Report};
use crate::samples::median;

/// Notifications of the one who counts hers.
const UNREAD: u64 = 1_000;

/// What `notifications` can be told.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Few facts, once: to see that it works, not how fast it is
    #[arg(long)]
    quick: bool,
    /// Where the data goes; removed afterwards
    #[arg(long, default_value = "target/bench-data")]
    dir: PathBuf,
}

/// Runs everything. There is no peer, so no bar can be missed.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let (rounds, facts) = if options.quick { (1, 500) } else { (5, 20_000) };
    std::fs::create_dir_all(&options.dir)
        .with_context(|| format!("making {}", options.dir.display()))?;
    let root = tempfile::Builder::new().prefix("notifications-").tempdir_in(&options.dir)?;
    let mut report = Report::new(vec!["ours"]);
    machine::note_disk(root.path(), "before", &mut report)?;
    let mut town = Town::open(&root.path().join("town"))?;
    for kind in Facts::ALL {
        say(kind.name());
        let mut rates = Vec::new();
        for _ in 0..rounds {
            town.write(kind, facts)?;
            machine::settle(root.path())?;
            rates.push(town.tell(facts)?);
        }
        report.figure(kind.name(), Better::Higher, [median(rates)]);
    }
    say("counting what is unread");
    let mut waits = town.count_unread(UNREAD)?;
    let label = format!("count of {UNREAD} unread, p50 µs");
    report.figure(label, Better::Lower, [waits.quantile_us(0.5)]);
    town.close()?;
    machine::note_disk(root.path(), "after", &mut report)?;
    Ok(report.print())
}
