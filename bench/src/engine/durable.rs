//! Durable full writes: item, two index entries and a stream record, on disk before the acknowledgement.

use anyhow::Result;
use roundtable_test_client::median;

use super::EngineBench;
use crate::machine;
use crate::report::Better;

/// Callers, and the required ratio to SQLite's rate.
const BARS: [(usize, f64); 3] = [(1, 1.3), (16, 2.0), (128, 4.0)];

pub(super) fn run(bench: &mut EngineBench) -> Result<()> {
    for (callers, target) in BARS {
        bench.tune(callers)?;
        let mut rounds = Vec::new();
        for _ in 0..bench.scale.rounds.min(3) {
            let pool = bench.pool();
            let mut stats = Vec::new();
            for subject in &mut bench.subjects {
                machine::settle(&bench.dir)?;
                let mut written = subject.write_for(callers, bench.scale.write_window, &pool)?;
                stats.push((written.per_second(), written.waits.quantile_us(0.99) / 1e3));
            }
            rounds.push(stats);
        }
        let of_subjects = |figure: fn(&(f64, f64)) -> f64| {
            (0..bench.subjects.len())
                .map(|at| median(rounds.iter().filter_map(|round| round.get(at)).map(figure)))
                .collect::<Vec<_>>()
        };
        let plural = if callers == 1 { "caller" } else { "callers" };
        let (rates, waits) = (of_subjects(|stats| stats.0), of_subjects(|stats| stats.1));
        let report = &mut bench.report;
        report.figure(format!("durable writes/s, {callers} {plural}"), Better::Higher, rates);
        report.figure(format!("  their p99 wait, ms, {callers} {plural}"), Better::Lower, waits);
        let ratios = rounds.iter().filter_map(|round| match round.as_slice() {
            [ours, _, sqlite] => Some(ours.0 / sqlite.0),
            _ => None,
        });
        report.at_least(format!("writes-{callers}"), median(ratios), target);
    }
    Ok(())
}
