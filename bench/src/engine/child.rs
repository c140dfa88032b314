//! Parts that need a process of their own: to have its memory to themselves, to be limited, or to
//! be killed. They tell their parent what they saw as lines of a name and a number.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};

use super::{big, load, reopen};

/// What a child is told.
#[derive(Clone, Debug, Args)]
pub(crate) struct Task {
    part: Part,
    #[arg(long)]
    dir: PathBuf,
    #[arg(long)]
    items: u64,
    /// The first activity to write.
    #[arg(long, default_value_t = 0)]
    from: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    /// Loads and watches stalls and memory
    Load,
    /// Loads, then writes until killed
    Victim,
    /// Works under a memory limit
    Big,
}

/// Does a child's part.
pub(crate) fn run(task: &Task) -> Result<()> {
    match task.part {
        Part::Load => load::child(&task.dir, task.items),
        Part::Victim => reopen::child(&task.dir, task.items, task.from),
        Part::Big => big::child(&task.dir, task.items),
    }
}

/// Tells the parent a number.
pub(super) fn tell(name: &str, value: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    // A parent that is gone wants no numbers.
    let _ = writeln!(out, "{name} {value}").and_then(|()| out.flush());
}

/// A child under way; killed when dropped.
pub(super) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    pub(super) fn start(part: Part, dir: &Path, items: u64, from: u64) -> Result<Self> {
        let part = part.to_possible_value().context("a part without a name")?;
        let mut child = Command::new(std::env::current_exe()?)
            .args(["child", part.get_name(), "--dir"])
            .arg(dir)
            .args(["--items", &items.to_string(), "--from", &from.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting a process of our own")?;
        let stdout = child.stdout.take().context("a child without output")?;
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, lines: BufReader::new(stdout).lines() })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Lets a child go on that waits for its input to end.
    pub(super) fn release(&mut self) {
        self.stdin = None;
    }

    /// The next number the child tells, with its name.
    pub(super) fn next(&mut self) -> Result<Option<(String, f64)>> {
        let Some(line) = self.lines.next().transpose()? else { return Ok(None) };
        let (name, value) = line.split_once(' ').context("a line that is no number")?;
        Ok(Some((name.to_owned(), value.parse().with_context(|| line.clone())?)))
    }

    /// Everything the child has to tell until its end.
    pub(super) fn finish(mut self) -> Result<BTreeMap<String, f64>> {
        self.release();
        let mut told = BTreeMap::new();
        while let Some((name, value)) = self.next()? {
            told.insert(name, value);
        }
        let status = self.child.wait()?;
        ensure!(status.success(), "the process for this part failed: {status}");
        Ok(told)
    }

    /// Kills the child with SIGKILL and waits until it is gone.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// Waits until the parent says to go on, by closing our input.
pub(super) fn wait_for_release() -> Result<()> {
    std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink())?;
    Ok(())
}

/// A number the child should have told.
pub(super) fn told(numbers: &BTreeMap<String, f64>, name: &str) -> Result<f64> {
    numbers.get(name).copied().with_context(|| format!("the process did not tell its {name}"))
}
