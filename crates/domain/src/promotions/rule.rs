//! The rule by which people and groups are promoted and demoted without anybody's word.
//!
//! Whoever has many readers is promoted, and whoever does much in a day; nobody who has so many readers
//! that copying costs more than looking. Once promoted, one stays so down to half of what it took, and
//! whoever was demoted for too many readers comes back only when they are clearly fewer: numbers go up
//! and down all the time, and every turn is a new interval.

use roundtable_model::PromotionReason;

use crate::PromotionSettings;

/// What the rule looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// How many follow, or are members.
    pub(super) followers: u64,
    /// How much was done in the present day, so far.
    pub(super) today: u64,
    /// How much was done in the whole day before, if that is known.
    pub(super) ended_day: Option<u64>,
}

/// Whether somebody is to be promoted and why, where that is not what it was.
pub(super) fn ruled(
    settings: &PromotionSettings,
    was: Option<(bool, PromotionReason)>,
    seen: Seen,
) -> Option<(bool, PromotionReason)> {
    use PromotionReason::{Followers, Manual, Volume};
    if matches!(was, Some((_, Manual))) {
        return None;
    }
    let is_promoted_for = |reason| was == Some((true, reason));
    let reaches = |count: u64, min: u64, halved: bool| {
        if halved { count.saturating_mul(2) >= min } else { count >= min }
    };
    let by_followers = reaches(seen.followers, settings.followers_min, is_promoted_for(Followers));
    let by_volume = if is_promoted_for(Volume) {
        // A day that has just begun says nothing.
        let day = |ended: u64| reaches(ended.max(seen.today), settings.per_day_min, true);
        seen.ended_day.is_none_or(day)
    } else {
        seen.today >= settings.per_day_min
    };
    let max = settings.followers_max;
    let max = if matches!(was, Some((false, _))) { max - max / 10 } else { max };
    let reason = match (by_followers, by_volume) {
        _ if seen.followers > max => None,
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
        ruled(&SETTINGS, was, Seen { followers, today, ended_day })
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
    fn what_promoted_once_holds_down_to_its_half() {
        let promoted = Some((true, Followers));
        assert_eq!(with(promoted, 500, 0, Some(0)), None);
        assert_eq!(with(promoted, 499, 0, Some(0)), Some((false, Followers)));
        assert_eq!(with(promoted, 499, 50, None), Some((true, Volume)), "for another reason");
    }

    #[test]
    fn a_quiet_day_demotes_only_when_it_is_over() {
        let promoted = Some((true, Volume));
        assert_eq!(with(promoted, 3, 1, None), None);
        assert_eq!(with(promoted, 3, 1, Some(25)), None);
        assert_eq!(with(promoted, 3, 1, Some(24)), Some((false, Volume)));
        assert_eq!(with(promoted, 3, 30, Some(24)), None, "it has been told late");
        assert_eq!(with(promoted, 1_000, 1, Some(24)), Some((true, Followers)));
    }

    #[test]
    fn at_the_upper_bound_nobody_turns_with_every_follower() {
        assert_eq!(with(Some((true, Followers)), 50_001, 0, None), Some((false, Followers)));
        assert_eq!(with(Some((false, Followers)), 50_000, 0, None), None);
        assert_eq!(with(Some((false, Followers)), 45_000, 0, None), Some((true, Followers)));
    }

    #[test]
    fn what_was_decided_by_hand_stands() {
        for promoted in [true, false] {
            for followers in [0, 5_000, 90_000] {
                assert_eq!(with(Some((promoted, Manual)), followers, 90, Some(0)), None);
            }
        }
    }
}
