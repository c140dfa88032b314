//! The campaign: everything that searches for faults for hours, behind one command. Each member of it
//! takes seeds, so that each finding can be repeated.

mod attacks;
mod cargo_runs;
mod document;
mod members;
mod panics;
mod planted;
mod simulation;
mod totals;

pub use attacks::{AttackFigures, AttackSize, attack, attack_names};
pub use document::{DOCUMENT, TOTALS, check_document, write_document};
pub use members::{Member, Members, members};
pub use planted::{FaultFinding, FaultSearch, FaultTrial, PlantedFault, planted_faults};
pub use simulation::{SimulationReport, simulate};
pub use totals::{CampaignTotals, Counts, MemberTotals};

use std::path::{Path, PathBuf};

/// The directory of the workspace.
pub fn workspace() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().map_or_else(|| own.to_path_buf(), Path::to_path_buf)
}
