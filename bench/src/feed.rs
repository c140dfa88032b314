//! Home feeds: the newest 50 entries at any number of followees, page 20, and the fan-out of a post to
//! 100,000 followers, compared with Postgres and Redis.

#[cfg(feature = "dynamodb")]
mod dynamo;
mod fanout;
mod items;
mod memory;
mod ours;
mod pages;
mod postgres;
mod redis;
mod seeded_town;
mod skew;
mod town;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use roundtable_test_client::rate;

use self::ours::Ours;
use self::postgres::Postgres;
pub(crate) use self::postgres::{AppPostgres, copy_rows};
use self::redis::Redis;
pub(crate) use self::seeded_town::{Seed, SeededTown, seed};
use self::town::{Scale, Town};
use crate::machine;
use crate::postgres::{HOW_TO_INSTALL, Programs};
use crate::progress::log_step;
use crate::report::{Better, Report};

const PAGE: usize = 50;

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// A twentieth of the data: a functional test, not a measurement
    #[arg(long)]
    quick: bool,
    /// Only these parts (all when absent)
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<Part>,
    /// Directory for the data, which is removed afterwards
    #[arg(long, default_value = "target/bench-data")]
    dir: PathBuf,
    /// Child process: only reads feeds of the town in `--dir` and reports its memory
    #[arg(long, hide = true)]
    look: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Pages 1 and 20, and beyond what is in memory
    Pages,
    /// Fan-out of one post to all followers of a user
    Fanout,
    /// Memory of the caches
    Memory,
    /// Requests and read units on DynamoDB
    Dynamo,
}

impl Options {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// Runs the benchmark; the exit code says whether all bars are met.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if options.look {
        memory::child(&options.dir, options.quick)?;
        return Ok(ExitCode::SUCCESS);
    }
    std::fs::create_dir_all(&options.dir)
        .with_context(|| format!("creating {}", options.dir.display()))?;
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

/// Runs all parts on the embedded engine.
fn embedded(options: &Options, root: &Path, report: &mut Report) -> Result<()> {
    let scale = Scale::of(options.quick);
    log_step("creating a town");
    let town = Town::of(&scale);
    report.note(format!(
        "{} activities by {} actors, {} follows",
        town.activities.len(),
        town.actors,
        town.edges.len()
    ));
    let (dir, started) = (root.join("ours"), Instant::now());
    let items = Ours::write(&dir, &town)?;
    report.figure("writing the town, items/s", Better::Higher, [rate(items, started.elapsed())]);
    if options.wants(Part::Memory) {
        log_step("memory");
        if let Err(error) = memory::run(&dir, &town, options.quick, report) {
            report.failed("memory", &error);
        }
    }
    let ours = Ours::open(&dir, options.quick)?;
    // Like a server at its start.
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

/// Starts a Postgres with the same town, if it is installed.
fn peer(root: &Path, town: &Town, report: &mut Report) -> Result<Option<Postgres>> {
    let Some(programs) = Programs::find() else {
        report.note(HOW_TO_INSTALL);
        return Ok(None);
    };
    report.note(programs.version()?);
    Postgres::fill(&programs, root, town).map(Some)
}

#[cfg(feature = "dynamodb")]
fn dynamo(report: &mut Report) {
    log_step("on DynamoDB");
    if let Err(error) = dynamo::run(report) {
        report.failed("dynamo", &error);
    }
}

#[cfg(not(feature = "dynamodb"))]
fn dynamo(report: &mut Report) {
    report.note(
        "requests and read units on DynamoDB: with `--features dynamodb`, which builds a server that \
         speaks its API",
    );
}
