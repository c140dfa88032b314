//! Planted faults: deliberate bugs as patches, each with the tests that find it. They show that the
//! search would notice.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};

/// The directory of the patches, in the workspace.
const FAULTS: &str = "campaign/faults";
/// The copy that faults are planted in. Always the same, so that little is built again.
const COPY: &str = "roundtable-planted-faults";

/// A deliberate bug.
#[derive(Clone, Debug)]
pub struct PlantedFault {
    pub name: String,
    pub patch: PathBuf,
    /// The fault, in a sentence.
    pub fault: String,
    /// Arguments of `cargo test`, of the tests that find it.
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
    let mut git = Command::new("git");
    git.arg("apply").args(arguments).arg(patch).current_dir(directory);
    // A copy is not a repository, nor part of the one around it.
    let output = git.output().context("cannot run git")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// A copy of the workspace's last commit, in which faults are planted one after the other.
#[derive(Debug)]
pub struct FaultSearch {
    copy: PathBuf,
    target: PathBuf,
}

impl FaultSearch {
    /// Copies the last commit of the workspace.
    pub fn prepare(workspace: &Path) -> anyhow::Result<Self> {
        let copy = std::env::temp_dir().join(COPY);
        if copy.exists() {
            fs::remove_dir_all(&copy).context("cannot remove the former copy")?;
        }
        fs::create_dir_all(&copy).context("cannot create the copy")?;
        let archive = copy.join("commit.tar");
        let mut git = Command::new("git");
        git.args(["archive", "--format=tar", "--output"]).arg(&archive).arg("HEAD");
        succeeded(&git.current_dir(workspace).output().context("cannot run git")?)?;
        let mut tar = Command::new("tar");
        succeeded(
            &tar.arg("xf").arg(&archive).current_dir(&copy).output().context("cannot run tar")?,
        )?;
        fs::remove_file(&archive).context("cannot remove the archive")?;
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        Ok(Self { copy, target: target.unwrap_or_else(|| workspace.join("target")) })
    }

    /// Plants a fault and runs the tests that should find it, until one does. Returns which, and how
    /// long it took.
    pub fn find(&self, fault: &PlantedFault) -> anyhow::Result<Option<String>> {
        git_apply(&self.copy, &fault.patch, &[])
            .with_context(|| format!("{} does not apply to the last commit", fault.name))?;
        let found = self.find_planted(fault);
        git_apply(&self.copy, &fault.patch, &["--reverse"])?;
        found
    }

    fn find_planted(&self, fault: &PlantedFault) -> anyhow::Result<Option<String>> {
        for test in &fault.found_by {
            // No test finds a fault that does not compile.
            let built = self.cargo_test(test, &["--no-run"])?;
            if !built.status.success() {
                bail!(
                    "{} does not compile:\n{}",
                    fault.name,
                    String::from_utf8_lossy(&built.stderr)
                );
            }
            let started = Instant::now();
            let ran = self.cargo_test(test, &[])?;
            if !ran.status.success() {
                let seconds = started.elapsed().as_secs_f64();
                return Ok(Some(format!("found in {seconds:.1} s by `cargo test {test}`")));
            }
        }
        Ok(None)
    }

    fn cargo_test(&self, test: &str, more: &[&str]) -> anyhow::Result<Output> {
        let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
        cargo.arg("test").args(test.split_whitespace()).args(more);
        cargo.current_dir(&self.copy).env("CARGO_TARGET_DIR", &self.target);
        cargo.output().context("cannot run cargo")
    }
}

fn succeeded(output: &Output) -> anyhow::Result<()> {
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
