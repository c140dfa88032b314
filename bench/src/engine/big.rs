//! The same questions with the data four times the memory: figures without a bar.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};

use super::child::{Part, Running, tell, told, wait_for_release};
use super::data::Town;
use super::ours::Ours;
use super::subject::Subject;
use crate::machine::{self, Balloon, MIB, MemoryGroup};
use crate::progress::{Progress, say};
use crate::report::{Better, Report};
use crate::samples::rate;

/// The limit where we may set one.
const LIMIT: u64 = 1024 * MIB;
/// How many times the memory the data is.
const TIMES: u64 = 4;
/// What an activity with its index entries takes in the tree, about; the log comes on top.
const BYTES_PER_ITEM: u64 = 1500;
const GETS: usize = 20_000;
const NEWESTS: usize = 5_000;
const WRITE_WINDOW: Duration = Duration::from_secs(5);

/// What keeps memory short, for as long as it is held.
enum Shortage {
    /// A group made for the child.
    Group(MemoryGroup),
    /// Memory held by this process.
    Held(#[expect(dead_code, reason = "held, not read")] Balloon),
    /// A limit or a machine as it was found.
    Found,
}

pub(super) fn run(root: &Path, spare_mib: Option<u64>, report: &mut Report) -> Result<()> {
    let (shortage, memory, words) = shortage(spare_mib)?;
    let items = memory * TIMES / BYTES_PER_ITEM;
    // Tree, log and room to copy pages.
    let (needed, free) = (memory * TIMES * 3, machine::free_disk_bytes(root)?);
    if needed > free {
        report.note(format!(
            "big was not run: {words}, so the data needs about {} MiB of disk and {} MiB are \
             free; run it under a limit (systemd-run --scope -p MemoryMax=1G …) or with --spare",
            needed / MIB,
            free / MIB,
        ));
        return Ok(());
    }
    say(&format!("{words}: {items} items"));
    let dir = tempfile::tempdir_in(root)?;
    let mut child = Running::start(Part::Big, dir.path(), items, 0)?;
    if let Shortage::Group(group) = &shortage {
        group.take(child.id())?;
    }
    child.release();
    let numbers = child.finish()?;
    report.note(format!("big: {words}; {items} items, {} MB on disk", told(&numbers, "disk_mb")?));
    for (figure, better, name) in [
        ("big: load, items/s", Better::Higher, "load_rate"),
        ("big: longest wait of a call, ms", Better::Lower, "stall_ms"),
        ("big: get, p50 µs", Better::Lower, "get_p50"),
        ("big: get, p99 µs", Better::Lower, "get_p99"),
        ("big: newest 50, p50 µs", Better::Lower, "newest_p50"),
        ("big: newest 50, p99 µs", Better::Lower, "newest_p99"),
        ("big: durable writes/s, 1 caller", Better::Higher, "writes_1"),
        ("big: durable writes/s, 16 callers", Better::Higher, "writes_16"),
        ("big: durable writes/s, 128 callers", Better::Higher, "writes_128"),
    ] {
        report.figure(figure, better, [told(&numbers, name)?]);
    }
    Ok(())
}

/// What makes memory short here, how much of it there is, and that in words.
fn shortage(spare_mib: Option<u64>) -> Result<(Shortage, u64, String)> {
    if let Some(mib) = spare_mib {
        if mib < 512 {
            bail!("--spare {mib}: under 512 MiB the machine itself would suffer");
        }
        let balloon = Balloon::leaving(mib * MIB)?;
        let words = format!("all memory but {mib} MiB held by the benchmark");
        return Ok((Shortage::Held(balloon), mib * MIB, words));
    }
    if let Some(limit) = machine::memory_limit()? {
        let words = format!("started under a memory limit of {} MiB", limit / MIB);
        return Ok((Shortage::Found, limit, words));
    }
    match MemoryGroup::new(LIMIT) {
        Ok(group) => {
            let words = format!("a control group with {} MiB of memory", LIMIT / MIB);
            Ok((Shortage::Group(group), LIMIT, words))
        }
        Err(reason) => {
            let memory = machine::available_bytes()?;
            let words = format!(
                "no control group could be made ({reason:#}), the machine's own {} MiB count",
                memory / MIB
            );
            Ok((Shortage::Found, memory, words))
        }
    }
}

pub(super) fn child(dir: &Path, items: u64) -> Result<()> {
    wait_for_release()?;
    let town = Town::of(items);
    let mut ours = Ours::open(dir)?;
    let progress = Arc::new(Progress::new("loading ours", items));
    let loaded = ours.load(town, town.first(), &progress)?;
    tell("load_rate", rate(items, loaded.elapsed));
    tell("stall_ms", loaded.longest_wait.as_secs_f64() * 1e3);
    machine::settle(dir)?;
    tell("disk_mb", machine::occupied_bytes(dir)? / MIB);

    let mut gets = ours.get_each(&town.addresses(1, GETS))?;
    tell("get_p50", gets.quantile_us(0.5));
    tell("get_p99", gets.quantile_us(0.99));
    let mut pages = ours.newest_each(&town.partitions(2, NEWESTS), 50)?;
    tell("newest_p50", pages.quantile_us(0.5));
    tell("newest_p99", pages.quantile_us(0.99));

    let mut used = 0;
    for (callers, pool) in [(1, 50_000), (16, 200_000), (128, 200_000)] {
        let items = town.later(used, pool);
        used += pool;
        let written = ours.write_for(callers, WRITE_WINDOW, &items)?;
        tell(&format!("writes_{callers}"), written.per_second());
    }
    Ok(())
}
