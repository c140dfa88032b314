//! Planted faults: deliberate bugs as patches, each with the tests that find it. They show that the
//! search would notice.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};

/// The directory of the patches, in the workspace.
const FAULTS: &str = "campaign/faults";
/// The copy that faults are planted in. Always the same, so that little is built again.
const COPY: &str = "roundtable-planted-faults";
/// The longest time of a test, or of its build.
const SECONDS_MAX: u64 = 1_800;
/// The exit code of `timeout` after that time.
const TIMED_OUT: i32 = 124;

/// A deliberate bug.
#[derive(Clone, Debug)]
pub struct PlantedFault {
    pub name: String,
    pub patch: PathBuf,
    /// The fault, in a sentence.
    pub fault: String,
    /// Arguments of `cargo test -p`, of the tests that must find it.
    pub found_by: Vec<String>,
}

/// Reads the planted faults of a workspace, by name.
pub fn planted_faults(workspace: &Path) -> anyhow::Result<Vec<PlantedFault>> {
    let directory = workspace.join(FAULTS);
    let entries = fs::read_dir(&directory).with_context(|| format!("cannot list {FAULTS}"))?;
    let mut faults = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "patch") {
            faults.push(PlantedFault::read(path)?);
        }
    }
    faults.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(faults)
}

impl PlantedFault {
    fn read(patch: PathBuf) -> anyhow::Result<Self> {
        let text = fs::read_to_string(&patch)
            .with_context(|| format!("cannot read {}", patch.display()))?;
        let head = text.split("\ndiff --git").next().unwrap_or_default();
        let field = |name: &str| {
            let lines = head.lines().filter_map(|line| line.strip_prefix(name));
            lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
        };
        let name = patch.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (fault, found_by) = (field("Fault:").join(" "), field("Found by:"));
        ensure!(
            !fault.is_empty() && !found_by.is_empty(),
            "{name} needs lines `Fault:` and `Found by:` before its diff"
        );
        Ok(Self { name, patch, fault, found_by })
    }

    /// Fails if the patch does not fit the workspace any more.
    pub fn check(&self, workspace: &Path) -> anyhow::Result<()> {
        git_apply(workspace, &self.patch, &["--check"])
            .with_context(|| format!("{} does not apply; plant it again", self.name))
    }
}

fn git_apply(directory: &Path, patch: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let patch = patch.to_str().context("the path of the patch is not UTF-8")?;
    git(directory, &[&["apply"], arguments, &[patch]].concat())
}

fn git(directory: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let mut git = Command::new("git");
    let output = git.args(arguments).current_dir(directory).output().context("cannot run git")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// A copy of the workspace's last commit, in which faults are planted one after the other.
#[derive(Debug)]
pub struct FaultSearch {
    copy: PathBuf,
    target: PathBuf,
}

/// A test that found a planted fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultFinding {
    /// The arguments of `cargo test -p`.
    pub test: String,
    /// The time that it ran.
    pub milliseconds: u64,
}

/// The results of the tests that should find a planted fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultTrial {
    pub findings: Vec<FaultFinding>,
    /// Tests that did not find it, each with the reason.
    pub misses: Vec<String>,
}

impl FaultSearch {
    /// Copies the last commit of the workspace, as a checkout that changes only what differs from the
    /// former copy: that alone is built again.
    pub fn prepare(workspace: &Path) -> anyhow::Result<Self> {
        let copy = std::env::temp_dir().join(COPY);
        if !copy.join(".git").exists() {
            fs::create_dir_all(&copy).context("cannot create the copy")?;
            git(&copy, &["init", "--quiet"])?;
        }
        let from = workspace.to_str().context("the path of the workspace is not UTF-8")?;
        git(&copy, &["fetch", "--quiet", from, "HEAD"])?;
        git(&copy, &["checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"])?;
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        Ok(Self { copy, target: target.unwrap_or_else(|| workspace.join("target")) })
    }

    /// Runs the tests that should find these faults, without any. Returns what is wrong with those that
    /// find nothing, or fail already.
    pub fn check_unplanted(&self, faults: &[PlantedFault]) -> anyhow::Result<Vec<String>> {
        let tests: BTreeSet<&String> = faults.iter().flat_map(|fault| &fault.found_by).collect();
        let mut problems = Vec::new();
        for test in tests {
            let ran = self.cargo_test(test, &[])?;
            let text = String::from_utf8_lossy(&ran.stdout);
            let has_passed =
                |line: &str| line.starts_with("test result: ok. ") && !line.contains(" 0 passed");
            // A filter that no test has succeeds as well.
            if !ran.status.success() {
                problems.push(format!("`cargo test -p {test}` fails without a fault:\n{text}"));
            } else if !text.lines().any(has_passed) {
                problems.push(format!("`cargo test -p {test}` runs no test"));
            }
        }
        Ok(problems)
    }

    /// Plants a fault and runs the tests that should find it.
    pub fn find(&self, fault: &PlantedFault) -> anyhow::Result<FaultTrial> {
        git_apply(&self.copy, &fault.patch, &[])
            .with_context(|| format!("{} does not apply to the last commit", fault.name))?;
        let trial = self.find_planted(fault);
        git_apply(&self.copy, &fault.patch, &["--reverse"])?;
        trial
    }

    fn find_planted(&self, fault: &PlantedFault) -> anyhow::Result<FaultTrial> {
        let mut trial = FaultTrial::default();
        for test in &fault.found_by {
            // No test finds a fault that does not compile.
            let built = self.cargo_test(test, &["--no-run"])?;
            if !built.status.success() {
                let text = String::from_utf8_lossy(&built.stderr);
                trial.misses.push(format!("{test} does not compile:\n{text}"));
                continue;
            }
            let started = Instant::now();
            let ran = self.cargo_test(test, &[])?;
            let milliseconds = u64::try_from(started.elapsed().as_millis())?;
            match ran.status.code() {
                Some(0) => trial.misses.push(format!("{test} passes")),
                Some(TIMED_OUT) => trial.misses.push(format!("{test} does not end")),
                _ => trial.findings.push(FaultFinding { test: test.clone(), milliseconds }),
            }
        }
        Ok(trial)
    }

    fn cargo_test(&self, test: &str, more: &[&str]) -> anyhow::Result<Output> {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        // A fault may make a test wait for ever.
        let mut timeout = Command::new("timeout");
        timeout.arg(SECONDS_MAX.to_string()).arg(cargo);
        timeout.args(["test", "-p"]).args(test.split_whitespace()).args(more);
        timeout.current_dir(&self.copy).env("CARGO_TARGET_DIR", &self.target);
        timeout.output().context("cannot run timeout and cargo")
    }
}
