//! Measurements of the machine and of processes: memory, processor time, disk space, limits.

use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use roundtable_test_client::{Samples, kib_field};

use crate::report::Report;

pub(crate) const MIB: u64 = 1024 * 1024;

/// The unit of processor times.
const TICK: Duration = Duration::from_millis(10);

/// This process's anonymous resident memory, in bytes.
pub(crate) fn anonymous_bytes() -> Result<u64> {
    kib_field(Path::new("/proc/self/status"), "RssAnon:")
}

/// The available memory of the machine, in bytes.
pub(crate) fn available_bytes() -> Result<u64> {
    kib_field(Path::new("/proc/meminfo"), "MemAvailable:")
}

/// The free disk space of `dir`, in bytes.
pub(crate) fn free_disk_bytes(dir: &Path) -> Result<u64> {
    let stat = rustix::fs::statvfs(dir)
        .with_context(|| format!("reading the free space of {}", dir.display()))?;
    Ok(stat.f_bavail * stat.f_frsize)
}

/// The disk space of the files below `dir`, in bytes.
pub(crate) fn occupied_bytes(dir: &Path) -> Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() {
            occupied_bytes(&entry.path())?
        } else {
            metadata.blocks() * 512
        };
    }
    Ok(bytes)
}

/// Waits until all writes are on disk and this process is idle, so that one subject's background work
/// does not slow the next one.
pub(crate) fn settle(dir: &Path) -> Result<()> {
    const TIMEOUT: Duration = Duration::from_secs(30);
    const INTERVAL: Duration = Duration::from_millis(200);
    let started = Instant::now();
    let mut quiet = 0;
    while quiet < 2 && started.elapsed() < TIMEOUT {
        let directory = fs::File::open(dir)?;
        rustix::fs::syncfs(directory.as_fd()).context("syncing the file system")?;
        let before = cpu_ticks()?;
        sleep(INTERVAL);
        // A tick is 10 ms: one in 200 ms is idling.
        quiet = if cpu_ticks()? - before <= 1 { quiet + 1 } else { 0 };
    }
    Ok(())
}

/// Times plain writes and syncs of 4 KiB: the current speed of the disk itself.
pub(crate) fn time_syncs(dir: &Path) -> Result<Samples> {
    use std::os::unix::fs::FileExt;
    const SYNCS: u64 = 300;
    const BLOCK: usize = 4096;
    let file = tempfile::tempfile_in(dir)?;
    let all = usize::try_from(SYNCS)? * BLOCK;
    file.write_all_at(&vec![0; all], 0)?;
    file.sync_all()?;
    let mut samples = Samples::with_capacity(usize::try_from(SYNCS)?);
    for nth in 0..SYNCS {
        let started = Instant::now();
        file.write_all_at(&[1; BLOCK], nth * BLOCK as u64)?;
        file.sync_data()?;
        samples.add_since(started);
    }
    Ok(samples)
}

/// Notes the speed of the disk, which figures of durable writes depend on.
pub(crate) fn note_disk(dir: &Path, moment: &str, report: &mut Report) -> Result<()> {
    let mut syncs = time_syncs(dir)?;
    let (p50, p99) = (syncs.quantile_us(0.5), syncs.quantile_us(0.99));
    report.note(format!("a plain 4 KiB write and sync {moment}: p50 {p50:.0} µs, p99 {p99:.0} µs"));
    Ok(())
}

fn cpu_ticks() -> Result<u64> {
    ticks(Path::new("/proc/self/stat"))
}

/// The user and system time of a process so far.
pub(crate) fn cpu_time(process: u32) -> Result<Duration> {
    Ok(TICK * u32::try_from(ticks(&PathBuf::from(format!("/proc/{process}/stat")))?)?)
}

/// The time that all processors have been busy so far, with what others took of a virtual machine.
pub(crate) fn busy_time() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/stat").context("reading /proc/stat")?;
    let fields = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
    let fields = fields.map(str::parse).collect::<Result<Vec<u32>, _>>()?;
    // User, nice, system, idle, waiting for a disk, interrupts (two), taken by others.
    let idle = [3, 4];
    let busy = fields.iter().enumerate().take(8).filter(|(nth, _)| !idle.contains(nth));
    Ok(TICK * busy.map(|(_, ticks)| ticks).sum::<u32>())
}

/// The user and system time of a process and of the processes that it started, so far.
pub(crate) fn family_cpu_time(process: u32) -> Result<Duration> {
    let mut total = cpu_time(process)?;
    for entry in fs::read_dir("/proc")? {
        let Ok(child) = entry?.file_name().to_string_lossy().parse() else { continue };
        // A process may end meanwhile.
        if parent(child).is_ok_and(|parent| parent == process) {
            total += cpu_time(child).unwrap_or_default();
        }
    }
    Ok(total)
}

fn parent(process: u32) -> Result<u32> {
    let fields = stat_fields(&PathBuf::from(format!("/proc/{process}/stat")))?;
    Ok(fields.get(1).context("no parent")?.parse()?)
}

fn ticks(file: &Path) -> Result<u64> {
    let fields = stat_fields(file)?;
    let ticks = fields.iter().skip(11).take(2).map(|field| field.parse());
    Ok(ticks.collect::<Result<Vec<u64>, _>>()?.iter().sum())
}

/// The fields after the name: the parent is the 2nd, user and system time are the 12th and 13th.
fn stat_fields(file: &Path) -> Result<Vec<String>> {
    let stat = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    // The name is in parentheses and may contain spaces.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    Ok(fields.map(ToOwned::to_owned).collect())
}

/// The memory limit of this process, if it is below the machine's memory.
pub(crate) fn memory_limit() -> Result<Option<u64>> {
    let machine = kib_field(Path::new("/proc/meminfo"), "MemTotal:")?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut lowest = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let files = match controllers {
            "" => vec![("/sys/fs/cgroup", "memory.max")],
            _ if controllers.split(',').any(|name| name == "memory") => {
                vec![("/sys/fs/cgroup/memory", "memory.limit_in_bytes")]
            }
            _ => vec![],
        };
        for (mount, file) in files {
            let group = Path::new(mount).join(path.trim_start_matches('/'));
            let limits = group.ancestors().take_while(|dir| dir.starts_with(mount));
            let limits = limits.filter_map(|dir| fs::read_to_string(dir.join(file)).ok());
            lowest = limits.filter_map(|text| text.trim().parse().ok()).chain(lowest).min();
        }
    }
    Ok(lowest.filter(|limit| *limit < machine))
}

/// A control group with a memory limit; removed on drop.
#[derive(Debug)]
pub(crate) struct MemoryGroup {
    dir: PathBuf,
}

impl MemoryGroup {
    /// Creates a group below this process's own, in the unified hierarchy (version 2).
    pub(crate) fn new(limit: u64) -> Result<Self> {
        let groups =
            fs::read_to_string("/proc/self/cgroup").context("reading /proc/self/cgroup")?;
        let own = groups.lines().find_map(|line| line.strip_prefix("0::"));
        let own = own.context("this process is in no control group of version 2")?;
        let parent = Path::new("/sys/fs/cgroup").join(own.trim_start_matches('/'));
        let controllers = fs::read_to_string(parent.join("cgroup.controllers"))
            .context("control groups of version 2 are not mounted at /sys/fs/cgroup")?;
        if !controllers.split_whitespace().any(|name| name == "memory") {
            bail!("the memory controller is not delegated to {}", parent.display());
        }
        fs::write(parent.join("cgroup.subtree_control"), "+memory")
            .with_context(|| format!("enabling memory limits below {}", parent.display()))?;
        let dir = parent.join(format!("roundtable-bench-{}", std::process::id()));
        fs::create_dir(&dir).with_context(|| format!("creating {}", dir.display()))?;
        let group = Self { dir };
        fs::write(group.dir.join("memory.max"), limit.to_string()).context("setting the limit")?;
        Ok(group)
    }

    /// Moves a child process into the group.
    pub(crate) fn take(&self, child: u32) -> Result<()> {
        fs::write(self.dir.join("cgroup.procs"), child.to_string()).context("limiting the child")
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.dir);
    }
}

/// Memory that is allocated so that no other process has it; freed on drop.
#[derive(Debug)]
pub(crate) struct HeldMemory {
    _pages: Vec<u8>,
}

impl HeldMemory {
    /// Allocates all available memory but `spare`. Without swap, this limits the page cache like a small
    /// machine, for all other processes as well.
    pub(crate) fn leaving(spare: u64) -> Result<Self> {
        let held = available_bytes()?.saturating_sub(spare);
        // Not zeros: those pages would not be allocated.
        Ok(Self { _pages: vec![1; usize::try_from(held)?] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_succeed() {
        assert!(anonymous_bytes().unwrap() > 0);
        assert!(available_bytes().unwrap() > 0);
        assert!(free_disk_bytes(Path::new(".")).unwrap() > 0);
        assert!(cpu_ticks().is_ok());
        assert!(memory_limit().is_ok());
    }
}
