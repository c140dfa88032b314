//! The totals of all runs of the campaign. The file is checked in, so that later runs go on
//! with new seeds and the documentation shows cumulative figures.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::FaultFinding;

/// Figures of a member, by name: "power cuts", "kills".
pub type Counts = BTreeMap<String, u64>;

/// The totals of all members, and what found the planted faults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignTotals {
    pub members: BTreeMap<String, MemberTotals>,
    /// The findings of the last search, by fault.
    #[serde(default)]
    pub planted: BTreeMap<String, Vec<FaultFinding>>,
}

/// The totals of one member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberTotals {
    /// The first seed that no run has used. A finding does not end the search: the run goes on after it.
    pub next_seed: u64,
    pub milliseconds: u64,
    /// Seeds that found something, ever. Each was a fault of the system or of the campaign.
    pub findings: u64,
    pub counts: Counts,
}

impl CampaignTotals {
    /// Reads the totals; a missing file has none.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_slice(&text)
            .with_context(|| format!("{} has no totals; restore it", path.display()))
    }

    /// Replaces the file, so that a run that is stopped leaves the old or the new one.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        let partial: PathBuf = path.with_extension("partial");
        fs::write(&partial, text)
            .and_then(|()| fs::rename(&partial, path))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    pub fn member(&mut self, name: &str) -> &mut MemberTotals {
        self.members.entry(name.to_owned()).or_default()
    }
}

impl MemberTotals {
    pub fn add(&mut self, counts: Counts) {
        for (name, count) in counts {
            *self.counts.entry(name).or_default() += count;
        }
    }
}
