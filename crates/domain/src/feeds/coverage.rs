//! Coverage: which of an actor's activities are copied in a reader's feed. The others are read from
//! the actor.
//!
//! It is conservative: covered activities have been copied completely and the copies still exist.

use std::cmp::Ordering;

use roundtable_model::Time;
use roundtable_model::entities::{ActorHead, Promotion};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The bounds of the copies in one reader's feed.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyBounds {
    pub(super) now: Time,
    /// The longest that indexes, clocks and commits in progress may lag.
    pub(super) margin_ms: u64,
    /// Copies before this time have been trimmed.
    pub(super) horizon: Option<Time>,
}

/// Closed time intervals, newest first, without overlaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Coverage(Vec<(Time, Time)>);

impl Coverage {
    /// The coverage for a reader who has followed the actor since `active_since`.
    pub(super) fn of(
        head: &ActorHead,
        promotion: Option<&Promotion>,
        active_since: Time,
        reach: CopyBounds,
    ) -> Self {
        let mark = promotion.and_then(|mark| Some((mark.watermark_since?, mark.watermark?)));
        let Some((interval, watermark)) = mark else { return Self::default() };
        let open = head.since.map(|since| (since, head.last_ts, head.held_days));
        let closed = head.intervals.iter().rev();
        let closed = closed.map(|one| (one.since, one.until, one.held_days));
        let complete = |(since, until, held_days): (Time, Time, u32)| {
            // The watermark moves to an interval only after all earlier ones are complete.
            let until = match since.cmp(&interval) {
                Ordering::Less => until,
                Ordering::Equal => until.min(watermark),
                Ordering::Greater => return None,
            };
            let expired = reach.now.minus_ms(u64::from(held_days) * DAY_MS);
            let held = expired.plus_ms(reach.margin_ms).max(reach.horizon.unwrap_or(Time::EPOCH));
            let since = since.max(active_since.plus_ms(reach.margin_ms)).max(held);
            (since <= until).then_some((since, until))
        };
        Self(open.into_iter().chain(closed).filter_map(complete).collect())
    }

    pub(super) fn covers(&self, at: Time) -> bool {
        self.0.iter().any(|(since, until)| *since <= at && at <= *until)
    }

    /// The newest instant at or before `at` that is not covered.
    pub(super) fn newest_open(&self, mut at: Time) -> Option<Time> {
        for (since, until) in &self.0 {
            if *since <= at && at <= *until {
                at = Time::from_ms(since.ms().checked_sub(1)?);
            }
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use roundtable_model::entities::Interval;
    use roundtable_model::{ActorId, PromotionReason};

    use super::*;

    const HELD: u32 = 45;

    fn at(ms: u64) -> Time {
        // Long after the epoch, so that copies have not expired since.
        Time::from_ms(100 * DAY_MS + ms)
    }

    fn head(since: Option<u64>, last: u64, closed: &[(u64, u64)]) -> ActorHead {
        let interval = |(since, until): &(u64, u64)| Interval {
            since: at(*since),
            until: at(*until),
            held_days: HELD,
        };
        ActorHead {
            last_ts: at(last),
            since: since.map(at),
            held_days: HELD,
            intervals: closed.iter().map(interval).collect(),
            ..ActorHead::idle("ana".parse::<ActorId>().unwrap())
        }
    }

    fn mark(interval: u64, watermark: u64) -> Promotion {
        Promotion {
            subject_id: "ana".parse().unwrap(),
            user_id: None,
            group_id: None,
            fanout_enabled: true,
            reason: PromotionReason::Manual,
            thresholds: None,
            overrides: None,
            watermark: Some(at(watermark)),
            watermark_since: Some(at(interval)),
            updated_at: at(0),
        }
    }

    fn reach(horizon: Option<u64>) -> CopyBounds {
        CopyBounds { now: at(10_000), margin_ms: 10, horizon: horizon.map(at) }
    }

    fn covered(coverage: &Coverage) -> Vec<(u64, u64)> {
        let ms = |time: Time| time.ms() - at(0).ms();
        coverage.0.iter().map(|(since, until)| (ms(*since), ms(*until))).collect()
    }

    #[test]
    fn an_open_interval_is_covered_up_to_its_watermark() {
        let (head, mark) = (head(Some(100), 900, &[]), mark(100, 500));
        let coverage = Coverage::of(&head, Some(&mark), at(0), reach(None));
        assert_eq!(covered(&coverage), [(100, 500)]);
        assert!(coverage.covers(at(500)) && !coverage.covers(at(501)));
        assert_eq!(coverage.newest_open(at(900)), Some(at(900)));
        assert_eq!(coverage.newest_open(at(400)), Some(at(99)));
    }

    #[test]
    fn without_a_watermark_nothing_is_covered() {
        let head = head(Some(100), 900, &[(10, 50)]);
        assert_eq!(Coverage::of(&head, None, at(0), reach(None)), Coverage::default());
    }

    #[test]
    fn intervals_before_the_watermarks_are_complete_and_those_after_it_are_not() {
        let head = head(Some(700), 900, &[(100, 200), (300, 400), (500, 600)]);
        let coverage = Coverage::of(&head, Some(&mark(300, 350)), at(0), reach(None));
        assert_eq!(covered(&coverage), [(300, 350), (100, 200)]);
    }

    #[test]
    fn a_follow_is_relied_on_only_after_the_margin() {
        let (head, mark) = (head(Some(100), 900, &[]), mark(100, 900));
        let coverage = Coverage::of(&head, Some(&mark), at(300), reach(None));
        assert_eq!(covered(&coverage), [(310, 900)]);
        let late = Coverage::of(&head, Some(&mark), at(895), reach(None));
        assert_eq!(late, Coverage::default());
    }

    #[test]
    fn trimmed_or_expiring_copies_are_not_covered() {
        let (head, mark) = (head(Some(100), 900, &[]), mark(100, 900));
        let trimmed = Coverage::of(&head, Some(&mark), at(0), reach(Some(600)));
        assert_eq!(covered(&trimmed), [(600, 900)]);
        let now = at(400).plus_ms(u64::from(HELD) * DAY_MS);
        let later = Coverage::of(&head, Some(&mark), at(0), CopyBounds { now, ..reach(None) });
        assert_eq!(covered(&later), [(410, 900)]);
    }

    #[test]
    fn adjoining_intervals_are_skipped_together() {
        let head = head(Some(500), 900, &[(100, 499)]);
        let coverage = Coverage::of(&head, Some(&mark(500, 900)), at(0), reach(None));
        assert_eq!(coverage.newest_open(at(900)), Some(at(99)));
    }
}
