//! The figures in docs/RELIABILITY.md, from the totals of the campaign.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};

use crate::{CampaignTotals, members};

/// The checked-in totals, from the workspace.
pub const TOTALS: &str = "campaign/totals.json";
/// The document that shows them.
pub const DOCUMENT: &str = "docs/RELIABILITY.md";
const BEGIN: &str = "<!-- figures of the campaign -->\n";
const END: &str = "<!-- end of the figures -->";

/// Writes the totals into the document.
pub fn write_document(workspace: &Path, totals: &CampaignTotals) -> anyhow::Result<()> {
    let path = workspace.join(DOCUMENT);
    let current = fs::read_to_string(&path).with_context(|| format!("cannot read {DOCUMENT}"))?;
    fs::write(&path, with_figures(&current, totals)?)
        .with_context(|| format!("cannot write {DOCUMENT}"))
}

/// Fails if the document does not show the totals.
pub fn check_document(workspace: &Path) -> anyhow::Result<()> {
    let totals = CampaignTotals::read(&workspace.join(TOTALS))?;
    let current = fs::read_to_string(workspace.join(DOCUMENT))
        .with_context(|| format!("cannot read {DOCUMENT}"))?;
    ensure!(
        with_figures(&current, &totals)? == current,
        "{DOCUMENT} does not show {TOTALS}: run `cargo run -p roundtable-campaign -- --write-document`"
    );
    Ok(())
}

fn with_figures(document: &str, totals: &CampaignTotals) -> anyhow::Result<String> {
    let lacks = || format!("{DOCUMENT} lacks the lines {BEGIN:?} and {END:?}");
    let (before, rest) = document.split_once(BEGIN).with_context(lacks)?;
    let (_, after) = rest.split_once(END).with_context(lacks)?;
    Ok(format!("{before}{BEGIN}{}{END}{after}", figures(totals)?))
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
