//! The limits of each tier, over the general ones.

use roundtable_model::Tier;
use serde::Deserialize;

use super::Settings;

/// Groups that a user of the tier `free` may own at the same time.
const GROUPS_OWNED_MAX: u64 = 100;
/// By default, the tier `pro` has this much of what other users wait for, and of what takes space.
const PRO_RATE: u32 = 2;
const PRO_SPACE: u64 = 10;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TierSettings {
    pub free: TierOverrides,
    pub pro: TierOverrides,
}

/// Limits of one tier. Those that are absent are the general ones for `free`, and multiples for `pro`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TierOverrides {
    pub writes_burst: Option<u32>,
    pub writes_per_minute: Option<u32>,
    pub image_bytes_max: Option<u64>,
    pub video_bytes_max: Option<u64>,
    pub account_bytes_max: Option<u64>,
    pub account_uploads_max: Option<u64>,
    pub groups_owned_max: Option<u64>,
}

/// The limits that a tier carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierLimits {
    pub tier: Tier,
    pub writes_burst: u32,
    pub writes_per_minute: u32,
    /// Bytes of one image, and of one video.
    pub image_bytes_max: u64,
    pub video_bytes_max: u64,
    /// Bytes of one user's files, pending uploads included.
    pub account_bytes_max: u64,
    pub account_uploads_max: u64,
    /// Groups that a user creates or takes over.
    pub groups_owned_max: u64,
}

impl Settings {
    /// Returns the limits of a tier.
    pub fn limits_of(&self, tier: Tier) -> TierLimits {
        let (of, rate, space) = match tier {
            Tier::Free => (&self.tiers.free, 1, 1),
            Tier::Pro => (&self.tiers.pro, PRO_RATE, PRO_SPACE),
        };
        let (rates, media) = (&self.rates, &self.media);
        let fast = |own: Option<u32>, general: u32| own.unwrap_or(general.saturating_mul(rate));
        let large = |own: Option<u64>, general: u64| own.unwrap_or(general.saturating_mul(space));
        TierLimits {
            tier,
            writes_burst: fast(of.writes_burst, rates.writes_burst),
            writes_per_minute: fast(of.writes_per_minute, rates.writes_per_minute),
            image_bytes_max: of.image_bytes_max.unwrap_or(media.image_bytes_max),
            video_bytes_max: of.video_bytes_max.unwrap_or(media.video_bytes_max),
            account_bytes_max: large(of.account_bytes_max, media.account_bytes_max),
            account_uploads_max: of.account_uploads_max.unwrap_or(media.account_uploads_max),
            groups_owned_max: large(of.groups_owned_max, GROUPS_OWNED_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_has_its_own_limits_and_otherwise_those_derived_from_the_general_ones() {
        let mut settings = Settings::default();
        let (free, pro) = (settings.limits_of(Tier::Free), settings.limits_of(Tier::Pro));
        assert_eq!((free.writes_per_minute, pro.writes_per_minute), (600, 1_200));
        assert_eq!((free.account_bytes_max, pro.account_bytes_max), (2 << 30, 20 << 30));
        assert_eq!((free.groups_owned_max, pro.groups_owned_max), (100, 1_000));
        settings.tiers.pro.writes_per_minute = Some(7);
        settings.tiers.free.groups_owned_max = Some(1);
        assert_eq!(settings.limits_of(Tier::Pro).writes_per_minute, 7);
        assert_eq!(settings.limits_of(Tier::Free).writes_per_minute, 600);
        assert_eq!(settings.limits_of(Tier::Free).groups_owned_max, 1);
        assert_eq!(settings.limits_of(Tier::Pro).groups_owned_max, 1_000);
    }
}
