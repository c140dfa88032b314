//! Fuzzes the lines of an export. What is read is written again, and read again the same.

use crate::response_checks::hash;
use crate::runner::Coverage;

// The module is private to the command line.
#[path = "../../../crates/cli/src/transfer/dynamodb_json.rs"]
mod dynamodb_json;

/// Reads an input as lines of an export. Panics on a finding.
pub fn exports(bytes: &[u8]) -> Coverage {
    let mut coverage = Coverage::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        match dynamodb_json::read(line) {
            Ok(item) => {
                let written = dynamodb_json::write(&item).to_string();
                let again = dynamodb_json::read(written.as_bytes());
                assert_eq!(again.as_ref(), Ok(&item), "{written}");
                coverage.extend(item.iter().map(|(_, value)| hash(&kind(&format!("{value:?}")))));
            }
            Err(problem) => drop(coverage.insert(hash(&kind(&problem)))),
        }
    }
    coverage
}

/// The letters at the beginning of a text.
fn kind(text: &str) -> String {
    text.chars().filter(|char| !char.is_ascii_digit()).take(24).collect()
}
