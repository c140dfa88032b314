//! How long `roundtable verify` takes over a town, and how much memory: without a fault, with one, and
//! mending it.

mod town;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use roundtable_engine::Engine;
use roundtable_model::{Core, LoginAttempts, Ops};
use roundtable_table::Store;
use roundtable_verify::{Tables, Verify};

use crate::machine::{self, MIB};
use crate::progress::say;
use crate::report::{Better, Report};
use crate::samples::rate;

const SECONDS_MAX: f64 = 60.0;
const ANONYMOUS_MB_MAX: f64 = 400.0;

/// What `verify` can be told.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// About how many items the town has
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    items: u64,
    /// Where the data goes; removed afterwards
    #[arg(long, default_value = "target/bench-data")]
    dir: PathBuf,
    /// Only looks at the town that is in `--dir`, and tells what it saw: a process of its own
    #[arg(long, hide = true)]
    look: Option<Look>,
}

/// What a process of its own does with a town.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Look {
    /// Looks at everything.
    Check,
    /// Looks at the tables and indexes through their interface only, without the engine's own audit.
    Tables,
    /// Looks at everything, and mends what it can.
    Repair,
}

/// Makes a town and looks at it; the exit code says whether the bars are met.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if let Some(look) = options.look {
        child(&options.dir, look)?;
        return Ok(ExitCode::SUCCESS);
    }
    std::fs::create_dir_all(&options.dir)
        .with_context(|| format!("making {}", options.dir.display()))?;
    let root = tempfile::Builder::new().prefix("verify-").tempdir_in(&options.dir)?;
    let mut report = Report::new(vec!["ours"]);
    let started = Instant::now();
    let made = town::make(root.path(), options.items)?;
    report.figure("making the town, items/s", Better::Higher, [rate(made, started.elapsed())]);
    machine::settle(root.path())?;

    say("a town in order");
    let clean = look(root.path(), Look::Check)?;
    ensure!(told(&clean, "findings")? < 0.5, "the town is not in order");
    figures(&mut report, "a town in order", &clean)?;
    let alone = look(root.path(), Look::Tables)?;
    figures(&mut report, "without the engine's audit", &alone)?;

    say("one counter off by one");
    town::miscount(root.path())?;
    let found = look(root.path(), Look::Check)?;
    ensure!((0.5..1.5).contains(&told(&found, "findings")?), "one counter is wrong, and not found");
    figures(&mut report, "one counter off by one", &found)?;
    let mended = look(root.path(), Look::Repair)?;
    ensure!(told(&mended, "findings")? < 0.5, "one counter is wrong, and not mended");
    figures(&mut report, "mending it", &mended)?;

    report.note(format!(
        "{:.0} items, {:.0} index entries, {:.0} changes of the stream; {} cores",
        told(&clean, "items")?,
        told(&clean, "entries")?,
        told(&clean, "changes")?,
        thread::available_parallelism().map_or(1, std::num::NonZero::get),
    ));
    report.under("verify-time", told(&clean, "seconds")?, SECONDS_MAX, "s");
    report.under("verify-time-with-a-finding", told(&found, "seconds")?, SECONDS_MAX, "s");
    report.under("verify-memory", told(&found, "anonymous_mb")?, ANONYMOUS_MB_MAX, "MB");
    Ok(report.print())
}

fn figures(report: &mut Report, label: &str, numbers: &BTreeMap<String, f64>) -> Result<()> {
    report.figure(format!("{label}, s"), Better::Lower, [told(numbers, "seconds")?]);
    let memory = [told(numbers, "anonymous_mb")?];
    report.figure("  anonymous memory at most, MB", Better::Lower, memory);
    Ok(())
}

fn told(numbers: &BTreeMap<String, f64>, name: &str) -> Result<f64> {
    numbers.get(name).copied().with_context(|| format!("the process did not tell its {name}"))
}

/// Looks in a process of its own, so that its memory is its own.
fn look(dir: &Path, look: Look) -> Result<BTreeMap<String, f64>> {
    let look = clap::ValueEnum::to_possible_value(&look).context("a look without a name")?;
    let output = Command::new(std::env::current_exe()?)
        .args(["verify", "--look", look.get_name(), "--dir"])
        .arg(dir)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("starting a process of our own")?;
    ensure!(output.status.success(), "the process that looks failed: {}", output.status);
    let text = String::from_utf8(output.stdout)?;
    let numbers = text.lines().map(|line| {
        let (name, value) = line.split_once(' ').context("a line that is no number")?;
        Ok((name.to_owned(), value.parse::<f64>().with_context(|| line.to_owned())?))
    });
    numbers.collect()
}

fn child(dir: &Path, look: Look) -> Result<()> {
    let (highest, ended) = (AtomicU64::new(0), AtomicBool::new(false));
    let started = Instant::now();
    let (report, elapsed) = thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                let now = machine::anonymous_bytes().unwrap_or_default();
                highest.fetch_max(now, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(5));
            }
        });
        let report = check(dir, look);
        let elapsed = started.elapsed();
        ended.store(true, Ordering::Relaxed);
        report.map(|report| (report, elapsed))
    })?;
    for finding in report.findings.iter().take(10) {
        eprintln!("{finding}");
    }
    println!("seconds {}", elapsed.as_secs_f64());
    println!("anonymous_mb {}", highest.load(Ordering::Relaxed) / MIB);
    println!("findings {}", report.total());
    println!("items {}", report.items);
    println!("entries {}", report.entries);
    println!("changes {}", report.changes);
    Ok(())
}

/// As `roundtable verify` does it.
fn check(dir: &Path, look: Look) -> Result<roundtable_verify::Report> {
    let upkeep_interval = Duration::from_hours(24);
    let options = roundtable_engine::Options { upkeep_interval, ..Default::default() };
    let engine = Engine::open(dir, options)?;
    let store = Store::new(engine.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let tables = Tables {
            core: Core::on(store.table(Core::SHAPE.name).await?),
            logins: LoginAttempts::on(store.table(LoginAttempts::SHAPE.name).await?),
            ops: Ops::on(store.table(Ops::SHAPE.name).await?),
        };
        let mut verify = Verify::new(tables, roundtable_domain::ScoreSettings::default());
        if look != Look::Tables {
            verify = verify.audited_by(move || engine.audit());
        }
        Ok(match look {
            Look::Check | Look::Tables => verify.check().await?,
            Look::Repair => verify.repair().await?.report,
        })
    })
}
