//! Child processes for parts that measure their own memory, run under a limit or are killed. A child
//! reports lines of a name and a number to its parent.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};

use super::{big, load, reopen};

#[derive(Clone, Debug, Args)]
pub(crate) struct ChildArgs {
    part: ChildTask,
    #[arg(long)]
    dir: PathBuf,
    #[arg(long)]
    items: u64,
    #[arg(long, default_value_t = 0)]
    from: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ChildTask {
    /// Loads and watches stalls and memory
    Load,
    /// Loads, then writes until killed
    Victim,
    /// Works under a memory limit
    Big,
}

pub(crate) fn run(task: &ChildArgs) -> Result<()> {
    match task.part {
        ChildTask::Load => load::child(&task.dir, task.items),
        ChildTask::Victim => reopen::child(&task.dir, task.items, task.from),
        ChildTask::Big => big::child(&task.dir, task.items),
    }
}

/// Reports a number to the parent.
pub(super) fn send_number(name: &str, value: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    // The parent may have ended.
    let _ = writeln!(out, "{name} {value}").and_then(|()| out.flush());
}

/// A running child process; killed on drop.
pub(super) struct ChildProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl ChildProcess {
    pub(super) fn start(part: ChildTask, dir: &Path, items: u64, from: u64) -> Result<Self> {
        let part = part.to_possible_value().context("a task without a name")?;
        let mut child = Command::new(std::env::current_exe()?)
            .args(["child", part.get_name(), "--dir"])
            .arg(dir)
            .args(["--items", &items.to_string(), "--from", &from.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting a child process")?;
        let stdout = child.stdout.take().context("a child without output")?;
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, lines: BufReader::new(stdout).lines() })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Closes the child's input, which it waits for in [`wait_for_release`].
    pub(super) fn release(&mut self) {
        self.stdin = None;
    }

    /// Returns the next number of the child, with its name.
    pub(super) fn next(&mut self) -> Result<Option<(String, f64)>> {
        let Some(line) = self.lines.next().transpose()? else { return Ok(None) };
        let (name, value) = line.split_once(' ').context("a line without a number")?;
        Ok(Some((name.to_owned(), value.parse().with_context(|| line.clone())?)))
    }

    /// Waits for the child to end, and returns all its numbers.
    pub(super) fn finish(mut self) -> Result<BTreeMap<String, f64>> {
        self.release();
        let mut numbers = BTreeMap::new();
        while let Some((name, value)) = self.next()? {
            numbers.insert(name, value);
        }
        let status = self.child.wait()?;
        ensure!(status.success(), "the child process failed: {status}");
        Ok(numbers)
    }

    /// Kills the child with SIGKILL and waits for its end.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// Waits until the parent closes our input.
pub(super) fn wait_for_release() -> Result<()> {
    std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink())?;
    Ok(())
}

pub(super) fn value_of(numbers: &BTreeMap<String, f64>, name: &str) -> Result<f64> {
    numbers.get(name).copied().with_context(|| format!("the child process did not report {name}"))
}
