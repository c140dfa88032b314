//! Pages of an app over HTTP: requests per second of a server in a child process, compared with empty
//! handlers of the same server or with Node servers on Postgres, and its memory during minutes of load.

mod compare;
mod content;
mod fairness;
mod in_process;
mod memory;
mod peak;
mod requests;
mod rows;
mod server;
mod soak;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use self::content::Content;
use self::requests::{RequestKind, Requests};
use self::server::ServerProcess;
use crate::feed::{Seed, seed};
use crate::machine;
use crate::progress::log_step;
use crate::report::Report;

const PAGE: usize = 50;
/// The followees of each reader.
const FOLLOWEES: usize = 500;
/// The load of the soak test as a fraction of the slowest round.
const SOAK_SHARE: f64 = 0.6;

#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Options {
    /// A smaller town and shorter windows: a functional test, not a measurement
    #[arg(long)]
    quick: bool,
    /// Afterwards, minutes of load at 60 % of the slowest round, watching the server's memory
    #[arg(long, value_name = "MINUTES")]
    soak: Option<f64>,
    /// Afterwards, two signed-in users beside anonymous clients that ask for as much as they may
    #[arg(long)]
    fairness: bool,
    /// Afterwards, the server's memory under requests that ask for as much as they may
    #[arg(long)]
    memory: bool,
    /// Instead, home feeds beside Mercurius and PostGraphile on Postgres
    #[arg(long, conflicts_with_all = ["soak", "fairness", "memory"])]
    compare: bool,
    /// Directory for the data, which is removed afterwards
    #[arg(long, default_value = "target/bench-data")]
    dir: PathBuf,
    /// Child process: serves the town in this directory
    #[arg(long, hide = true, value_name = "DIR")]
    serve: Option<PathBuf>,
}

impl Options {
    const fn town(&self) -> Seed {
        if self.quick {
            return Seed { activities: 20_000, actors: 2_000, readers: 20, followees: FOLLOWEES };
        }
        Seed { activities: 100_000, actors: 10_000, readers: 200, followees: FOLLOWEES }
    }
}

/// Runs the benchmark; the exit code says whether all bars are met.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if let Some(data) = &options.serve {
        in_process::serve(data)?;
        return Ok(ExitCode::SUCCESS);
    }
    std::fs::create_dir_all(&options.dir)
        .with_context(|| format!("creating {}", options.dir.display()))?;
    let root = tempfile::Builder::new().prefix("load-").tempdir_in(&options.dir)?;
    let report = if options.compare {
        compare::run(root.path(), &options.town(), options.quick)?
    } else {
        measure(root.path(), options)?
    };
    Ok(report.print())
}

/// Measures every kind of request, and then what the options ask for.
fn measure(root: &Path, options: &Options) -> Result<Report> {
    let mut report = Report::without_ratios(RequestKind::ALL.map(RequestKind::name).to_vec());
    log_step("creating a town");
    let (data, size) = (root.join("data"), options.town());
    let (town, content) = seed(&data, &size, Content::add)?;
    let readers = town.readers();
    drop(town);
    report.note(describe(&size));
    machine::settle(root)?;
    log_step("starting a server");
    let server = ServerProcess::start(&data, &readers)?;
    let requests = Requests::of(&server, &content)?;
    let feed = rows::run(&server, &requests, options.quick, &mut report)?;
    if options.fairness {
        fairness::run(&server, &requests, &content, options.quick, &mut report)?;
    }
    if let Some(minutes) = options.soak {
        let length = Duration::try_from_secs_f64(minutes * 60.0).context("--soak")?;
        soak::run(&server, &requests, feed.slowest() * SOAK_SHARE, length, &mut report)?;
    }
    // Last, because caches that greedy clients displaced fill again, which would look like growth.
    if options.memory {
        memory::run(&server, &requests, &content, options.quick, &mut report)?;
    }
    server.stop()?;
    Ok(report)
}

fn describe(town: &Seed) -> String {
    format!(
        "{} activities by {} actors; {} readers, who follow {FOLLOWEES} of them each, ask in turn for \
         their newest {PAGE}",
        town.activities, town.actors, town.readers,
    )
}
