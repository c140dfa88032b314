//! Rebuilds what follows from facts: counters, scores, locks, index keys, references, seats, rewards. What does not follow from
//! anything is left, with the reason.
//!
//! Each mending looks again, strongly, at what it is about, and writes on condition that this has not
//! changed: beside a running server it does the right thing or nothing. Only two need a quiet store: what
//! processors keep (they must have read the stream to its end), and an index entry that the store itself
//! has lost (for a moment, the item is in no index).

mod counters;
mod follow;
mod keys;
mod locks;

use std::collections::BTreeSet;

use roundtable_model::Error as ModelError;
use roundtable_model::table::{self, Condition, Item, ValueRef, attribute, not_exists};

use crate::books::Book;
use crate::finding::{Remedy, Report};
use crate::subject::shown;
use crate::{Finding, Result, Verify};

/// Findings that one round mends: about thirty megabytes.
const ROUND_MAX: usize = 100_000;
/// Rounds before it gives up: what was mended so often breaks again at once.
const ROUNDS_MAX: u32 = 50;
/// What is left that a report tells.
const LEFT_MAX: usize = 1_000;

/// What a repair came to.
#[derive(Clone, Debug, Default)]
pub struct Repaired {
    /// How many items were written, or were found as they should be at the second look.
    pub mended: u64,
    /// What could not be mended, the first of it.
    pub left: Vec<Left>,
    /// The check after everything that could be done: clean, unless something was left.
    pub report: Report,
}

/// What a repair left as it is.
#[derive(Clone, Debug)]
pub struct Left {
    /// What is wrong.
    pub finding: Finding,
    /// Why it was left.
    pub reason: String,
}

/// How one mending went.
pub(crate) enum Mended {
    /// It is as it should be.
    Done,
    /// It was left; why.
    Left(String),
}

impl Mended {
    fn left(reason: impl Into<String>) -> Self {
        Self::Left(reason.into())
    }

    /// Somebody else was quicker.
    fn moved() -> Self {
        Self::left("it changed at the same time")
    }
}

impl Verify {
    /// Checks, rebuilds what follows from facts, and checks again, until nothing is left that can be
    /// mended.
    pub async fn repair(&self) -> Result<Repaired> {
        let mut repaired = Repaired::default();
        for round in 1..=ROUNDS_MAX {
            let mut report = self.check_keeping(ROUND_MAX.max(self.findings_max)).await?;
            // What is mended is a change, too: each round may have something to apply.
            report.applied = report.applied.map(|more| more + repaired.report.applied.unwrap_or(0));
            // What was mended and is still wrong would be so for ever.
            let in_vain = round > 1 && report.findings == repaired.report.findings;
            let (mended, left) = match round {
                ROUNDS_MAX => (0, repaired.left),
                _ if in_vain => (0, in_vain_of(&report)),
                _ => self.mend(&report).await?,
            };
            repaired.mended += mended;
            repaired.left = left;
            repaired.report = report;
            if mended == 0 {
                break;
            }
        }
        repaired.report.findings.truncate(self.findings_max);
        Ok(repaired)
    }

    async fn mend(&self, report: &Report) -> Result<(u64, Vec<Left>)> {
        let (mut mended, mut left) = (0, Vec::new());
        let mut seen = BTreeSet::new();
        self.reader.progress.stage("mending", Some(report.findings.len() as u64));
        for finding in &report.findings {
            self.reader.progress.advance(1);
            // Several findings may be about the same item.
            if !seen.insert(target(finding)) {
                continue;
            }
            match self.apply(&finding.remedy, report).await? {
                Mended::Done => mended += 1,
                Mended::Left(reason) if left.len() < LEFT_MAX => {
                    left.push(Left { finding: finding.clone(), reason });
                }
                Mended::Left(_) => {}
            }
        }
        Ok((mended, left))
    }

    async fn apply(&self, remedy: &Remedy, report: &Report) -> Result<Mended> {
        let done = match remedy {
            Remedy::Count(subject, expected) => self.recount(subject, *expected, report).await,
            Remedy::Lock(subject, users) => self.relock(subject, users).await,
            Remedy::Keys(key) => self.rewrite_keys(key).await,
            Remedy::Entries(key) => self.list_again(key).await,
            Remedy::Follow(subject, book) => self.follow(subject, *book).await,
            Remedy::None(reason) => Ok(Mended::left(*reason)),
        };
        match done {
            Ok(mended) => Ok(mended),
            Err(ModelError::Table(
                table::Error::ConditionFailed { .. } | table::Error::Cancelled { .. },
            )) => Ok(Mended::moved()),
            Err(ModelError::Table(error)) => Err(error.into()),
            // What it follows from cannot be read, which is a finding of its own.
            Err(error) => Ok(Mended::left(format!("what it follows from cannot be read: {error}"))),
        }
    }
}

/// What was written as it should be, and is not.
fn in_vain_of(report: &Report) -> Vec<Left> {
    let left = report.findings.iter().take(LEFT_MAX).map(|finding| Left {
        finding: finding.clone(),
        reason: finding.beyond_repair().unwrap_or("it was mended, and is as it was").to_owned(),
    });
    left.collect()
}

/// What tells mendings apart.
fn target(finding: &Finding) -> (u8, String) {
    match &finding.remedy {
        Remedy::Count(subject, _) => (0, shown(&subject.key(Book::Count))),
        Remedy::Lock(subject, _) => (1, shown(&subject.key(Book::Lock))),
        Remedy::Keys(key) => (2, shown(key)),
        Remedy::Entries(key) => (3, shown(key)),
        Remedy::Follow(subject, book) => (4, shown(&subject.key(*book))),
        Remedy::None(_) => (5, finding.to_string()),
    }
}

/// These attributes are still as they were in `item`.
fn unchanged<'a>(item: &Item, names: impl IntoIterator<Item = &'a str>) -> Condition {
    let here = roundtable_model::table::exists("PK");
    names.into_iter().fold(here, |condition, name| {
        condition.and(match item.get(name).map(ValueRef::to_value) {
            Some(value) => attribute(name).eq(value),
            None => not_exists(name),
        })
    })
}
