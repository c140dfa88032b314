//! The report of a check, as text and as JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use roundtable_verify::{Finding, RepairReport, VerifyReport};
use serde_json::{Value, json};

use super::VerifyRun;
use crate::error::CommandError;

/// Writes findings with their outcome, then one summary line, then notes.
pub(super) fn write_text(out: &mut impl Write, done: &VerifyRun) -> io::Result<()> {
    let VerifyRun { report, repaired, elapsed } = done;
    for finding in &report.findings {
        write_finding(out, finding, reason(repaired.as_ref(), finding))?;
    }
    let more = report.total() - report.findings.len() as u64;
    if more > 0 {
        writeln!(out, "… and {more} more\n")?;
    }
    if let Some(repaired) = repaired {
        writeln!(out, "{} repaired", repaired.repaired_count)?;
    }
    match report.changes_applied {
        Some(1) => writeln!(out, "1 change applied first")?,
        Some(applied) => writeln!(out, "{applied} changes applied first")?,
        None => {}
    }
    let VerifyReport { items, entries, changes, .. } = report;
    let checked: Vec<String> = report.checked.iter().map(ToString::to_string).collect();
    writeln!(
        out,
        "{items} items, {entries} index entries and {changes} changes in {:.1} s; {}: {}",
        elapsed.as_secs_f64(),
        checked.join(" "),
        summary(report)
    )?;
    report.notes.iter().try_for_each(|note| writeln!(out, "note: {note}"))
}

fn write_finding(out: &mut impl Write, finding: &Finding, reason: Option<&str>) -> io::Result<()> {
    let Finding { invariant, keys, expected, found, .. } = finding;
    let mut keys = keys.iter();
    writeln!(out, "{invariant:<4} {}", keys.next().map_or("?", String::as_str))?;
    keys.try_for_each(|key| writeln!(out, "     and {key}"))?;
    writeln!(out, "     expected {expected}")?;
    writeln!(out, "     found    {found}")?;
    if let Some(reason) = reason {
        writeln!(out, "     left     {reason}")?;
    }
    writeln!(out)
}

/// The reason that a finding was left, or would be.
fn reason<'a>(repaired: Option<&'a RepairReport>, finding: &'a Finding) -> Option<&'a str> {
    let left = repaired.map_or(&[][..], |repaired| &repaired.unrepaired);
    let left = left.iter().find(|left| left.finding == *finding);
    left.map(|left| &*left.reason).or(finding.unrepairable_reason())
}

fn summary(report: &VerifyReport) -> String {
    if report.is_clean() {
        return String::from("nothing found");
    }
    let mut summary = match report.total() {
        1 => String::from("1 finding"),
        total => format!("{total} findings"),
    };
    for (nth, (invariant, total)) in report.totals.iter().enumerate() {
        let separator = if nth == 0 { " (" } else { ", " };
        let _ = write!(summary, "{separator}{invariant} {total}");
    }
    summary + ")"
}

pub(super) fn write_json(out: &mut impl Write, done: &VerifyRun) -> Result<(), CommandError> {
    let VerifyRun { report, repaired, elapsed } = done;
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            json!({
                "invariant": finding.invariant.to_string(),
                "keys": finding.keys,
                "expected": finding.expected,
                "found": finding.found,
                "left": reason(repaired.as_ref(), finding),
            })
        })
        .collect();
    let totals = report.totals.iter().map(|(invariant, total)| (invariant.to_string(), *total));
    let lag = report.lag.iter().map(|lag| {
        json!({
            "processor": lag.processor, "shard": lag.shard, "changes": lag.changes,
            "facts": lag.facts, "trimmed": lag.trimmed,
        })
    });
    let report_json = json!({
        "clean": report.is_clean(),
        "findings": findings,
        "total": report.total(),
        "totals": totals.collect::<std::collections::BTreeMap<_, _>>(),
        "checked": report.checked.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "applied": report.changes_applied,
        "mended": repaired.as_ref().map(|repaired| repaired.repaired_count),
        "items": report.items,
        "indexEntries": report.entries,
        "changes": report.changes,
        "lag": lag.collect::<Vec<_>>(),
        "notes": report.notes,
        "seconds": elapsed.as_secs_f64(),
    });
    serde_json::to_writer_pretty(&mut *out, &report_json)?;
    writeln!(out)?;
    Ok(())
}
