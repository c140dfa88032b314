//! Home feeds: the newest 50 at any number of followees, page 20, and a post reaching 100,000
//! followers, beside Postgres and Redis.

#[cfg(feature = "dynamo")]
mod dynamo;
mod fanout;
mod items;
mod memory;
mod ours;
mod pages;
mod postgres;
mod redis;
mod seeded;
mod skew;
mod town;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use self::ours::Ours;
use self::postgres::Postgres;
use self::redis::Redis;
pub(crate) use self::seeded::{Seed, seed};
use self::town::{Scale, Town};
use crate::machine;
use crate::postgres::{HOW_TO_INSTALL, Programs};
use crate::progress::say;
use crate::report::{Better, Report};
use crate::samples::rate;

/// Entries of a page.
const PAGE: usize = 50;

/// What `feed` can be told.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// A twentieth of everything: to see that it works, not how fast it is
    #[arg(long)]
    quick: bool,
    /// Only these parts (all when absent)
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<Part>,
    /// Where the data goes; removed afterwards
    #[arg(long, default_value = "target/bench-data")]
    dir: PathBuf,
    /// Only reads feeds of the town that is in `--dir`, and tells what memory it took: a process of
    /// its own
    #[arg(long, hide = true)]
    look: bool,
}

/// The parts by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Pages 1 and 20, and beyond what is in memory
    Pages,
    /// One post to all followers of somebody
    Fanout,
    /// What is kept in memory
    Memory,
    /// Requests and read units on DynamoDB
    Dynamo,
}

impl Options {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// Runs everything; the exit code says whether all bars are met.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if options.look {
        memory::child(&options.dir, options.quick)?;
        return Ok(ExitCode::SUCCESS);
    }
    std::fs::create_dir_all(&options.dir)
        .with_context(|| format!("making {}", options.dir.display()))?;
    let root = tempfile::Builder::new().prefix("feed-").tempdir_in(&options.dir)?;
    let mut report = Report::new(vec!["ours", Postgres::NAME, Redis::NAME]);
    machine::note_disk(root.path(), "before", &mut report)?;
    if [Part::Pages, Part::Fanout, Part::Memory].into_iter().any(|part| options.wants(part)) {
        embedded(options, root.path(), &mut report)?;
    }
    if options.wants(Part::Dynamo) {
        dynamo(&mut report);
    }
    machine::note_disk(root.path(), "after", &mut report)?;
    Ok(report.print())
}

/// Everything on the embedded engine.
fn embedded(options: &Options, root: &Path, report: &mut Report) -> Result<()> {
    let scale = Scale::of(options.quick);
    say("making a town");
    let town = Town::of(&scale);
    report.note(format!(
        "{} activities by {} actors, {} follows",
        town.told.len(),
        town.actors,
        town.edges.len()
    ));
    let (dir, started) = (root.join("ours"), Instant::now());
    let items = Ours::write(&dir, &town)?;
    report.figure("writing the town, items/s", Better::Higher, [rate(items, started.elapsed())]);
    if options.wants(Part::Memory) {
        say("memory");
        if let Err(error) = memory::run(&dir, &town, options.quick, report) {
            report.failed("memory", &error);
        }
    }
    let ours = Ours::open(&dir, options.quick)?;
    // As a server does when it starts.
    ours.warm_up()?;
    let postgres = match peer(root, &town, report) {
        Ok(postgres) => postgres,
        Err(error) => {
            report.failed(Postgres::NAME, &error);
            None
        }
    };
    if options.wants(Part::Pages)
        && let Err(error) = pages::run(root, options.quick, &town, &ours, postgres.as_ref(), report)
    {
        report.failed("pages", &error);
    }
    if options.wants(Part::Fanout)
        && let Err(error) = fanout::run(root, &town, &ours, postgres.as_ref(), report)
    {
        report.failed("fan-out", &error);
    }
    drop(postgres);
    ours.close()
}

/// A Postgres with the same town, where it is installed.
fn peer(root: &Path, town: &Town, report: &mut Report) -> Result<Option<Postgres>> {
    let Some(programs) = Programs::find() else {
        report.note(HOW_TO_INSTALL);
        return Ok(None);
    };
    report.note(programs.version()?);
    Postgres::fill(&programs, root, town).map(Some)
}

#[cfg(feature = "dynamo")]
fn dynamo(report: &mut Report) {
    say("on DynamoDB");
    if let Err(error) = dynamo::run(report) {
        report.failed("dynamo", &error);
    }
}

#[cfg(not(feature = "dynamo"))]
fn dynamo(report: &mut Report) {
    report.note(
        "requests and read units on DynamoDB: with `--features dynamo`, which builds a server that \
         speaks its API",
    );
}
