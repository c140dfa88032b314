//! The simulation of whole towns.

use roundtable_campaign::{SimulationReport, simulate};

/// Seeds of every test run; the campaign goes on with others.
const SEEDS: u64 = 50;

#[test]
fn towns_survive_their_power_cuts() {
    let mut total = SimulationReport::default();
    let mut findings = Vec::new();
    for seed in 0..SEEDS {
        match simulate(seed) {
            Ok(report) => {
                total.actions += report.actions;
                total.done += report.done;
                total.power_cuts += report.power_cuts;
                total.failed_starts += report.failed_starts;
            }
            Err(finding) => findings.push(format!("seed {seed}: {finding}")),
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    assert!(total.done > SEEDS && total.power_cuts > SEEDS, "{total:?}");
}

/// Whatever a seed finds, it finds again.
#[test]
fn a_seed_has_one_outcome() {
    for seed in 100..103 {
        let (first, second) = (simulate(seed).unwrap(), simulate(seed).unwrap());
        assert_eq!(first, second, "seed {seed}");
    }
}
