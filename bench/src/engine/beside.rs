//! Reads by one caller during writes at full speed.

use anyhow::Result;

use super::EngineBench;
use crate::machine;
use crate::report::Better;

const WRITERS: usize = 16;
const P99_US_MAX: f64 = 200.0;

pub(super) fn run(bench: &mut EngineBench) -> Result<()> {
    let addresses = bench.town.addresses(77, bench.scale.gets);
    // Enough items for the whole window.
    let pool = [bench.pool(), bench.pool()].concat();
    bench.tune(WRITERS)?;
    let (mut p50s, mut p99s, mut writes) = (Vec::new(), Vec::new(), Vec::new());
    for subject in &mut bench.subjects {
        machine::settle(&bench.dir)?;
        let window = bench.scale.beside_window;
        let (mut reads, written) = subject.get_beside(&addresses, WRITERS, window, &pool)?;
        p50s.push(reads.quantile_us(0.5));
        p99s.push(reads.quantile_us(0.99));
        writes.push(written.per_second());
    }
    let p99 = p99s.first().copied().unwrap_or(f64::INFINITY);
    let report = &mut bench.report;
    report.figure(format!("get beside {WRITERS} writers, p50 µs"), Better::Lower, p50s);
    report.figure(format!("get beside {WRITERS} writers, p99 µs"), Better::Lower, p99s);
    report.figure("  their writes/s meanwhile", Better::Higher, writes);
    report.under("beside", p99, P99_US_MAX, "µs");
    Ok(())
}
