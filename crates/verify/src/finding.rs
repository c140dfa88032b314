//! Findings of a check: the broken invariant, the keys, what was expected and what is there.

use std::collections::BTreeMap;
use std::fmt;

use roundtable_model::UserId;
use roundtable_model::table::Key;

use crate::ProcessorLag;
use crate::subject::TallySubject;
use crate::tally::TallyKind;

/// An invariant that can be checked on a quiet store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Invariant {
    /// Every counter equals the number of facts it counts, and none is negative.
    I1,
    /// Every e-mail, nickname and handle of a live profile has one lock, and no other has any.
    I2,
    /// Every item matches its type, and each index shows what follows from the items.
    I3,
    /// The stream is in order, its images chain, and the last ones match the stored items.
    I4,
    /// Table, indexes and stream hold the same transactions.
    I5,
    /// Derived data matches the facts, and nothing outlives an owner in its partition.
    I6,
    /// No read returns an expired item.
    I10,
    /// A room's messages are numbered in order, and its members are those of its group.
    I15,
    /// No stored data is damaged.
    I16,
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::I1 => "I1",
            Self::I2 => "I2",
            Self::I3 => "I3",
            Self::I4 => "I4",
            Self::I5 => "I5",
            Self::I6 => "I6",
            Self::I10 => "I10",
            Self::I15 => "I15",
            Self::I16 => "I16",
        })
    }
}

/// The repair of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Repair {
    /// Counts the facts again; where an index may be behind, they must add up to this number.
    Recount(TallySubject, i128),
    /// Reads again which of these users carries a name, and gives the lock to that user.
    RewriteLock(TallySubject, Vec<UserId>),
    RewriteIndexKeys(Key),
    /// Removes an item from its indexes and puts it back.
    Reindex(Key),
    /// Writes an item that another one requires, or deletes it if none does.
    RewriteDependent(TallySubject, TallyKind),
    /// Not repairable, for this reason.
    None(&'static str),
}

/// Characters of a key or value that a finding shows: damaged text may have any length.
const SHOWN_CHARS_MAX: usize = 400;

/// Makes text safe to print on one line of a terminal.
fn printable(text: String) -> String {
    let is_printable = text.len() <= SHOWN_CHARS_MAX && !text.chars().any(char::is_control);
    if is_printable {
        return text;
    }
    let mut key_text = String::new();
    for char in text.chars().take(SHOWN_CHARS_MAX) {
        if char.is_control() {
            key_text.extend(char.escape_default());
        } else {
            key_text.push(char);
        }
    }
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        key_text.push('…');
    }
    key_text
}

/// A violation of an invariant, and its repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub invariant: Invariant,
    /// The items concerned, the wrong one first: `USER#bo / COUNTER#FOLLOWERS`.
    pub keys: Vec<String>,
    pub expected: String,
    pub found: String,
    pub(crate) repair: Repair,
}

impl Finding {
    pub(crate) fn new(
        invariant: Invariant,
        key: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
        repair: Repair,
    ) -> Self {
        let [key, expected, found] = [key.into(), expected.into(), found.into()].map(printable);
        Self { invariant, keys: vec![key], expected, found, repair }
    }

    pub(crate) fn with_key(mut self, key: impl Into<String>) -> Self {
        self.keys.push(printable(key.into()));
        self
    }

    /// The reason why it cannot be repaired; `None` when it can be.
    pub fn unrepairable_reason(&self) -> Option<&'static str> {
        match self.repair {
            Repair::None(reason) => Some(reason),
            _ => None,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { invariant, keys, expected, found, .. } = self;
        write!(f, "{invariant} {}: expected {expected}; found {found}", keys.join(", "))
    }
}

/// Collects findings: counts all, stores the first ones.
#[derive(Debug)]
pub(crate) struct Findings {
    first: Vec<Finding>,
    max: usize,
    totals: BTreeMap<Invariant, u64>,
}

impl Findings {
    pub(crate) const fn new(max: usize) -> Self {
        Self { first: Vec::new(), max, totals: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, finding: Finding) {
        *self.totals.entry(finding.invariant).or_default() += 1;
        if self.first.len() < self.max {
            self.first.push(finding);
        }
    }

    /// Adds a finding unless the same is there already.
    pub(crate) fn add_once(&mut self, finding: Finding) {
        if !self.first.contains(&finding) {
            self.add(finding);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.totals.is_empty()
    }

    pub(crate) fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.add(finding));
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (invariant, total) in other.totals {
            *self.totals.entry(invariant).or_default() += total;
        }
        let room = self.max.saturating_sub(self.first.len());
        self.first.extend(other.first.into_iter().take(room));
    }

    /// Returns the findings by invariant and key, and the number for each invariant.
    pub(crate) fn finish(mut self) -> (Vec<Finding>, BTreeMap<Invariant, u64>) {
        let rank =
            |finding: &Finding| (finding.invariant, finding.keys.clone(), finding.expected.clone());
        self.first.sort_by_cached_key(rank);
        (self.first, self.totals)
    }
}

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct VerifyReport {
    /// Findings by invariant and key, up to the configured number.
    pub findings: Vec<Finding>,
    /// All findings of each invariant, those beyond the configured number included.
    pub totals: BTreeMap<Invariant, u64>,
    pub checked: Vec<Invariant>,
    /// Items read, of all tables; then index entries and stream changes.
    pub items: u64,
    pub entries: u64,
    pub changes: u64,
    /// Changes that processors applied before the check, once per processor; `None` when they did
    /// not run.
    pub changes_applied: Option<u64>,
    /// Processors that have not read the stream to its end.
    pub lag: Vec<ProcessorLag>,
    /// Remarks for readers of the findings.
    pub notes: Vec<String>,
    /// Dead letters of the counting processor.
    pub(crate) uncounted: u64,
    /// True if expired items were deleted before the check.
    pub(crate) is_swept: bool,
}

impl VerifyReport {
    /// The number of findings, those beyond the configured number included.
    pub fn total(&self) -> u64 {
        self.totals.values().sum()
    }

    pub fn is_clean(&self) -> bool {
        self.totals.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_text_cannot_control_the_terminal() {
        assert_eq!(printable("USER#ana / PROFILE#ana".into()), "USER#ana / PROFILE#ana");
        assert_eq!(printable("a\u{1b}[2Jb\n".into()), "a\\u{1b}[2Jb\\n");
        let long = printable("é".repeat(1_000));
        assert_eq!(long.chars().count(), SHOWN_CHARS_MAX + 1);
    }
}
