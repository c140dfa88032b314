//! Durable follows, likes, posts and comments per second through the services, in this process; follows
//! are compared with Postgres.

pub(crate) mod callers;
mod ours;
mod postgres;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use roundtable_test_client::median;

use self::callers::CallStats;
use self::ours::{Ours, UserAction};
use self::postgres::Postgres;
use crate::machine;
use crate::postgres::{HOW_TO_INSTALL, Programs, Server};
use crate::progress::log_step;
use crate::report::{Better, Report};

/// Actions, with numbers of callers.
const LOADS: [(UserAction, &[usize]); 4] = [
    (UserAction::Follow, &[1, 16, 64]),
    (UserAction::Like, &[1, 64]),
    (UserAction::Post, &[1, 64]),
    (UserAction::Comment, &[1, 64]),
];
/// The number of callers for the comparison with Postgres.
const BAR_CALLERS: usize = 16;
const FOLLOW_MIN: f64 = 1.0;
/// The longest time the processors may need for the writes of a window.
const CATCH_UP_MAX: Duration = Duration::from_mins(2);

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Short windows, once: a functional test, not a measurement
    #[arg(long)]
    quick: bool,
    /// Directory for the data, which is removed afterwards
    #[arg(long, default_value = "target/bench-data")]
    dir: PathBuf,
}

#[derive(Clone, Copy, Debug)]
struct Scale {
    rounds: usize,
    window: Duration,
}

impl Scale {
    const fn of(options: &Options) -> Self {
        if options.quick {
            Self { rounds: 1, window: Duration::from_millis(500) }
        } else {
            Self { rounds: 5, window: Duration::from_secs(3) }
        }
    }
}

/// Runs the benchmark; the exit code says whether the bar is met.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let scale = Scale::of(options);
    std::fs::create_dir_all(&options.dir)
        .with_context(|| format!("creating {}", options.dir.display()))?;
    let root = tempfile::Builder::new().prefix("social-").tempdir_in(&options.dir)?;
    let mut report = Report::new(vec!["ours", Postgres::NAME]);
    machine::note_disk(root.path(), "before", &mut report)?;

    log_step("without processors");
    if let Err(error) = without_processors(root.path(), scale, &mut report) {
        report.failed("social", &error);
    }
    log_step("with processors");
    if let Err(error) = with_processors(root.path(), scale, &mut report) {
        report.failed("social with processors", &error);
    }
    machine::note_disk(root.path(), "after", &mut report)?;
    Ok(report.print())
}

/// Measures ours without processors and Postgres alternately.
fn without_processors(root: &Path, scale: Scale, report: &mut Report) -> Result<()> {
    let ours = Ours::open(&root.join("alone"))?;
    let postgres = match peer(root, &ours, report) {
        Ok(postgres) => postgres,
        Err(error) => {
            report.failed(Postgres::NAME, &error);
            None
        }
    };
    for (action, callers) in LOADS {
        for callers in callers.iter().copied() {
            let postgres = postgres.as_ref().filter(|_| action == UserAction::Follow);
            measure_action(root, scale, (action, callers), &ours, postgres, report)?;
        }
    }
    if let Some(postgres) = postgres {
        postgres.check()?;
    }
    report.note("without \"processors running\", the processors of the stream are not running");
    ours.close()
}

/// Starts a Postgres with the same users, if it is installed.
fn peer(root: &Path, ours: &Ours, report: &mut Report) -> Result<Option<Postgres>> {
    let Some(programs) = Programs::find() else {
        report.note(HOW_TO_INSTALL);
        return Ok(None);
    };
    report.note(programs.version()?);
    let server = Server::start(&programs, root, &[])?;
    Postgres::fill(server, &ours.people()).map(Some)
}

/// Measures one action in several rounds, alternating between subjects.
fn measure_action(
    root: &Path,
    scale: Scale,
    load: (UserAction, usize),
    ours: &Ours,
    postgres: Option<&Postgres>,
    report: &mut Report,
) -> Result<()> {
    let (action, callers) = load;
    log_step(&label(load));
    let mut rounds: Vec<Vec<(f64, f64)>> = Vec::new();
    for _ in 0..scale.rounds {
        let figures = |mut stats: CallStats| (stats.per_second(), stats.p99_ms());
        machine::settle(root)?;
        let mut stats = vec![figures(ours.run_action(action, callers, scale.window)?)];
        if let Some(postgres) = postgres {
            machine::settle(root)?;
            stats.push(figures(postgres.follow_for(callers, scale.window)?));
        }
        rounds.push(stats);
    }
    let medians = |figure: fn(&(f64, f64)) -> f64| {
        let of = |at| median(rounds.iter().filter_map(|round| round.get(at)).map(figure));
        (0..=usize::from(postgres.is_some())).map(of).collect::<Vec<f64>>()
    };
    report.figure(label(load), Better::Higher, medians(|stats| stats.0));
    report.figure("  their p99 wait, ms", Better::Lower, medians(|stats| stats.1));
    if postgres.is_some() && callers == BAR_CALLERS {
        let ratios = rounds.iter().filter_map(|round| match round.as_slice() {
            [ours, postgres] => Some(ours.0 / postgres.0),
            _ => None,
        });
        report.at_least(format!("{}-{callers}", action.name()), median(ratios), FOLLOW_MIN);
    }
    Ok(())
}

/// Measures ours with all processors, in a new town: in the other one they would have to catch up first.
fn with_processors(root: &Path, scale: Scale, report: &mut Report) -> Result<()> {
    let ours = Ours::open(&root.join("beside"))?;
    let processors = ours.start_processors();
    for (action, callers) in LOADS {
        for callers in callers.iter().copied() {
            let load = label((action, callers));
            log_step(&load);
            processors.catch_up(CATCH_UP_MAX).context("the processors do not keep up")?;
            machine::settle(root)?;
            let (before, _) = processors.processed();
            let done = ours.run_action(action, callers, scale.window)?;
            let late = processors.catch_up(CATCH_UP_MAX);
            let late = late.with_context(|| format!("{load}: the processors do not keep up"))?;
            let (after, parked) = processors.processed();
            ensure!(parked == 0, "{load}: {parked} changes were parked");
            // A follow updates its counters itself; the processors only skip it.
            let idle = action == UserAction::Follow;
            ensure!(idle || after > before, "{load}: the processors did nothing");
            let rate = done.per_second();
            report.figure(format!("{load}, processors running"), Better::Higher, [rate]);
            let label = "  caught up so long after the last, ms";
            report.figure(label, Better::Lower, [late.as_secs_f64() * 1e3]);
        }
    }
    ours.stop_processors(processors)?;
    ours.close()
}

fn label((action, callers): (UserAction, usize)) -> String {
    let plural = if callers == 1 { "caller" } else { "callers" };
    format!("{}/s, {callers} {plural}", action.name())
}
