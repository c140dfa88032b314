//! The rule that promotes and demotes users and groups automatically.
//!
//! An actor with many readers, or with many activities in a day, is promoted, unless it has so many
//! readers that copying costs more than reading. A promotion lasts until the numbers fall below
//! half of the threshold, and an actor demoted for too many readers returns only when they are
//! clearly fewer. This hysteresis matters because every change opens a new interval.

use roundtable_model::PromotionReason;

use crate::PromotionSettings;

/// The numbers the rule depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActorStats {
    /// Followers, or members of a group.
    pub(super) followers: u64,
    /// Activities of the current day so far.
    pub(super) today: u64,
    /// Activities of the previous day, if known.
    pub(super) ended_day: Option<u64>,
}

/// Returns the new promotion state and its reason; `None` if nothing changes.
pub(super) fn apply_rule(
    settings: &PromotionSettings,
    was: Option<(bool, PromotionReason)>,
    stats: ActorStats,
) -> Option<(bool, PromotionReason)> {
    use PromotionReason::{Followers, Manual, Volume};
    if matches!(was, Some((_, Manual))) {
        return None;
    }
    let is_promoted_for = |reason| was == Some((true, reason));
    let reaches = |count: u64, min: u64, halved: bool| {
        if halved { count.saturating_mul(2) >= min } else { count >= min }
    };
    let by_followers = reaches(stats.followers, settings.followers_min, is_promoted_for(Followers));
    let by_volume = if is_promoted_for(Volume) {
        // A day that has just begun is not representative.
        let day = |ended: u64| reaches(ended.max(stats.today), settings.per_day_min, true);
        stats.ended_day.is_none_or(day)
    } else {
        stats.today >= settings.per_day_min
    };
    let max = settings.followers_max;
    let max = if matches!(was, Some((false, _))) { max - max / 10 } else { max };
    let reason = match (by_followers, by_volume) {
        _ if stats.followers > max => None,
        (_, true) if is_promoted_for(Volume) => Some(Volume),
        (true, _) => Some(Followers),
        (false, true) => Some(Volume),
        (false, false) => None,
    };
    let is = match (reason, was) {
        (Some(reason), _) => (true, reason),
        (None, Some((_, reason))) => (false, reason),
        (None, None) => return None,
    };
    (Some(is) != was).then_some(is)
}

#[cfg(test)]
mod tests {
    use PromotionReason::{Followers, Manual, Volume};

    use super::*;

    const SETTINGS: PromotionSettings =
        PromotionSettings { followers_min: 1_000, followers_max: 50_000, per_day_min: 50 };

    fn with(
        was: Option<(bool, PromotionReason)>,
        followers: u64,
        today: u64,
        ended_day: Option<u64>,
    ) -> Option<(bool, PromotionReason)> {
        apply_rule(&SETTINGS, was, ActorStats { followers, today, ended_day })
    }

    #[test]
    fn many_followers_promote_and_too_many_do_not() {
        assert_eq!(with(None, 999, 0, None), None);
        assert_eq!(with(None, 1_000, 0, None), Some((true, Followers)));
        assert_eq!(with(None, 50_000, 0, None), Some((true, Followers)));
        assert_eq!(with(None, 50_001, 0, None), None);
        assert_eq!(with(None, 50_001, 60, None), None, "nor does volume, then");
    }

    #[test]
    fn a_busy_day_promotes() {
        assert_eq!(with(None, 3, 49, None), None);
        assert_eq!(with(None, 3, 50, None), Some((true, Volume)));
        assert_eq!(with(Some((false, Followers)), 3, 50, None), Some((true, Volume)));
    }

    #[test]
    fn a_promotion_holds_down_to_half_of_the_threshold() {
        let promoted = Some((true, Followers));
        assert_eq!(with(promoted, 500, 0, Some(0)), None);
        assert_eq!(with(promoted, 499, 0, Some(0)), Some((false, Followers)));
        assert_eq!(with(promoted, 499, 50, None), Some((true, Volume)), "for another reason");
    }

    #[test]
    fn a_quiet_day_demotes_only_after_it_ends() {
        let promoted = Some((true, Volume));
        assert_eq!(with(promoted, 3, 1, None), None);
        assert_eq!(with(promoted, 3, 1, Some(25)), None);
        assert_eq!(with(promoted, 3, 1, Some(24)), Some((false, Volume)));
        assert_eq!(with(promoted, 3, 30, Some(24)), None, "the end of the day was reported late");
        assert_eq!(with(promoted, 1_000, 1, Some(24)), Some((true, Followers)));
    }

    #[test]
    fn the_upper_bound_has_hysteresis() {
        assert_eq!(with(Some((true, Followers)), 50_001, 0, None), Some((false, Followers)));
        assert_eq!(with(Some((false, Followers)), 50_000, 0, None), None);
        assert_eq!(with(Some((false, Followers)), 45_000, 0, None), Some((true, Followers)));
    }

    #[test]
    fn manual_decisions_are_final() {
        for promoted in [true, false] {
            for followers in [0, 5_000, 90_000] {
                assert_eq!(with(Some((promoted, Manual)), followers, 90, Some(0)), None);
            }
        }
    }
}
