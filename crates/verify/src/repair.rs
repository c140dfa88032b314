//! Rebuilds data that follows from facts: counters, scores, locks, index keys, tag references, room
//! members, rewards. Anything else is left, with the reason.
//!
//! Each repair reads the items again with strong consistency and writes on condition that they have
//! not changed: beside a running server it does the right thing or nothing. Only two repairs need a
//! quiet store: counters of processors, which must have read the stream to its end, and index
//! entries that the store has lost, because the item is briefly in no index.

mod counters;
mod dependents;
mod keys;
mod locks;

use roundtable_domain_macros::boxed;
use std::collections::BTreeSet;

use roundtable_model::Error as ModelError;
use roundtable_model::table::{self, Condition, Item, ValueRef, attribute, not_exists};

use crate::finding::{Repair, VerifyReport};
use crate::subject::key_text;
use crate::tally::TallyKind;
use crate::{Finding, Result, Verifier};

/// Findings that one pass repairs: about thirty megabytes.
const PASS_FINDINGS_MAX: usize = 100_000;
/// Passes before it gives up.
const PASSES_MAX: u32 = 50;
const UNREPAIRED_MAX: usize = 1_000;

#[derive(Clone, Debug, Default)]
pub struct RepairReport {
    /// Items that were written, or were right when read again.
    pub repaired_count: u64,
    /// The first findings that could not be repaired.
    pub unrepaired: Vec<UnrepairedFinding>,
    /// The check after the repair: clean if everything was repaired.
    pub report: VerifyReport,
}

#[derive(Clone, Debug)]
pub struct UnrepairedFinding {
    pub finding: Finding,
    pub reason: String,
}

/// The outcome of one repair.
pub(crate) enum RepairOutcome {
    Done,
    /// Not repaired, for this reason.
    Skipped(String),
}

impl RepairOutcome {
    fn skipped(reason: impl Into<String>) -> Self {
        Self::Skipped(reason.into())
    }

    fn conflict() -> Self {
        Self::skipped("it changed at the same time")
    }
}

#[boxed]
impl Verifier {
    /// Checks, rebuilds data that follows from facts, and checks again, until nothing repairable is
    /// left.
    pub async fn repair(&self) -> Result<RepairReport> {
        let mut result = RepairReport::default();
        for pass in 1..=PASSES_MAX {
            let mut report =
                self.check_with_limit(PASS_FINDINGS_MAX.max(self.findings_max)).await?;
            // Repairs are changes too, so each pass may have some to apply.
            report.changes_applied = report
                .changes_applied
                .map(|more| more + result.report.changes_applied.unwrap_or(0));
            // A repair that changes nothing would repeat forever.
            let is_unchanged = pass > 1 && report.findings == result.report.findings;
            let (repaired, unrepaired) = match pass {
                PASSES_MAX => (0, result.unrepaired),
                _ if is_unchanged => (0, failed_repairs(&report)),
                _ => self.repair_findings(&report).await?,
            };
            result.repaired_count += repaired;
            result.unrepaired = unrepaired;
            result.report = report;
            if repaired == 0 {
                break;
            }
        }
        result.report.findings.truncate(self.findings_max);
        Ok(result)
    }

    async fn repair_findings(
        &self,
        report: &VerifyReport,
    ) -> Result<(u64, Vec<UnrepairedFinding>)> {
        let (mut repaired, mut unrepaired) = (0, Vec::new());
        let mut targets = BTreeSet::new();
        self.reader.progress.stage("repairing", Some(report.findings.len() as u64));
        for finding in &report.findings {
            self.reader.progress.advance(1);
            // Several findings may concern the same item.
            if !targets.insert(target(finding)) {
                continue;
            }
            match self.apply(&finding.repair, report).await? {
                RepairOutcome::Done => repaired += 1,
                RepairOutcome::Skipped(reason) if unrepaired.len() < UNREPAIRED_MAX => {
                    unrepaired.push(UnrepairedFinding { finding: finding.clone(), reason });
                }
                RepairOutcome::Skipped(_) => {}
            }
        }
        Ok((repaired, unrepaired))
    }

    async fn apply(&self, repair: &Repair, report: &VerifyReport) -> Result<RepairOutcome> {
        let done = match repair {
            Repair::Recount(subject, expected) => self.recount(subject, *expected, report).await,
            Repair::RewriteLock(subject, users) => self.rewrite_lock(subject, users).await,
            Repair::RewriteIndexKeys(key) => self.rewrite_keys(key).await,
            Repair::Reindex(key) => self.reindex(key).await,
            Repair::RewriteDependent(subject, kind) => self.rewrite_dependent(subject, *kind).await,
            Repair::None(reason) => Ok(RepairOutcome::skipped(*reason)),
        };
        match done {
            Ok(outcome) => Ok(outcome),
            Err(ModelError::Table(
                table::Error::ConditionFailed { .. } | table::Error::Cancelled { .. },
            )) => Ok(RepairOutcome::conflict()),
            Err(ModelError::Table(error)) => Err(error.into()),
            // An unreadable item is a finding of its own.
            Err(error) => Ok(RepairOutcome::skipped(format!(
                "an item it follows from cannot be read: {error}"
            ))),
        }
    }
}

/// The findings that remained after their repair.
fn failed_repairs(report: &VerifyReport) -> Vec<UnrepairedFinding> {
    let unrepaired = report.findings.iter().take(UNREPAIRED_MAX).map(|finding| UnrepairedFinding {
        finding: finding.clone(),
        reason: finding.unrepairable_reason().unwrap_or("the repair had no effect").to_owned(),
    });
    unrepaired.collect()
}

/// Identifies a repair, so that each is done once.
fn target(finding: &Finding) -> (u8, String) {
    match &finding.repair {
        Repair::Recount(subject, _) => (0, key_text(&subject.key(TallyKind::Counter))),
        Repair::RewriteLock(subject, _) => (1, key_text(&subject.key(TallyKind::Lock))),
        Repair::RewriteIndexKeys(key) => (2, key_text(key)),
        Repair::Reindex(key) => (3, key_text(key)),
        Repair::RewriteDependent(subject, kind) => (4, key_text(&subject.key(*kind))),
        Repair::None(_) => (5, finding.to_string()),
    }
}

/// Requires these attributes to be as they are in `item`.
fn unchanged<'a>(item: &Item, names: impl IntoIterator<Item = &'a str>) -> Condition {
    let item_exists = roundtable_model::table::exists("PK");
    names.into_iter().fold(item_exists, |condition, name| {
        condition.and(match item.get(name).map(ValueRef::to_value) {
            Some(value) => attribute(name).eq(value),
            None => not_exists(name),
        })
    })
}
