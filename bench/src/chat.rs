//! Messages a second, durable, through the services, in this process: in one busy room, where each waits
//! for the one before it, and in a thousand rooms, where only the disk is shared.

mod town;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use self::town::{Rooms, Town};
use crate::machine;
use crate::progress::say;
use crate::report::{Better, Report};
use crate::samples::median;

/// How many send at the same time.
const CALLERS: [usize; 3] = [1, 16, 64];

/// What `chat` can be told.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Short windows, once: to see that it works, not how fast it is
    #[arg(long)]
    quick: bool,
    /// Where the data goes; removed afterwards
    #[arg(long, default_value = "target/bench-data")]
    dir: PathBuf,
}

/// Runs everything. There is no peer, so no bar can be missed.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let (rounds, window) =
        if options.quick { (1, Duration::from_millis(500)) } else { (5, Duration::from_secs(3)) };
    std::fs::create_dir_all(&options.dir)
        .with_context(|| format!("making {}", options.dir.display()))?;
    let root = tempfile::Builder::new().prefix("chat-").tempdir_in(&options.dir)?;
    let mut report = Report::new(vec!["ours"]);
    machine::note_disk(root.path(), "before", &mut report)?;
    let town = Town::open(&root.path().join("town"))?;
    for rooms in [Rooms::One, Rooms::Many] {
        for callers in CALLERS {
            let load = label(rooms, callers);
            say(&load);
            let mut seen: Vec<(f64, f64)> = Vec::new();
            for _ in 0..rounds {
                machine::settle(root.path())?;
                let mut done = town.talk(rooms, callers, window)?;
                seen.push((done.per_second(), done.p99_ms()));
            }
            let rate = median(seen.iter().map(|seen| seen.0));
            report.figure(load, Better::Higher, [rate]);
            let wait = median(seen.iter().map(|seen| seen.1));
            report.figure("  their p99 wait, ms", Better::Lower, [wait]);
        }
    }
    town.check()?;
    town.close()?;
    report.note("the processors of the stream are not running");
    machine::note_disk(root.path(), "after", &mut report)?;
    Ok(report.print())
}

fn label(rooms: Rooms, callers: usize) -> String {
    let plural = if callers == 1 { "sender" } else { "senders" };
    format!("messages/s, {}, {callers} {plural}", rooms.name())
}
