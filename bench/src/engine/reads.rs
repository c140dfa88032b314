//! Reads by one caller without other load.

use anyhow::Result;
use roundtable_test_client::{Samples, median};

use super::EngineBench;
use super::subject::Subject;
use crate::report::Better;

const PAGE: usize = 50;

/// Reads random existing items.
pub(super) fn get(bench: &mut EngineBench) -> Result<()> {
    let (town, count) = (bench.town, bench.scale.gets);
    let rounds =
        run_rounds(bench, |subject, round| subject.get_each(&town.addresses(round, count)))?;
    let ratio = rounds.times_faster_than_lmdb();
    bench.report.figure("get, p50 µs", Better::Lower, rounds.medians());
    bench.report.figure("get, p99 µs", Better::Lower, rounds.p99s());
    bench.report.figure("get, reads/s of one caller", Better::Higher, rounds.rates());
    bench.report.at_least("get", ratio, 0.8);
    Ok(())
}

/// Reads the newest page of random partitions.
pub(super) fn newest(bench: &mut EngineBench) -> Result<()> {
    let (town, count) = (bench.town, bench.scale.newests);
    let rounds = run_rounds(bench, |subject, round| {
        subject.newest_each(&town.partitions(round, count), PAGE)
    })?;
    let ratio = rounds.times_faster_than_lmdb();
    bench.report.figure("newest 50, p50 µs", Better::Lower, rounds.medians());
    bench.report.figure("newest 50, p99 µs", Better::Lower, rounds.p99s());
    bench.report.at_least("newest50", ratio, 0.6);
    Ok(())
}

/// The results of each round, by subject.
struct RoundStats(Vec<Vec<ReadStats>>);

#[derive(Clone, Copy)]
struct ReadStats {
    p50: f64,
    p99: f64,
    rate: f64,
}

impl RoundStats {
    fn of_subjects(&self, figure: fn(&ReadStats) -> f64) -> Vec<f64> {
        let subjects = self.0.first().map_or(0, Vec::len);
        (0..subjects)
            .map(|at| median(self.0.iter().filter_map(|round| round.get(at)).map(figure)))
            .collect()
    }

    fn medians(&self) -> Vec<f64> {
        self.of_subjects(|stats| stats.p50)
    }

    fn p99s(&self) -> Vec<f64> {
        self.of_subjects(|stats| stats.p99)
    }

    fn rates(&self) -> Vec<f64> {
        self.of_subjects(|stats| stats.rate)
    }

    /// Returns the median of the rounds' ratios: noise that lasts a whole round affects both sides of one.
    fn times_faster_than_lmdb(&self) -> f64 {
        median(self.0.iter().filter_map(|round| match round.as_slice() {
            [ours, lmdb, ..] => Some(lmdb.p50 / ours.p50),
            _ => None,
        }))
    }
}

fn run_rounds(
    bench: &mut EngineBench,
    mut read: impl FnMut(&mut dyn Subject, u64) -> Result<Samples>,
) -> Result<RoundStats> {
    let mut rounds = Vec::new();
    // Round zero warms the caches and does not count.
    for round in 0..=bench.scale.rounds {
        let mut stats = Vec::new();
        for subject in &mut bench.subjects {
            let mut samples = read(subject.as_mut(), round)?;
            let (p50, p99) = (samples.quantile_us(0.5), samples.quantile_us(0.99));
            stats.push(ReadStats { p50, p99, rate: samples.per_second() });
        }
        if round > 0 {
            rounds.push(stats);
        }
    }
    Ok(RoundStats(rounds))
}
