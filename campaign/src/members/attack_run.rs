//! All attacks at full size, against the optimized program.

use crate::attacks::{AttackSize, attack};
use crate::cargo_runs::build_program;
use crate::totals::Counts;

/// Runs all attacks in the order of a seed. It takes minutes, so the figures of each are shown as they come.
#[expect(clippy::print_stderr, reason = "it reports what it measures")]
pub(super) fn run(seed: u64) -> Result<Counts, String> {
    let program = build_program()?;
    let figures = attack(&program, &AttackSize::FULL, seed, &mut |figures| eprintln!("{figures}"))?;
    let pages = figures.iter().map(|figures| figures.pages as u64).sum();
    Ok(Counts::from([
        ("attacks".to_owned(), figures.len() as u64),
        ("pages read beside them".to_owned(), pages),
    ]))
}
