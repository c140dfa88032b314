//! What home feeds keep in memory, measured in a process of its own.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use roundtable_domain::Caller;
use roundtable_model::UserId;

use super::PAGE;
use super::ours::Ours;
use super::town::Town;
use crate::machine;
use crate::report::{Better, Report};

/// Beside the town: who reads, one id in a line. The first comes alone, the others after it.
const READERS: &str = "readers";

/// Lets another process read feeds, and reports what memory it took.
pub(super) fn run(dir: &Path, town: &Town, quick: bool, report: &mut Report) -> Result<()> {
    let first = town.readers.first().and_then(|(_, readers)| readers.first());
    let readers = first.into_iter().chain(&town.regulars);
    let lines = readers.map(|number| format!("{}\n", town.person(*number).id));
    std::fs::write(dir.with_extension(READERS), lines.collect::<String>())?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["feed", "--look", "--dir"]).arg(dir).args(quick.then_some("--quick"));
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.context("starting a process of our own")?;
    ensure!(output.status.success(), "the process that looks failed: {}", output.status);
    let text = String::from_utf8(output.stdout)?;
    let numbers = text.lines().map(|line| {
        let (name, value) = line.split_once(' ').context("a line that is no number")?;
        Ok((name, value.parse::<f64>().with_context(|| line.to_owned())?))
    });
    let numbers = numbers.collect::<Result<BTreeMap<&str, f64>>>()?;
    let told = |name| numbers.get(name).copied().with_context(|| format!("no {name} was told"));
    let per = |part: f64, whole: usize, scaled: f64| part / whole_of(whole) * scaled;
    let actors = per(told("everybody_mb")?, town.actors, 1e6);
    report.figure("memory per million actors, MB", Better::Lower, [actors]);
    let readers = per(told("readers_mb")?, town.regulars.len(), 1e3);
    report.figure("memory per thousand readers, MB", Better::Lower, [readers]);
    report.figure("first page of a new process, ms", Better::Lower, [told("first_page_ms")?]);
    report.figure("  until all of memory is there, ms", Better::Lower, [told("warm_ms")?]);
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "counts here stay far below 2^52")]
fn whole_of(count: usize) -> f64 {
    count.max(1) as f64
}

/// Reads feeds, and tells what memory it took.
pub(super) fn child(dir: &Path, quick: bool) -> Result<()> {
    let readers = std::fs::read_to_string(dir.with_extension(READERS))?;
    let readers = readers.lines().map(|line| Ok(Caller::user(line.parse::<UserId>()?)));
    let readers = readers.collect::<Result<Vec<Caller>>>()?;
    let (first, others) = readers.split_first().context("nobody reads")?;
    let ours = Ours::open(dir, quick)?;
    machine::settle(dir)?;
    let opened = machine::anonymous_bytes()?;
    let started = Instant::now();
    ours.page(first, PAGE, None)?;
    let first_page = started.elapsed();
    ours.warm_up()?;
    let warm = started.elapsed();
    ours.page(first, PAGE, None)?;
    machine::settle(dir)?;
    let everybody = machine::anonymous_bytes()?;
    for reader in others {
        ours.page(reader, PAGE, None)?;
    }
    machine::settle(dir)?;
    let all = machine::anonymous_bytes()?;
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    println!("first_page_ms {}", ms(first_page));
    println!("warm_ms {}", ms(warm));
    println!("everybody_mb {}", megabytes(everybody.saturating_sub(opened)));
    println!("readers_mb {}", megabytes(all.saturating_sub(everybody)));
    ours.close()
}

#[expect(clippy::cast_precision_loss, reason = "bytes of memory stay below 2^52")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
