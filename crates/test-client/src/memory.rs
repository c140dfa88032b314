//! The memory of a process, as Linux reports it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Returns a process's resident memory in bytes: all, and the anonymous part.
pub fn resident_bytes(process: u32) -> Result<(u64, u64)> {
    let status = PathBuf::from(format!("/proc/{process}/status"));
    Ok((kib_field(&status, "VmRSS:")?, kib_field(&status, "RssAnon:")?))
}

/// Returns a field that a file of `/proc` has in KiB, in bytes.
pub fn kib_field(file: &Path, field: &str) -> Result<u64> {
    let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let kib = line.and_then(|rest| rest.split_whitespace().next()).and_then(|n| n.parse().ok());
    let kib: u64 = kib.with_context(|| format!("no {field} in {}", file.display()))?;
    Ok(kib * 1024)
}
