//! Home feeds over HTTP: pages a second of a server in a process of its own, beside handlers of the same
//! server that do nothing, and its memory in minutes of load.

mod connection;
mod inside;
mod peak;
mod requests;
mod served;
mod soak;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use self::requests::{Kind, Requests};
use self::served::Served;
use crate::feed::{Seed, seed};
use crate::machine;
use crate::progress::say;
use crate::report::{Better, Report};

/// Entries of a page.
const PAGE: usize = 50;
/// People whom everybody follows who reads.
const FOLLOWEES: usize = 500;
/// Of the most that was reached, what minutes of load ask for.
const SOAK_SHARE: f64 = 0.8;

/// What `load` can be told.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// A smaller town and shorter windows: to see that it works, not how fast it is
    #[arg(long)]
    quick: bool,
    /// Then asks for pages for so many minutes, at 80 % of the most that was reached, and watches the
    /// server's memory
    #[arg(long, value_name = "MINUTES")]
    soak: Option<f64>,
    /// Where the data goes; removed afterwards
    #[arg(long, default_value = "target/bench-data")]
    dir: PathBuf,
    /// Serves the town that is in this directory: a process of its own
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

/// Runs everything; the exit code says whether all bars are met.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if let Some(data) = &options.serve {
        inside::serve(data)?;
        return Ok(ExitCode::SUCCESS);
    }
    std::fs::create_dir_all(&options.dir)
        .with_context(|| format!("making {}", options.dir.display()))?;
    let root = tempfile::Builder::new().prefix("load-").tempdir_in(&options.dir)?;
    let mut report = Report::new(Kind::ALL.map(Kind::name).to_vec());
    say("making a town");
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
    say("starting a server");
    let served = Served::start(&data, &readers)?;
    let requests = Requests::of(&served)?;
    requests.try_all(served.address)?;
    report_inside(&served, &mut report);
    let peak = peak::run(&served, &requests, options.quick, &mut report)?;
    if let Some(minutes) = options.soak {
        let length = Duration::try_from_secs_f64(minutes * 60.0).context("--soak")?;
        soak::run(&served, &requests, peak.per_second * SOAK_SHARE, length, &mut report)?;
    }
    report.note(format!("the page of a feed has {} bytes", requests.page_bytes));
    served.stop()?;
    Ok(report.print())
}

/// What the same takes in the server's own process, without HTTP.
fn report_inside(served: &Served, report: &mut Report) {
    let inside = &served.inside;
    let label = "in the server's process, one caller, p50 µs";
    report.figure(label, Better::Lower, [inside.graphql, None, inside.typename]);
    let label = "  of that the service alone, p50 µs";
    report.figure(label, Better::Lower, [inside.service]);
}
