//! What the machine says about this process: memory, processor time, space, limits.

use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::report::Report;
use crate::samples::Samples;

/// A mebibyte.
pub(crate) const MIB: u64 = 1024 * 1024;

/// This process's anonymous resident memory, in bytes.
pub(crate) fn anonymous_bytes() -> Result<u64> {
    kib_field(Path::new("/proc/self/status"), "RssAnon:")
}

/// What a process has in memory, in bytes: all of it, and the part that no file is behind.
pub(crate) fn resident_bytes(process: u32) -> Result<(u64, u64)> {
    let status = PathBuf::from(format!("/proc/{process}/status"));
    Ok((kib_field(&status, "VmRSS:")?, kib_field(&status, "RssAnon:")?))
}

/// The memory the machine could still give, in bytes.
pub(crate) fn available_bytes() -> Result<u64> {
    kib_field(Path::new("/proc/meminfo"), "MemAvailable:")
}

fn kib_field(file: &Path, field: &str) -> Result<u64> {
    let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let kib = line.and_then(|rest| rest.split_whitespace().next()).and_then(|n| n.parse().ok());
    let kib: u64 = kib.with_context(|| format!("no {field} in {}", file.display()))?;
    Ok(kib * 1024)
}

/// Free space where `dir` is, in bytes.
pub(crate) fn free_disk_bytes(dir: &Path) -> Result<u64> {
    let stat = rustix::fs::statvfs(dir).with_context(|| format!("asking {}", dir.display()))?;
    Ok(stat.f_bavail * stat.f_frsize)
}

/// What the files under `dir` occupy on disk, in bytes.
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

/// Waits until what was written is on disk and this process has nothing more to do, so that one
/// subject's background work is not paid for by the next one.
pub(crate) fn settle(dir: &Path) -> Result<()> {
    const PATIENCE: Duration = Duration::from_secs(30);
    const WATCHED: Duration = Duration::from_millis(200);
    let started = Instant::now();
    let mut quiet = 0;
    while quiet < 2 && started.elapsed() < PATIENCE {
        let directory = fs::File::open(dir)?;
        rustix::fs::syncfs(directory.as_fd()).context("syncing the file system")?;
        let before = cpu_ticks()?;
        sleep(WATCHED);
        // A tick is 10 ms: one in 200 ms is idling.
        quiet = if cpu_ticks()? - before <= 1 { quiet + 1 } else { 0 };
    }
    Ok(())
}

/// Times plain syncs of 4 KiB into a file of zeros: what the disk itself gives right now.
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

/// Says how quick the disk is, without which no figure about durable writes means anything.
pub(crate) fn note_disk(dir: &Path, moment: &str, report: &mut Report) -> Result<()> {
    let mut syncs = time_syncs(dir)?;
    let (p50, p99) = (syncs.quantile_us(0.5), syncs.quantile_us(0.99));
    report.note(format!("a plain 4 KiB write and sync {moment}: p50 {p50:.0} µs, p99 {p99:.0} µs"));
    Ok(())
}

/// Processor time this process has used, in clock ticks.
fn cpu_ticks() -> Result<u64> {
    ticks(Path::new("/proc/self/stat"))
}

/// The processor time a process has used so far, its own and the system's for it.
pub(crate) fn cpu_time(process: u32) -> Result<Duration> {
    const TICK: u64 = 10;
    Ok(Duration::from_millis(TICK * ticks(&PathBuf::from(format!("/proc/{process}/stat")))?))
}

fn ticks(file: &Path) -> Result<u64> {
    let stat = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    // The name in parentheses may hold spaces; user and system time are the 12th and 13th after it.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    let ticks = fields.skip(11).take(2).map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    Ok(ticks.iter().sum())
}

/// The memory limit this process already runs under, if it is below what the machine has.
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

/// A control group of our own making with a memory limit; goes away with this value.
#[derive(Debug)]
pub(crate) struct MemoryGroup {
    dir: PathBuf,
}

impl MemoryGroup {
    /// Makes a group below this process's own, in the unified hierarchy (version 2).
    pub(crate) fn new(limit: u64) -> Result<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup").context("reading own group")?;
        let own = groups.lines().find_map(|line| line.strip_prefix("0::"));
        let own = own.context("this process is in no group of version 2")?;
        let parent = Path::new("/sys/fs/cgroup").join(own.trim_start_matches('/'));
        let controllers = fs::read_to_string(parent.join("cgroup.controllers"))
            .context("control groups of version 2 are not mounted at /sys/fs/cgroup")?;
        if !controllers.split_whitespace().any(|name| name == "memory") {
            bail!("the memory controller is not delegated to {}", parent.display());
        }
        fs::write(parent.join("cgroup.subtree_control"), "+memory")
            .with_context(|| format!("enabling memory limits below {}", parent.display()))?;
        let dir = parent.join(format!("roundtable-bench-{}", std::process::id()));
        fs::create_dir(&dir).with_context(|| format!("making {}", dir.display()))?;
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

/// Memory held so that nobody else has it; given back with this value.
#[derive(Debug)]
pub(crate) struct Balloon {
    _pages: Vec<u8>,
}

impl Balloon {
    /// Holds all available memory but `spare`. Without swap this squeezes the page cache as a
    /// small machine would; it squeezes everybody else's, too.
    pub(crate) fn leaving(spare: u64) -> Result<Self> {
        let held = available_bytes()?.saturating_sub(spare);
        // Not zeros: those would be pages promised, not held.
        Ok(Self { _pages: vec![1; usize::try_from(held)?] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_answers() {
        assert!(anonymous_bytes().unwrap() > 0);
        assert!(available_bytes().unwrap() > 0);
        assert!(free_disk_bytes(Path::new(".")).unwrap() > 0);
        assert!(cpu_ticks().is_ok());
        assert!(memory_limit().is_ok());
    }
}
