//! Durable messages per second through the services, in this process: in one busy room, where each
//! message waits for the one before it, and in a thousand rooms, which share only the disk.

mod town;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use roundtable_test_client::median;

use self::town::{RoomKind, Town};
use crate::machine;
use crate::progress::log_step;
use crate::report::{Better, Report};

/// Concurrent senders.
const CALLERS: [usize; 3] = [1, 16, 64];

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Short windows, once: a functional test, not a measurement
    #[arg(long)]
    quick: bool,
    /// Directory for the data, which is removed afterwards
    #[arg(long, default_value = "target/bench-data")]
    dir: PathBuf,
}

/// Runs the benchmark. Without a peer, there are no bars.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let (rounds, window) =
        if options.quick { (1, Duration::from_millis(500)) } else { (5, Duration::from_secs(3)) };
    std::fs::create_dir_all(&options.dir)
        .with_context(|| format!("creating {}", options.dir.display()))?;
    let root = tempfile::Builder::new().prefix("chat-").tempdir_in(&options.dir)?;
    let mut report = Report::new(vec!["ours"]);
    machine::note_disk(root.path(), "before", &mut report)?;
    let town = Town::open(&root.path().join("town"))?;
    for rooms in [RoomKind::One, RoomKind::Many] {
        for callers in CALLERS {
            let load = label(rooms, callers);
            log_step(&load);
            let mut stats: Vec<(f64, f64)> = Vec::new();
            for _ in 0..rounds {
                machine::settle(root.path())?;
                let mut done = town.send_messages(rooms, callers, window)?;
                stats.push((done.per_second(), done.p99_ms()));
            }
            let rate = median(stats.iter().map(|stats| stats.0));
            report.figure(load, Better::Higher, [rate]);
            let wait = median(stats.iter().map(|stats| stats.1));
            report.figure("  their p99 wait, ms", Better::Lower, [wait]);
        }
    }
    town.check()?;
    town.close()?;
    report.note("the processors of the stream are not running");
    machine::note_disk(root.path(), "after", &mut report)?;
    Ok(report.print())
}

fn label(rooms: RoomKind, callers: usize) -> String {
    let plural = if callers == 1 { "sender" } else { "senders" };
    format!("messages/s, {}, {callers} {plural}", rooms.name())
}
