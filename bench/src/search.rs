//! Search over a million posts: the same first pages as Postgres' full-text search, and how soon new posts are
//! found.

mod ours;
mod postgres;
mod town;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use roundtable_test_client::{Samples, median, rate};

use self::ours::Ours;
use self::postgres::Postgres;
use self::town::{SeedQuery, Town};
use crate::machine;
use crate::postgres::{HOW_TO_INSTALL, Programs};
use crate::progress::log_step;
use crate::report::{Better, Report};

const POSTS: usize = 1_000_000;
const QUERIES: usize = 400;
const ROUNDS: usize = 5;
/// Results of a page.
const PAGE: usize = 20;
const POSTS_PER_SECOND: u32 = 1_000;
const RATIO_MIN: f64 = 3.0;
const P99_MAX_MS: f64 = 20.0;
const FRESH_MAX_MS: f64 = 1_000.0;

/// The numbers of the posts that each query found.
type Results = Vec<Vec<usize>>;

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// A fiftieth of the posts and short windows: a functional test, not a measurement
    #[arg(long)]
    quick: bool,
    /// Directory for the data, which is removed afterwards
    #[arg(long, default_value = "target/bench-data")]
    dir: PathBuf,
}

/// Runs the benchmark; the exit code says whether all bars are met.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    std::fs::create_dir_all(&options.dir)
        .with_context(|| format!("creating {}", options.dir.display()))?;
    let root = tempfile::Builder::new().prefix("search-").tempdir_in(&options.dir)?;
    let mut report = Report::new(vec!["ours", Postgres::NAME]);
    machine::note_disk(root.path(), "before", &mut report)?;
    if let Err(error) = compare(options, root.path(), &mut report) {
        report.failed("search", &error);
    }
    machine::note_disk(root.path(), "after", &mut report)?;
    Ok(report.print())
}

fn compare(options: &Options, root: &Path, report: &mut Report) -> Result<()> {
    let (posts, rounds) = if options.quick { (POSTS / 50, 1) } else { (POSTS, ROUNDS) };
    log_step("creating a town");
    let town = Town::of(posts);
    let queries = town.queries(QUERIES);
    report.note(format!("{posts} posts, {QUERIES} queries by {} readers", Town::readers()));
    log_step("building the index");
    let (ours, built) = Ours::fill(&root.join("ours"), &town)?;
    let bytes = ours.index_bytes()?;
    let documents = ours.status().documents.max(1);
    report.figure("building the index, s", Better::Lower, [built.as_secs_f64()]);
    report.figure(
        "index, bytes per document",
        Better::Lower,
        [rate(bytes, Duration::from_secs(documents))],
    );
    let postgres = match Programs::find() {
        Some(programs) => {
            report.note(programs.version()?);
            log_step("filling Postgres");
            let started = Instant::now();
            let postgres = Postgres::fill(&programs, root, &town)?;
            report.note(format!("filling Postgres took {:.0} s", started.elapsed().as_secs_f64()));
            Some(postgres)
        }
        None => {
            report.note(HOW_TO_INSTALL);
            None
        }
    };
    measure_queries(root, &queries, rounds, &ours, postgres.as_ref(), report)?;
    drop(postgres);
    log_step("new posts");
    let time = Duration::from_secs(if options.quick { 2 } else { 20 });
    let mut fresh = ours.publish(POSTS_PER_SECOND, time)?;
    report.figure("new post found after, p50 ms", Better::Lower, [ms(&mut fresh, 0.5)]);
    let slowest = ms(&mut fresh, 1.0);
    report.figure("new post found after, slowest ms", Better::Lower, [slowest]);
    report.under("fresh", slowest, FRESH_MAX_MS, " ms");
    ours.close()
}

/// Returns a quantile in milliseconds.
fn ms(samples: &mut Samples, part: f64) -> f64 {
    samples.quantile_us(part) / 1e3
}

/// Compares all results, then measures both alternately.
fn measure_queries(
    root: &Path,
    queries: &[SeedQuery],
    rounds: usize,
    ours: &Ours,
    postgres: Option<&Postgres>,
    report: &mut Report,
) -> Result<()> {
    log_step("comparing the results");
    let (_, found) = ours.run(queries)?;
    let full = found.iter().filter(|page| page.len() == PAGE).count();
    report.note(format!("{full} of {} queries fill a page", queries.len()));
    if let Some(postgres) = postgres {
        let (_, theirs) = postgres.run(queries)?;
        for ((query, ours), theirs) in queries.iter().zip(&found).zip(&theirs) {
            ensure!(ours == theirs, "{query:?}: ours are {ours:?}, theirs are {theirs:?}");
        }
    }
    let (mut ratios, mut ours_rounds, mut theirs_rounds) = (Vec::new(), Vec::new(), Vec::new());
    let mut all = Samples::with_capacity(queries.len() * rounds);
    for round in 0..rounds {
        log_step(&format!("round {}", round + 1));
        machine::settle(root)?;
        let (samples, _) = ours.run(queries)?;
        let rate = samples.per_second();
        all.extend(&samples);
        ours_rounds.push((rate, samples));
        if let Some(postgres) = postgres {
            machine::settle(root)?;
            let (samples, _) = postgres.run(queries)?;
            ratios.push(rate / samples.per_second());
            theirs_rounds.push((samples.per_second(), samples));
        }
    }
    let mut figures = vec![ours_rounds];
    figures.extend(postgres.is_some().then_some(theirs_rounds));
    let rates = figures.iter().map(|rounds| median(rounds.iter().map(|it| it.0)));
    report.figure("queries/s, 1 caller", Better::Higher, rates.collect::<Vec<f64>>());
    for (label, part) in [("p50", 0.5), ("p99", 0.99)] {
        let of_rounds = figures.iter_mut();
        let values =
            of_rounds.map(|rounds| median(rounds.iter_mut().map(|it| ms(&mut it.1, part))));
        report.figure(format!("query, {label} ms"), Better::Lower, values.collect::<Vec<f64>>());
    }
    report.under("p99", ms(&mut all, 0.99), P99_MAX_MS, " ms");
    if postgres.is_some() {
        report.at_least("queries", median(ratios), RATIO_MIN);
    }
    Ok(())
}
