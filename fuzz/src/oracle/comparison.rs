//! Counts the differences between the answers of two commits.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::accepted::{ACCEPTED, AcceptedDifference, Answers};
use super::mismatch::{Mismatch, MismatchKind, mismatches, normalized};
use super::replay::OracleEntry;

/// Unexplained differences that are described.
const DESCRIBED_MAX: usize = 200;

/// What was compared, and the differences.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Documents that were compared.
    pub documents: usize,
    /// Those that both sides executed.
    pub executed: usize,
    /// Those whose answers have data other than null.
    pub answered: usize,
    /// Responses of subscriptions that were compared.
    pub events: usize,
    /// Documents for the writable town after one that changed it on one side only.
    pub skipped: usize,
    /// Documents with each accepted difference.
    pub accepted: BTreeMap<&'static str, usize>,
    /// Documents with other differences.
    pub unexplained: usize,
    descriptions: Vec<String>,
    /// The writable towns differ until they are replaced.
    has_diverged: bool,
}

impl Comparison {
    /// Returns whether a document cannot be compared, and counts it.
    pub(crate) fn is_skipped(&mut self, entry: &OracleEntry) -> bool {
        self.has_diverged &= !entry.renews;
        let is_skipped = self.has_diverged && entry.writes;
        self.skipped += usize::from(is_skipped);
        is_skipped
    }

    /// Compares the answers to a document.
    pub(crate) fn add(&mut self, expected: &OracleEntry, found: &OracleEntry) {
        self.documents += 1;
        let has_data = |entry: &OracleEntry| entry.answer.get("data").is_some();
        self.executed += usize::from(has_data(expected) && has_data(found));
        let data = found.answer.get("data").is_some_and(|data| !data.is_null());
        self.answered += usize::from(data);
        let (writes, variables) = (expected.writes, &expected.variables);
        let mut kinds = Vec::new();
        let mut add = |comparison: &mut Self, query: &str, expected: &Value, found: &Value| {
            let (expected, found) = (normalized(query, expected), normalized(query, found));
            let answers = Answers { query, variables, expected: &expected, found: &found };
            for mismatch in mismatches(&expected, &found) {
                let accepted = AcceptedDifference::of(&mismatch, &answers);
                kinds.push(accepted.map(|accepted| accepted.name));
                let is_refusal = mismatch.kind == MismatchKind::Refusal;
                comparison.has_diverged |= is_refusal && writes;
                if accepted.is_none() {
                    comparison.describe(&mismatch);
                }
            }
        };
        add(self, &expected.query, &expected.answer, &found.answer);
        if expected.events.len() != found.events.len() {
            let events = |entry: &OracleEntry| {
                entry.events.iter().map(|(document, _)| document.clone()).collect::<Value>()
            };
            let answer = |entry| serde_json::json!({ "data": { "events": events(entry) } });
            add(self, "the number of events", &answer(expected), &answer(found));
        }
        for ((query, expected), (_, found)) in expected.events.iter().zip(&found.events) {
            self.events += 1;
            add(self, query, expected, found);
        }
        kinds.sort_unstable();
        kinds.dedup();
        for kind in &kinds {
            match kind {
                Some(name) => *self.accepted.entry(name).or_default() += 1,
                None => self.unexplained += 1,
            }
        }
        if kinds.contains(&None) && self.descriptions.len() < DESCRIBED_MAX {
            let OracleEntry { viewer, query, variables, operation_name, .. } = expected;
            self.descriptions.push(format!(
                "viewer {viewer:?}, operation {operation_name:?}, variables {variables}\n{query}\n\
                 expected {}\nfound {}\n",
                expected.answer, found.answer
            ));
        }
    }

    fn describe(&mut self, mismatch: &Mismatch<'_>) {
        if self.descriptions.len() < DESCRIBED_MAX {
            let Mismatch { kind, place, expected, found } = mismatch;
            let text = |value: Option<&Value>| match value {
                Some(value) => value.to_string().chars().take(600).collect(),
                None => String::from("nothing"),
            };
            self.descriptions.push(format!(
                "{kind:?} at {place:?}: expected {}, found {}",
                text(*expected),
                text(*found)
            ));
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.descriptions.iter().try_for_each(|description| writeln!(f, "{description}"))?;
        let Self { documents, executed, answered, events, skipped, unexplained, .. } = self;
        writeln!(
            f,
            "{documents} documents compared, {executed} executed by both, {answered} with data; \
             {events} events; {skipped} skipped"
        )?;
        for AcceptedDifference { name, section, reason, .. } in ACCEPTED {
            let count = self.accepted.get(name).copied().unwrap_or_default();
            writeln!(f, "{count:>7} {name} ({section}): {reason}")?;
        }
        write!(f, "{unexplained:>7} with a difference that is not accepted")
    }
}
