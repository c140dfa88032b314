//! Time and memory of `roundtable verify` over a town: without a fault, with one, and repairing it.

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
use roundtable_test_client::rate;
use roundtable_verify::{Tables, Verifier};

use crate::machine::{self, MIB};
use crate::progress::log_step;
use crate::report::{Better, Report};

const SECONDS_MAX: f64 = 60.0;
const ANONYMOUS_MB_MAX: f64 = 400.0;

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Approximate number of items in the town
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    items: u64,
    /// Directory for the data, which is removed afterwards
    #[arg(long, default_value = "target/bench-data")]
    dir: PathBuf,
    /// Child process: only verifies the town in `--dir` and reports numbers
    #[arg(long, hide = true)]
    look: Option<VerifyMode>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum VerifyMode {
    /// Checks everything
    Check,
    /// Checks tables and indexes without the engine's audit
    Tables,
    /// Checks everything and repairs
    Repair,
}

/// Creates a town and verifies it; the exit code says whether all bars are met.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if let Some(mode) = options.look {
        child(&options.dir, mode)?;
        return Ok(ExitCode::SUCCESS);
    }
    std::fs::create_dir_all(&options.dir)
        .with_context(|| format!("creating {}", options.dir.display()))?;
    let root = tempfile::Builder::new().prefix("verify-").tempdir_in(&options.dir)?;
    let mut report = Report::new(vec!["ours"]);
    let started = Instant::now();
    let made = town::make(root.path(), options.items)?;
    report.figure("making the town, items/s", Better::Higher, [rate(made, started.elapsed())]);
    machine::settle(root.path())?;

    log_step("a town in order");
    let clean = run_child(root.path(), VerifyMode::Check)?;
    ensure!(value_of(&clean, "findings")? < 0.5, "the town is not consistent");
    figures(&mut report, "a town in order", &clean)?;
    let alone = run_child(root.path(), VerifyMode::Tables)?;
    figures(&mut report, "without the engine's audit", &alone)?;

    log_step("one counter off by one");
    town::miscount(root.path())?;
    let found = run_child(root.path(), VerifyMode::Check)?;
    ensure!(
        (0.5..1.5).contains(&value_of(&found, "findings")?),
        "one counter is wrong and was not found"
    );
    figures(&mut report, "one counter off by one", &found)?;
    let repaired = run_child(root.path(), VerifyMode::Repair)?;
    ensure!(value_of(&repaired, "findings")? < 0.5, "one counter is wrong and was not repaired");
    figures(&mut report, "mending it", &repaired)?;

    report.note(format!(
        "{:.0} items, {:.0} index entries, {:.0} changes of the stream; {} cores",
        value_of(&clean, "items")?,
        value_of(&clean, "entries")?,
        value_of(&clean, "changes")?,
        thread::available_parallelism().map_or(1, std::num::NonZero::get),
    ));
    report.under("verify-time", value_of(&clean, "seconds")?, SECONDS_MAX, "s");
    report.under("verify-time-with-a-finding", value_of(&found, "seconds")?, SECONDS_MAX, "s");
    report.under("verify-memory", value_of(&found, "anonymous_mb")?, ANONYMOUS_MB_MAX, "MB");
    Ok(report.print())
}

fn figures(report: &mut Report, label: &str, numbers: &BTreeMap<String, f64>) -> Result<()> {
    report.figure(format!("{label}, s"), Better::Lower, [value_of(numbers, "seconds")?]);
    let memory = [value_of(numbers, "anonymous_mb")?];
    report.figure("  anonymous memory at most, MB", Better::Lower, memory);
    Ok(())
}

fn value_of(numbers: &BTreeMap<String, f64>, name: &str) -> Result<f64> {
    numbers.get(name).copied().with_context(|| format!("the child process did not report {name}"))
}

/// Verifies in a child process, to measure its memory alone.
fn run_child(dir: &Path, mode: VerifyMode) -> Result<BTreeMap<String, f64>> {
    let mode = clap::ValueEnum::to_possible_value(&mode).context("a mode without a name")?;
    let output = Command::new(std::env::current_exe()?)
        .args(["verify", "--look", mode.get_name(), "--dir"])
        .arg(dir)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("starting a child process")?;
    ensure!(output.status.success(), "the child process failed: {}", output.status);
    let text = String::from_utf8(output.stdout)?;
    let numbers = text.lines().map(|line| {
        let (name, value) = line.split_once(' ').context("a line without a number")?;
        Ok((name.to_owned(), value.parse::<f64>().with_context(|| line.to_owned())?))
    });
    numbers.collect()
}

fn child(dir: &Path, mode: VerifyMode) -> Result<()> {
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
        let report = check(dir, mode);
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

/// Verifies like `roundtable verify`.
fn check(dir: &Path, mode: VerifyMode) -> Result<roundtable_verify::VerifyReport> {
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
        let mut verify = Verifier::new(tables, roundtable_domain::ScoreSettings::default());
        if mode != VerifyMode::Tables {
            verify = verify.audit_with(move || engine.audit());
        }
        Ok(match mode {
            VerifyMode::Check | VerifyMode::Tables => verify.check().await?,
            VerifyMode::Repair => verify.repair().await?.report,
        })
    })
}
