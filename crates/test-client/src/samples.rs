//! Durations of single operations, and medians of figures.

use std::time::{Duration, Instant};

/// Durations, of which quantiles are asked.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    nanos: Vec<u64>,
    sorted: bool,
}

impl Samples {
    pub fn with_capacity(operations: usize) -> Self {
        Self { nanos: Vec::with_capacity(operations), sorted: true }
    }

    /// Adds the time since `started`.
    pub fn add_since(&mut self, started: Instant) {
        self.add(started.elapsed());
    }

    pub fn add(&mut self, elapsed: Duration) {
        self.sorted = false;
        self.nanos.push(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX));
    }

    pub fn extend(&mut self, other: &Self) {
        self.sorted = false;
        self.nanos.extend_from_slice(&other.nanos);
    }

    pub const fn len(&self) -> usize {
        self.nanos.len()
    }

    pub const fn is_empty(&self) -> bool {
        self.nanos.is_empty()
    }

    /// Returns a quantile (0 to 1) of the durations, in microseconds.
    pub fn quantile_us(&mut self, share: f64) -> f64 {
        if !self.sorted {
            self.nanos.sort_unstable();
            self.sorted = true;
        }
        let last = self.nanos.len().saturating_sub(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "an index scaled by a share of at most one"
        )]
        let at = (last as f64 * share).round() as usize;
        self.nanos.get(at).map_or(0.0, |nanos| Duration::from_nanos(*nanos).as_secs_f64() * 1e6)
    }

    /// Returns the rate of operations as if they had run one after the other.
    pub fn per_second(&self) -> f64 {
        let nanos: u64 = self.nanos.iter().sum();
        rate(self.nanos.len() as u64, Duration::from_nanos(nanos))
    }
}

/// Returns a rate per second.
#[expect(clippy::cast_precision_loss, reason = "counts here stay far below 2^52")]
pub fn rate(count: u64, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64().max(1e-9)
}

/// Returns the median; zero without figures.
pub fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    let upper = figures.get(figures.len() / 2).copied().unwrap_or_default();
    if figures.len() % 2 == 1 {
        return upper;
    }
    let lower = (figures.len() / 2).checked_sub(1).and_then(|at| figures.get(at)).copied();
    f64::midpoint(lower.unwrap_or_default(), upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_come_from_sorted_samples() {
        let nanos = (0..=100).rev().map(|us| us * 1000).collect();
        let mut samples = Samples { nanos, sorted: false };
        assert!((samples.quantile_us(0.5) - 50.0).abs() < 1e-9);
        assert!((samples.quantile_us(0.99) - 99.0).abs() < 1e-9);
        assert!(Samples::default().quantile_us(0.5).abs() < 1e-9);
    }

    #[test]
    fn the_median_of_an_even_number_is_a_mean() {
        assert!((median([4.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median([4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
        assert!(median([]).abs() < 1e-9);
    }
}
