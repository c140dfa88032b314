//! What people do, durable: follows, likes, posts and comments a second through the services, in this
//! process; follows beside Postgres.

pub(crate) mod callers;
mod ours;
mod postgres;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;

use self::callers::Done;
use self::ours::{Act, Ours};
use self::postgres::Postgres;
use crate::machine;
use crate::postgres::{HOW_TO_INSTALL, Programs, Server};
use crate::progress::say;
use crate::report::{Better, Report};
use crate::samples::median;

/// What is done, and by how many callers.
const LOADS: [(Act, &[usize]); 4] = [
    (Act::Follow, &[1, 16, 64]),
    (Act::Like, &[1, 64]),
    (Act::Post, &[1, 64]),
    (Act::Comment, &[1, 64]),
];
/// The callers with whom follows must not be behind Postgres.
const BAR_CALLERS: usize = 16;
const FOLLOW_MIN: f64 = 1.0;
/// How long the processors may take for what was done in a window.
const CATCH_UP_MAX: Duration = Duration::from_mins(2);

/// What `social` can be told.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Short windows, once: to see that it works, not how fast it is
    #[arg(long)]
    quick: bool,
    /// Where the data goes; removed afterwards
    #[arg(long, default_value = "target/bench-data")]
    dir: PathBuf,
}

/// How much of everything.
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

/// Runs everything; the exit code says whether the bar is met.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let scale = Scale::of(options);
    std::fs::create_dir_all(&options.dir)
        .with_context(|| format!("making {}", options.dir.display()))?;
    let root = tempfile::Builder::new().prefix("social-").tempdir_in(&options.dir)?;
    let mut report = Report::new(vec!["ours", Postgres::NAME]);
    machine::note_disk(root.path(), "before", &mut report)?;

    say("without processors");
    if let Err(error) = alone(root.path(), scale, &mut report) {
        report.failed("social", &error);
    }
    say("beside the processors");
    if let Err(error) = beside_processors(root.path(), scale, &mut report) {
        report.failed("social beside the processors", &error);
    }
    machine::note_disk(root.path(), "after", &mut report)?;
    Ok(report.print())
}

/// Ours without processors, and Postgres, in turns.
fn alone(root: &Path, scale: Scale, report: &mut Report) -> Result<()> {
    let ours = Ours::open(&root.join("alone"))?;
    let postgres = match peer(root, &ours, report) {
        Ok(postgres) => postgres,
        Err(error) => {
            report.failed(Postgres::NAME, &error);
            None
        }
    };
    for (act, callers) in LOADS {
        for callers in callers.iter().copied() {
            let postgres = postgres.as_ref().filter(|_| act == Act::Follow);
            turns(root, scale, (act, callers), &ours, postgres, report)?;
        }
    }
    if let Some(postgres) = postgres {
        postgres.check()?;
    }
    report.note("without \"processors running\", the processors of the stream are not running");
    ours.close()
}

/// A Postgres with the same people, where it is installed.
fn peer(root: &Path, ours: &Ours, report: &mut Report) -> Result<Option<Postgres>> {
    let Some(programs) = Programs::find() else {
        report.note(HOW_TO_INSTALL);
        return Ok(None);
    };
    report.note(programs.version()?);
    let server = Server::start(&programs, root, &[])?;
    Postgres::fill(server, &ours.people()).map(Some)
}

/// One load, in several rounds, each subject in its turn.
fn turns(
    root: &Path,
    scale: Scale,
    load: (Act, usize),
    ours: &Ours,
    postgres: Option<&Postgres>,
    report: &mut Report,
) -> Result<()> {
    let (act, callers) = load;
    say(&label(load));
    let mut rounds: Vec<Vec<(f64, f64)>> = Vec::new();
    for _ in 0..scale.rounds {
        let told = |mut done: Done| (done.per_second(), done.p99_ms());
        machine::settle(root)?;
        let mut seen = vec![told(ours.act_for(act, callers, scale.window)?)];
        if let Some(postgres) = postgres {
            machine::settle(root)?;
            seen.push(told(postgres.follow_for(callers, scale.window)?));
        }
        rounds.push(seen);
    }
    let medians = |figure: fn(&(f64, f64)) -> f64| {
        let of = |at| median(rounds.iter().filter_map(|round| round.get(at)).map(figure));
        (0..=usize::from(postgres.is_some())).map(of).collect::<Vec<f64>>()
    };
    report.figure(label(load), Better::Higher, medians(|seen| seen.0));
    report.figure("  their p99 wait, ms", Better::Lower, medians(|seen| seen.1));
    if postgres.is_some() && callers == BAR_CALLERS {
        let ratios = rounds.iter().filter_map(|round| match round.as_slice() {
            [ours, postgres] => Some(ours.0 / postgres.0),
            _ => None,
        });
        report.at_least(format!("{}-{callers}", act.name()), median(ratios), FOLLOW_MIN);
    }
    Ok(())
}

/// Ours while all processors run, in a town of its own: they would have to catch up with the other.
fn beside_processors(root: &Path, scale: Scale, report: &mut Report) -> Result<()> {
    let ours = Ours::open(&root.join("beside"))?;
    let processors = ours.start_processors();
    for (act, callers) in LOADS {
        for callers in callers.iter().copied() {
            let load = label((act, callers));
            say(&load);
            processors.catch_up(CATCH_UP_MAX).context("the processors do not keep up")?;
            machine::settle(root)?;
            let (before, _) = processors.processed();
            let done = ours.act_for(act, callers, scale.window)?;
            let late = processors.catch_up(CATCH_UP_MAX);
            let late = late.with_context(|| format!("{load}: the processors do not keep up"))?;
            let (after, parked) = processors.processed();
            ensure!(parked == 0, "{load}: {parked} changes were parked");
            // A follow counts itself; the processors only read past it.
            let idle = act == Act::Follow;
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

fn label((act, callers): (Act, usize)) -> String {
    let plural = if callers == 1 { "caller" } else { "callers" };
    format!("{}/s, {callers} {plural}", act.name())
}
