//! The memory of home feeds, measured in a child process.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use roundtable_domain::{Caller, FeedEntry, Page};
use roundtable_model::{Cursor, UserId};
use roundtable_test_client::Samples;

use super::PAGE;
use super::ours::{self, Ours};
use super::town::Town;
use crate::machine;
use crate::report::{Better, Report};

/// The extension of a file next to the town: a time shortly after the oldest cached activity, then the
/// ids of the readers, one per line. The first reader follows the most users.
const READERS: &str = "readers";
/// The most pages to read of one feed.
const PAGES_MAX: usize = 20_000;
/// The most memory for a million actors whose newest activities are all held.
const MILLION_ACTORS_MB_MAX: f64 = 1_000.0;
/// The longest that a page takes while the latest activities are loaded.
const COLD_PAGE_MS_MAX: f64 = 100.0;
/// The maximum number of entries of a page.
const STEP: usize = 100;

/// Reads feeds in a child process, and reports its memory.
pub(super) fn run(dir: &Path, town: &Town, quick: bool, report: &mut Report) -> Result<()> {
    let recent = ours::recent_max(quick);
    let recent = recent.saturating_sub(recent / 50).min(town.activities.len());
    let oldest = town.activities.len().checked_sub(recent).and_then(|at| town.activities.get(at));
    let oldest = std::iter::once(format!("{}\n", oldest.map_or(0, |activity| activity.at_ms)));
    let most = town.readers.last().and_then(|(_, readers)| readers.first());
    let readers = most.into_iter().chain(&town.regulars);
    let lines = readers.map(|number| format!("{}\n", town.person(*number).id));
    std::fs::write(dir.with_extension(READERS), oldest.chain(lines).collect::<String>())?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["feed", "--look", "--dir"]).arg(dir).args(quick.then_some("--quick"));
    // Returns freed memory at once; otherwise it would hide later growth.
    command.env("MIMALLOC_PURGE_DELAY", "0");
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.context("starting a child process")?;
    ensure!(output.status.success(), "the child process failed: {}", output.status);
    let text = String::from_utf8(output.stdout)?;
    let numbers = text.lines().map(|line| {
        let (name, value) = line.split_once(' ').context("a line without a number")?;
        Ok((name, value.parse::<f64>().with_context(|| line.to_owned())?))
    });
    let numbers = numbers.collect::<Result<BTreeMap<&str, f64>>>()?;
    let value_of = |name| {
        numbers
            .get(name)
            .copied()
            .with_context(|| format!("the child process did not report {name}"))
    };
    let million = value_of("actors_mb")? / value_of("actors")?.max(1.0) * 1e6;
    let lines = [
        (
            "memory: per million of the latest activities, MB",
            value_of("recent_mb")? / value_of("recent")? * 1e6,
        ),
        ("memory: per thousand readers, MB", value_of("readers_mb")? / value_of("readers")? * 1e3),
        ("memory: posts and people on pages, MB", value_of("pages_mb")?),
        ("memory: per million actors, MB", million),
        ("first page of a new process, ms", value_of("first_page_ms")?),
        ("pages while the latest activities are loaded, ms (p50)", value_of("beside_p50_ms")?),
        ("  the slowest, ms", value_of("beside_longest_ms")?),
        ("loading the latest activities, ms", value_of("warm_up_ms")?),
    ];
    report.under("memory-million-actors", million, MILLION_ACTORS_MB_MAX, "MB");
    report.under("cold-page", value_of("beside_longest_ms")?, COLD_PAGE_MS_MAX, "ms");
    for (label, figure) in lines {
        report.figure(label, Better::Lower, [figure]);
    }
    report.note(format!(
        "memory was measured with the latest {} activities, {} readers who follow 200 each (with what \
         is on their pages), {} posts and {} people, and the {} newest activities of {} actors",
        value_of("recent")?,
        value_of("readers")?,
        value_of("posts")?,
        value_of("people")?,
        value_of("actor_entries")?,
        value_of("actors")?
    ));
    Ok(())
}

/// Reads feeds and prints the memory they take.
pub(super) fn child(dir: &Path, quick: bool) -> Result<()> {
    let text = std::fs::read_to_string(dir.with_extension(READERS))?;
    let (oldest, readers) = text.split_once('\n').context("there are no readers")?;
    let readers = readers.lines().map(|line| Ok(Caller::user(line.parse::<UserId>()?)));
    let readers = readers.collect::<Result<Vec<Caller>>>()?;
    let (most, others) = readers.split_first().context("there are no readers")?;
    read_cold(dir, quick, others)?;
    let ours = Ours::open_without_walks(dir, quick)?;
    let mut growth = MemoryGrowth::since_now(dir)?;
    ours.warm_up()?;
    println!("recent_mb {}", growth.next(dir)?);
    println!("recent {}", ours.figures().memory.recent);
    for reader in others {
        ours.page(reader, PAGE, None)?;
    }
    println!("readers_mb {}", growth.next(dir)?);
    println!("readers {}", others.len());
    let oldest: u64 = oldest.parse()?;
    let position = read_down(&ours, most, None, |page| {
        page.items.last().is_some_and(|(last, _)| last.activity.created_at.ms() < oldest)
    })?;
    println!("pages_mb {}", growth.next(dir)?);
    let [(_, posts), (_, people), ..] = ours.figures().entities;
    println!("posts {}\npeople {}", posts.entries, people.entries);
    let before = ours.figures().memory;
    read_down(&ours, most, position, |_| ours.figures().memory.actors > before.actors + STEP)?;
    println!("actors_mb {}", growth.next(dir)?);
    let after = ours.figures().memory;
    println!("actors {}", after.actors.saturating_sub(before.actors));
    println!("actor_entries {}", after.actor_entries.saturating_sub(before.actor_entries));
    ours.close()
}

/// Reads first pages in a new process, before and while the latest activities are loaded.
fn read_cold(dir: &Path, quick: bool, readers: &[Caller]) -> Result<()> {
    let ours = Ours::open(dir, quick)?;
    let (mut readers, mut waits) = (readers.iter().cycle(), Samples::default());
    let mut read = |waits: &mut Samples| {
        let reader = readers.next().context("there are no readers")?;
        let started = Instant::now();
        ours.page(reader, PAGE, None)?;
        waits.add_since(started);
        anyhow::Ok(())
    };
    read(&mut waits)?;
    println!("first_page_ms {}", waits.quantile_us(1.0) / 1e3);
    let mut waits = Samples::default();
    let loading = ours.warm_up_beside(|| read(&mut waits))?;
    println!("warm_up_ms {}", loading.as_secs_f64() * 1e3);
    println!("beside_p50_ms {}", waits.quantile_us(0.5) / 1e3);
    println!("beside_longest_ms {}", waits.quantile_us(1.0) / 1e3);
    ours.close()
}

/// Reads a feed until `is_last`, and returns the cursor after it.
fn read_down(
    ours: &Ours,
    reader: &Caller,
    mut after: Option<Cursor>,
    is_last: impl Fn(&Page<FeedEntry>) -> bool,
) -> Result<Option<Cursor>> {
    for _ in 0..PAGES_MAX {
        let page = ours.page(reader, STEP, after.as_ref())?;
        let ended = is_last(&page) || page.next.is_none();
        after = page.next;
        if ended {
            break;
        }
    }
    Ok(after)
}

/// The anonymous memory of this process at the last measurement.
struct MemoryGrowth(u64);

impl MemoryGrowth {
    fn since_now(dir: &Path) -> Result<Self> {
        machine::settle(dir)?;
        Ok(Self(machine::anonymous_bytes()?))
    }

    /// Returns the growth since the last measurement, in megabytes.
    #[expect(clippy::cast_precision_loss, reason = "bytes of memory stay below 2^52")]
    fn next(&mut self, dir: &Path) -> Result<f64> {
        let now = Self::since_now(dir)?;
        let grown = now.0.saturating_sub(self.0);
        *self = now;
        Ok(grown as f64 / 1e6)
    }
}
