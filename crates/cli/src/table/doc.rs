//! `roundtable table doc`: prints the design, or checks a copy of it.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use roundtable_model::SCHEMA;
use roundtable_planning::doc;

use crate::CommandOutcome;
use crate::error::CommandError;

#[derive(Args, Debug)]
#[command(after_help = "After a change of the schema:\n  \
                        roundtable table doc --write docs/TABLE.md")]
pub(crate) struct DocArgs {
    /// Writes to FILE instead of standard output
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    write: Option<PathBuf>,
    /// Checks that FILE is current; if not, prints the first differing line and exits with status 1
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

impl DocArgs {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<CommandOutcome, CommandError> {
        let text = doc::render(SCHEMA);
        if let Some(path) = self.write {
            fs::write(&path, text).map_err(CommandError::file(&path))?;
        } else if let Some(path) = self.check {
            let found = fs::read_to_string(&path).map_err(CommandError::file(&path))?;
            if let Some(difference) = first_difference(&found, &text) {
                let path = path.display();
                let _ = writeln!(
                    io::stderr(),
                    "{path}:{difference}\n\
                     {path} differs from the schema; update it with: roundtable table doc --write {path}"
                );
                return Ok(CommandOutcome::Findings);
            }
        } else {
            write!(out, "{text}")?;
        }
        Ok(CommandOutcome::Success)
    }
}

/// The number of the first line that differs, and both lines.
fn first_difference(found: &str, expected: &str) -> Option<String> {
    if found == expected {
        return None;
    }
    // Unlike `lines()`, this notices a missing line end at the end.
    let mut pairs = (found.split('\n').map(Some).chain([None]))
        .zip(expected.split('\n').map(Some).chain([None]))
        .enumerate();
    let (at, (found, expected)) = pairs.find(|(_, (found, expected))| found != expected)?;
    let shown =
        |line: Option<&str>| line.map_or(String::from("the end"), |line| format!("{line:?}"));
    Some(format!("{}: {} should be {}", at + 1, shown(found), shown(expected)))
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn the_first_line_that_differs_is_shown() {
        let difference = |found, expected| first_difference(found, expected).unwrap();
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(difference("a\nb\nc\n", "a\nx\ny\n"), r#"2: "b" should be "x""#);
        assert_eq!(difference("a\n", "a\nb\n"), r#"2: "" should be "b""#);
        assert_eq!(difference("a\nb", "a\nb\n"), r#"3: the end should be """#);
        assert_eq!(difference("a\r\n", "a\n"), r#"1: "a\r" should be "a""#);
        assert_eq!(difference("", "a"), r#"1: "" should be "a""#);
    }
}
