//! The same workloads with data four times the memory: figures without a bar.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use roundtable_test_client::rate;

use super::child::{ChildProcess, ChildTask, send_number, value_of, wait_for_release};
use super::data::Town;
use super::ours::Ours;
use super::subject::Subject;
use crate::machine::{self, HeldMemory, MIB, MemoryGroup};
use crate::progress::{Progress, log_step};
use crate::report::{Better, Report};

/// The memory limit, if one can be set.
const LIMIT: u64 = 1024 * MIB;
/// The ratio of data to memory.
const TIMES: u64 = 4;
/// The approximate size of an activity with its index entries in the tree, without the log.
const BYTES_PER_ITEM: u64 = 1500;
const GETS: usize = 20_000;
const NEWESTS: usize = 5_000;
const WRITE_WINDOW: Duration = Duration::from_secs(5);

/// A limit on memory while the value lives.
enum MemoryLimit {
    /// A control group for the child process.
    Group(MemoryGroup),
    /// Memory allocated by this process.
    Held(#[expect(dead_code, reason = "held, not read")] HeldMemory),
    /// An existing limit, or the machine's memory.
    Existing,
}

pub(super) fn run(root: &Path, spare_mib: Option<u64>, report: &mut Report) -> Result<()> {
    let (memory_limit, memory, description) = memory_limit(spare_mib)?;
    let items = memory * TIMES / BYTES_PER_ITEM;
    // Tree, log and space for copied pages.
    let (needed, free) = (memory * TIMES * 3, machine::free_disk_bytes(root)?);
    if needed > free {
        report.note(format!(
            "big was not run: {description}, so the data needs about {} MiB of disk and {} MiB are \
             free; run it under a limit (systemd-run --scope -p MemoryMax=1G …) or with --spare",
            needed / MIB,
            free / MIB,
        ));
        return Ok(());
    }
    log_step(&format!("{description}: {items} items"));
    let dir = tempfile::tempdir_in(root)?;
    let mut child = ChildProcess::start(ChildTask::Big, dir.path(), items, 0)?;
    if let MemoryLimit::Group(group) = &memory_limit {
        group.take(child.id())?;
    }
    child.release();
    let numbers = child.finish()?;
    report.note(format!(
        "big: {description}; {items} items, {} MB on disk",
        value_of(&numbers, "disk_mb")?
    ));
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
        report.figure(figure, better, [value_of(&numbers, name)?]);
    }
    Ok(())
}

/// Returns a memory limit, its bytes and a description.
fn memory_limit(spare_mib: Option<u64>) -> Result<(MemoryLimit, u64, String)> {
    if let Some(mib) = spare_mib {
        if mib < 512 {
            bail!("--spare {mib}: expected at least 512, so that the machine stays usable");
        }
        let balloon = HeldMemory::leaving(mib * MIB)?;
        let description = format!("all memory but {mib} MiB held by the benchmark");
        return Ok((MemoryLimit::Held(balloon), mib * MIB, description));
    }
    if let Some(limit) = machine::memory_limit()? {
        let description = format!("started under a memory limit of {} MiB", limit / MIB);
        return Ok((MemoryLimit::Existing, limit, description));
    }
    match MemoryGroup::new(LIMIT) {
        Ok(group) => {
            let description = format!("a control group with {} MiB of memory", LIMIT / MIB);
            Ok((MemoryLimit::Group(group), LIMIT, description))
        }
        Err(reason) => {
            let memory = machine::available_bytes()?;
            let description = format!(
                "no control group could be made ({reason:#}), the machine's own {} MiB count",
                memory / MIB
            );
            Ok((MemoryLimit::Existing, memory, description))
        }
    }
}

pub(super) fn child(dir: &Path, items: u64) -> Result<()> {
    wait_for_release()?;
    let town = Town::of(items);
    let mut ours = Ours::open(dir)?;
    let progress = Arc::new(Progress::new("loading ours", items));
    let loaded = ours.load(town, town.first(), &progress)?;
    send_number("load_rate", rate(items, loaded.elapsed));
    send_number("stall_ms", loaded.longest_wait.as_secs_f64() * 1e3);
    machine::settle(dir)?;
    send_number("disk_mb", machine::occupied_bytes(dir)? / MIB);

    let mut gets = ours.get_each(&town.addresses(1, GETS))?;
    send_number("get_p50", gets.quantile_us(0.5));
    send_number("get_p99", gets.quantile_us(0.99));
    let mut pages = ours.newest_each(&town.partitions(2, NEWESTS), 50)?;
    send_number("newest_p50", pages.quantile_us(0.5));
    send_number("newest_p99", pages.quantile_us(0.99));

    let mut used = 0;
    for (callers, pool) in [(1, 50_000), (16, 200_000), (128, 200_000)] {
        let items = town.later(used, pool);
        used += pool;
        let written = ours.write_for(callers, WRITE_WINDOW, &items)?;
        send_number(&format!("writes_{callers}"), written.per_second());
    }
    Ok(())
}
