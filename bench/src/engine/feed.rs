//! A burst of small feed items without index entries, as fan-out writes them.

use anyhow::Result;
use roundtable_test_client::{median, rate};

use super::EngineBench;
use super::data;
use crate::machine;
use crate::report::Better;

/// Items that become durable together.
const PER_SYNC: usize = 1000;

pub(super) fn run(bench: &mut EngineBench) -> Result<()> {
    let count = bench.scale.feed_items;
    let mut rounds: Vec<Vec<f64>> = Vec::new();
    for round in 0..bench.scale.rounds.min(3) {
        let items = data::feed_items(round, count);
        let mut rates = Vec::new();
        for subject in &mut bench.subjects {
            machine::settle(&bench.dir)?;
            rates.push(rate(count, subject.feed(&items, PER_SYNC)?));
        }
        rounds.push(rates);
    }
    let rates = (0..bench.subjects.len())
        .map(|at| median(rounds.iter().filter_map(|round| round.get(at)).copied()));
    bench.report.figure("feed items/s, synced per 1,000", Better::Higher, rates);
    let ratios = rounds.iter().filter_map(|round| match round.as_slice() {
        [ours, _, sqlite] => Some(ours / sqlite),
        _ => None,
    });
    bench.report.at_least("feed", median(ratios), 5.0);
    Ok(())
}
