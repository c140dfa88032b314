//! What was found wrong: which invariant, where, what was expected and what is there.

use std::collections::BTreeMap;
use std::fmt;

use roundtable_model::UserId;
use roundtable_model::table::Key;

use crate::Lag;
use crate::books::Book;
use crate::subject::Subject;

/// An invariant of RELIABILITY.md that a quiet store can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Invariant {
    /// Every counter equals the number of facts it counts, and none is negative.
    I1,
    /// Every e-mail, nickname and handle of a live profile has one lock, and no other has any.
    I2,
    /// Every item is what its type says, and each index shows what follows from the items.
    I3,
    /// The stream is in order, its images chain, and they end in what is stored.
    I4,
    /// Base, indexes and stream hold the same transactions.
    I5,
    /// What is derived is what follows from the facts.
    I6,
    /// Nothing that has expired is seen.
    I10,
    /// A room's messages are numbered in their order, and whoever is in its group is in it.
    I15,
    /// Nothing stored is damaged.
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

/// What would mend a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Counting the facts again; where an index may be behind, they must come to this.
    Count(Subject, i128),
    /// Looking again who carries a name, among these and the lock's owner.
    Lock(Subject, Vec<UserId>),
    /// Rewriting the index keys that follow from an item's fields.
    Keys(Key),
    /// Taking an item out of its indexes and putting it back.
    Entries(Key),
    /// Writing what follows from something else, or taking away what does not.
    Follow(Subject, Book),
    /// Nothing that could be derived; why.
    None(&'static str),
}

/// Characters of a key or value that a finding shows: a damaged one may be of any length.
const SHOWN_CHARS_MAX: usize = 400;

/// A text that fits on a line of a terminal, and does nothing to it.
fn legible(text: String) -> String {
    let plain = text.len() <= SHOWN_CHARS_MAX && !text.chars().any(char::is_control);
    if plain {
        return text;
    }
    let mut shown = String::new();
    for char in text.chars().take(SHOWN_CHARS_MAX) {
        if char.is_control() {
            shown.extend(char.escape_default());
        } else {
            shown.push(char);
        }
    }
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// Something that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it breaks.
    pub invariant: Invariant,
    /// Where, the item that is wrong first: `USER#bo / COUNTER#FOLLOWERS`.
    pub keys: Vec<String>,
    /// What should be there.
    pub expected: String,
    /// What is.
    pub found: String,
    pub(crate) remedy: Remedy,
}

impl Finding {
    pub(crate) fn new(
        invariant: Invariant,
        key: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
        remedy: Remedy,
    ) -> Self {
        let [key, expected, found] = [key.into(), expected.into(), found.into()].map(legible);
        Self { invariant, keys: vec![key], expected, found, remedy }
    }

    /// Names one more item that it is about.
    pub(crate) fn with_key(mut self, key: impl Into<String>) -> Self {
        self.keys.push(legible(key.into()));
        self
    }

    /// Why a repair would leave it as it is; `None` when it can be derived from facts.
    pub fn beyond_repair(&self) -> Option<&'static str> {
        match self.remedy {
            Remedy::None(reason) => Some(reason),
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

/// Findings as they come in: all are counted, the first ones kept.
#[derive(Debug)]
pub(crate) struct Findings {
    kept: Vec<Finding>,
    kept_max: usize,
    totals: BTreeMap<Invariant, u64>,
}

impl Findings {
    pub(crate) const fn new(kept_max: usize) -> Self {
        Self { kept: Vec::new(), kept_max, totals: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, finding: Finding) {
        *self.totals.entry(finding.invariant).or_default() += 1;
        if self.kept.len() < self.kept_max {
            self.kept.push(finding);
        }
    }

    /// Adds a finding that may have been found already.
    pub(crate) fn add_once(&mut self, finding: Finding) {
        if !self.kept.contains(&finding) {
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
        let room = self.kept_max.saturating_sub(self.kept.len());
        self.kept.extend(other.kept.into_iter().take(room));
    }

    /// The findings in the order of invariants and keys, and how many there are of each.
    pub(crate) fn finish(mut self) -> (Vec<Finding>, BTreeMap<Invariant, u64>) {
        let rank =
            |finding: &Finding| (finding.invariant, finding.keys.clone(), finding.expected.clone());
        self.kept.sort_by_cached_key(rank);
        (self.kept, self.totals)
    }
}

/// What a check came to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What is wrong, at most as many as asked for, by invariant and key.
    pub findings: Vec<Finding>,
    /// How many there are of each invariant, those that were not kept included.
    pub totals: BTreeMap<Invariant, u64>,
    /// What was checked.
    pub checked: Vec<Invariant>,
    /// Items of all tables that were looked at.
    pub items: u64,
    /// Entries of indexes that were looked at.
    pub entries: u64,
    /// Changes of the stream that were looked at.
    pub changes: u64,
    /// Changes that processors applied first, each of them once for every processor that wanted it;
    /// `None` when they were not let.
    pub applied: Option<u64>,
    /// Processors that have not read the stream to its end.
    pub lag: Vec<Lag>,
    /// What a reader of the findings should know.
    pub notes: Vec<String>,
    /// Changes among the dead letters that are still to be counted.
    pub(crate) parked_counts: u64,
    /// Whether what has expired was taken away, and counted, before the look.
    pub(crate) is_swept: bool,
}

impl Report {
    /// How many findings there are, those that were not kept included.
    pub fn total(&self) -> u64 {
        self.totals.values().sum()
    }

    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.totals.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_does_nothing_to_a_terminal() {
        assert_eq!(legible("USER#ana / PROFILE#ana".into()), "USER#ana / PROFILE#ana");
        assert_eq!(legible("a\u{1b}[2Jb\n".into()), "a\\u{1b}[2Jb\\n");
        let long = legible("é".repeat(1_000));
        assert_eq!(long.chars().count(), SHOWN_CHARS_MAX + 1);
    }
}
