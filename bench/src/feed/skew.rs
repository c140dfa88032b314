//! Skewed random choices: a few ranks have most of the weight.

use rand::Rng;
use rand::rngs::SmallRng;

/// Ranks with weight `1 / (rank + shift) ^ exponent`: a power law whose first ranks are not extreme.
#[derive(Debug)]
pub(super) struct Skew {
    weights: Vec<f64>,
    /// Cumulative weights.
    sums: Vec<f64>,
}

impl Skew {
    #[expect(clippy::cast_precision_loss, reason = "ranks stay far below 2^52")]
    pub(super) fn new(ranks: usize, shift: f64, exponent: f64) -> Self {
        let weight = |rank: usize| (rank as f64 + shift).powf(-exponent);
        let weights: Vec<f64> = (0..ranks).map(weight).collect();
        let add = |sum: &mut f64, weight: &f64| {
            *sum += weight;
            Some(*sum)
        };
        let sums = weights.iter().scan(0.0, add).collect();
        Self { weights, sums }
    }

    /// Draws a rank by weight.
    pub(super) fn draw(&self, random: &mut SmallRng) -> usize {
        let all = self.sums.last().copied().unwrap_or_default();
        let at = random.random::<f64>() * all;
        self.sums.partition_point(|sum| *sum <= at).min(self.sums.len().saturating_sub(1))
    }

    pub(super) fn weight(&self, rank: usize) -> f64 {
        self.weights.get(rank).copied().unwrap_or_default()
    }
}

/// Draws `count` distinct indexes by weight.
pub(super) fn choose_distinct(weights: &[f64], count: usize, random: &mut SmallRng) -> Vec<usize> {
    // The smallest random keys divided by weight win (Efraimidis and Spirakis).
    let wait = |weight: &f64| -(1.0 - random.random::<f64>()).ln() / weight;
    let mut waits: Vec<(f64, usize)> =
        weights.iter().map(wait).enumerate().map(|(place, wait)| (wait, place)).collect();
    if count < waits.len() {
        waits.select_nth_unstable_by(count, |one, other| one.0.total_cmp(&other.0));
        waits.truncate(count);
    }
    let mut places: Vec<usize> = waits.into_iter().map(|(_, place)| place).collect();
    places.sort_unstable();
    places
}

/// Draws from the standard normal distribution.
pub(super) fn normal(random: &mut SmallRng) -> f64 {
    let (one, other): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn few_have_most_and_half_have_almost_nothing() {
        let (skew, mut random) = (Skew::new(10_000, 50.0, 1.3), SmallRng::seed_from_u64(1));
        let mut counts = vec![0_u32; 10_000];
        (0..100_000).for_each(|_| counts[skew.draw(&mut random)] += 1);
        let most: u32 = counts[..1000].iter().sum();
        let half: u32 = counts[5000..].iter().sum();
        assert!(most > 70_000 && half < 10_000, "{most} {half}");
    }

    #[test]
    fn nobody_is_drawn_twice_and_the_heavy_come_first() {
        let mut random = SmallRng::seed_from_u64(1);
        let weights: Vec<f64> = (0..1000).map(|place| f64::from(place) + 0.1).collect();
        let mut places = choose_distinct(&weights, 300, &mut random);
        let light = places.iter().filter(|place| **place < 500).count();
        places.dedup();
        assert!(places.len() == 300 && light < 100, "{light}");
        assert_eq!(choose_distinct(&weights, 2000, &mut random).len(), 1000);
    }
}
