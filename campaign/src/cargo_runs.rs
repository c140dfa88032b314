//! Programs of the workspace that the campaign builds and runs: the server, tests that take seeds from the
//! environment, and fuzz targets.

use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::totals::Counts;
use crate::workspace;

/// Lines of a failed test's output in a finding.
const LINES_MAX: usize = 60;
/// The time that a fuzz target runs for one seed.
const MINUTES: &str = "0.5";

/// A test, and the variables that set its first seed and their number.
#[derive(Debug)]
pub(crate) struct CargoTest {
    pub(crate) package: &'static str,
    pub(crate) target: &'static str,
    pub(crate) filter: &'static str,
    /// `None` if nothing decides what it does.
    pub(crate) seed: Option<&'static str>,
    pub(crate) count: &'static str,
    pub(crate) unit: &'static str,
}

impl CargoTest {
    pub(crate) fn run(&self, seeds: Range<u64>) -> Result<Counts, String> {
        let number = seeds.end - seeds.start;
        let mut variables = vec![(self.count, number)];
        variables.extend(self.seed.map(|name| (name, seeds.start)));
        let arguments =
            ["test", "--release", "-p", self.package, "--test", self.target, self.filter];
        let mut command = cargo(&arguments);
        command.envs(variables.iter().map(|(name, value)| (name, value.to_string())));
        let (succeeded, text) = run(&mut command)?;
        // A filter that no test has would succeed as well.
        if succeeded && text.contains("1 passed") {
            return Ok(Counts::from([(self.unit.to_owned(), number)]));
        }
        let set = variables.iter().map(|(name, value)| format!("{name}={value} "));
        let repeat = format!("{}cargo {}", set.collect::<String>(), arguments.join(" "));
        Err(format!("{}\nTo repeat it: {repeat}", last_lines(&text)))
    }
}

/// A fuzz target. A seed is half a minute of it.
#[derive(Debug)]
pub(crate) struct FuzzTargetRun {
    /// Its program and arguments.
    pub(crate) program: &'static [&'static str],
}

impl FuzzTargetRun {
    pub(crate) fn run(&self, seed: u64) -> Result<Counts, String> {
        let seed = seed.to_string();
        let mut arguments = vec!["run", "--release", "-p", "roundtable-fuzz", "--bin"];
        let mut program = self.program.iter().copied();
        arguments.extend(program.next());
        arguments.push("--");
        arguments.extend(program);
        arguments.extend([MINUTES, seed.as_str()]);
        let (succeeded, text) = run(&mut cargo(&arguments))?;
        let done = text.lines().find_map(|line| line.strip_prefix("done: ")?.split(' ').next());
        match done.and_then(|count| count.parse().ok()) {
            Some(count) if succeeded => Ok(Counts::from([("inputs".to_owned(), count)])),
            _ => {
                let repeat = arguments.join(" ");
                Err(format!("{}\nTo repeat it: cargo {repeat}", last_lines(&text)))
            }
        }
    }
}

/// Builds the program `roundtable`, optimized, and returns where it is.
pub(crate) fn build_program() -> Result<PathBuf, String> {
    let arguments =
        ["build", "--release", "-p", "roundtable", "--message-format", "json-render-diagnostics"];
    let output =
        cargo(&arguments).output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err(last_lines(&String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executable = |message: Value| message.get("executable")?.as_str().map(PathBuf::from);
    let mut programs = messages.filter_map(executable);
    programs.next_back().ok_or_else(|| String::from("cargo has built no program"))
}

fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    cargo.args(arguments).current_dir(workspace());
    cargo
}

/// Runs a command; returns whether it succeeded, and what it printed.
fn run(command: &mut Command) -> Result<(bool, String), String> {
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    Ok((output.status.success(), text))
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(LINES_MAX)..).unwrap_or_default().join("\n")
}
