//! Home feeds over HTTP: pages per second of a server in a child process, compared with empty handlers
//! of the same server, and its memory during minutes of load.

mod connection;
mod in_process;
mod peak;
mod requests;
mod server;
mod soak;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use self::requests::{RequestKind, Requests};
use self::server::ServerProcess;
use crate::feed::{Seed, seed};
use crate::machine;
use crate::progress::log_step;
use crate::report::{Better, Report};

const PAGE: usize = 50;
/// The followees of each reader.
const FOLLOWEES: usize = 500;
/// The load of the soak test as a fraction of the peak.
const SOAK_SHARE: f64 = 0.8;

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// A smaller town and shorter windows: a functional test, not a measurement
    #[arg(long)]
    quick: bool,
    /// Afterwards, minutes of load at 80 % of the peak, watching the server's memory
    #[arg(long, value_name = "MINUTES")]
    soak: Option<f64>,
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
    let mut report = Report::new(RequestKind::ALL.map(RequestKind::name).to_vec());
    log_step("creating a town");
    let (data, town) = (root.path().join("data"), options.town());
    let readers = seed(&data, &town)?;
    report.note(format!(
        "{} activities by {} actors; {} readers, who follow {FOLLOWEES} of them each, ask in turn for \
         their newest {PAGE}",
        town.activities,
        town.actors,
        readers.len(),
    ));
    machine::settle(root.path())?;
    log_step("starting a server");
    let server = ServerProcess::start(&data, &readers)?;
    let requests = Requests::of(&server)?;
    requests.try_all(server.address)?;
    report_inside(&server, &mut report);
    let peak = peak::run(&server, &requests, options.quick, &mut report)?;
    if let Some(minutes) = options.soak {
        let length = Duration::try_from_secs_f64(minutes * 60.0).context("--soak")?;
        soak::run(&server, &requests, peak.per_second * SOAK_SHARE, length, &mut report)?;
    }
    report.note(format!("the page of a feed has {} bytes", requests.page_bytes));
    server.stop()?;
    Ok(report.print())
}

/// Reports the times in the server's process, without HTTP.
fn report_inside(server: &ServerProcess, report: &mut Report) {
    let in_process = &server.in_process;
    let label = "in the server's process, one caller, p50 µs";
    report.figure(label, Better::Lower, [in_process.graphql, None, in_process.typename]);
    let label = "  of that the service alone, p50 µs";
    report.figure(label, Better::Lower, [in_process.service]);
}
