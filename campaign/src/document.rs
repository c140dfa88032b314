//! The tables in docs/RELIABILITY.md: the totals of the campaign, and the attacks.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};

use crate::{CampaignTotals, PlantedFault, attack_names, members, planted_faults};

/// The checked-in totals, from the workspace.
pub const TOTALS: &str = "campaign/totals.json";
/// The document that shows them.
pub const DOCUMENT: &str = "docs/RELIABILITY.md";
/// The lines around the figures of members, around the attacks, and around the planted faults.
const FIGURES: [&str; 2] = ["<!-- figures of the campaign -->\n", "<!-- end of the figures -->"];
const ATTACKS: [&str; 2] = ["<!-- attacks -->\n", "<!-- end of the attacks -->"];
const PLANTED: [&str; 2] = ["<!-- planted faults -->\n", "<!-- end of the planted faults -->"];

/// Writes the totals, the attacks and the planted faults into the document.
pub fn write_document(workspace: &Path, totals: &CampaignTotals) -> anyhow::Result<()> {
    let path = workspace.join(DOCUMENT);
    let current = fs::read_to_string(&path).with_context(|| format!("cannot read {DOCUMENT}"))?;
    fs::write(&path, with_tables(workspace, &current, totals)?)
        .with_context(|| format!("cannot write {DOCUMENT}"))
}

/// Fails if the document does not show the totals.
pub fn check_document(workspace: &Path) -> anyhow::Result<()> {
    let totals = CampaignTotals::read(&workspace.join(TOTALS))?;
    let current = fs::read_to_string(workspace.join(DOCUMENT))
        .with_context(|| format!("cannot read {DOCUMENT}"))?;
    ensure!(
        with_tables(workspace, &current, &totals)? == current,
        "{DOCUMENT} does not show {TOTALS}, or other attacks: run `cargo run -p roundtable-campaign -- --write-document`"
    );
    Ok(())
}

fn with_tables(
    workspace: &Path,
    document: &str,
    totals: &CampaignTotals,
) -> anyhow::Result<String> {
    let document = with_table(document, FIGURES, &figures(totals)?)?;
    let document = with_table(&document, ATTACKS, &attacks()?)?;
    with_table(&document, PLANTED, &planted(&planted_faults(workspace)?, totals)?)
}

/// Replaces what is between two lines.
fn with_table(document: &str, [begin, end]: [&str; 2], table: &str) -> anyhow::Result<String> {
    let lacks = || format!("{DOCUMENT} lacks the lines {begin:?} and {end:?}");
    let (before, rest) = document.split_once(begin).with_context(lacks)?;
    let (_, after) = rest.split_once(end).with_context(lacks)?;
    Ok(format!("{before}{begin}{table}{end}{after}"))
}

fn attacks() -> anyhow::Result<String> {
    let mut text = String::from("| attack | what must hold |\n|---|---|\n");
    for (name, expected) in attack_names() {
        writeln!(text, "| `{name}` | {expected} |")?;
    }
    Ok(text)
}

fn figures(totals: &CampaignTotals) -> anyhow::Result<String> {
    let mut text =
        String::from("| member | seeds | hours | figures | findings |\n|---|---|---|---|---|\n");
    for member in members().all() {
        let Some(known) = totals.members.get(member.name) else {
            writeln!(text, "| `{}` | 0 | 0.0 | | 0 |", member.name)?;
            continue;
        };
        let counts = known.counts.iter().map(|(name, count)| format!("{} {name}", grouped(*count)));
        let tenths = known.milliseconds.div_ceil(360_000);
        writeln!(
            text,
            "| `{}` | {} | {}.{} | {} | {} |",
            member.name,
            grouped(known.next_seed),
            tenths / 10,
            tenths % 10,
            counts.collect::<Vec<_>>().join(", "),
            known.findings,
        )?;
    }
    Ok(text)
}

fn planted(faults: &[PlantedFault], totals: &CampaignTotals) -> anyhow::Result<String> {
    let mut text = String::from("| fault | found by | seconds |\n|---|---|---|\n");
    for fault in faults {
        let findings = totals.planted.get(&fault.name).map(Vec::as_slice).unwrap_or_default();
        for test in &fault.found_by {
            let finding = findings.iter().find(|finding| finding.test == *test);
            let seconds = finding.map(|finding| finding.milliseconds.div_ceil(1_000).to_string());
            let seconds = seconds.unwrap_or_else(|| String::from("not searched"));
            writeln!(text, "| {} | `{test}` | {seconds} |", fault.fault)?;
        }
    }
    Ok(text)
}

/// Groups digits by thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
