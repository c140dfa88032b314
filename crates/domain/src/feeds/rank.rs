//! The rank of an entry: its engagement, reduced by age.

use roundtable_model::Time;

/// Hours added to every age, so that an entry of a few minutes does not rank many times above one of an
/// hour.
const FRESH_HOURS: f64 = 2.0;
/// The exponent of aging: after a day, an entry has a tenth of the rank that it has after some hours.
const GRAVITY: f64 = 1.5;

/// Returns the rank of an entry. Entries without engagement still differ by age.
#[expect(clippy::cast_precision_loss, reason = "only ages of millennia lose precision")]
pub fn feed_rank(score: f64, created: Time, now: Time) -> f64 {
    let hours = now.ms().saturating_sub(created.ms()) as f64 / 3_600_000.0;
    (score + 1.0) / (hours + FRESH_HOURS).powf(GRAVITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_falls_with_age_and_rises_with_engagement() {
        let at = |hours: u64| Time::from_ms(hours * 3_600_000);
        assert!(feed_rank(5.0, at(9), at(10)) > feed_rank(5.0, at(1), at(10)));
        assert!(feed_rank(6.0, at(9), at(10)) > feed_rank(5.0, at(9), at(10)));
        assert!(feed_rank(0.0, at(11), at(10)).is_finite(), "clocks differ");
    }
}
