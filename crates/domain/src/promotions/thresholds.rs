//! The thresholds of the rule: those of the settings, or what an admin set for one user or group.

use roundtable_model::entities::Promotion;
use roundtable_model::{InvalidValue, Json};
use serde::{Deserialize, Serialize};

use crate::limits::check_text;
use crate::{PromotionSettings, ServiceError};

const THRESHOLDS_CHARS_MAX: usize = 1_000;
const FIELD: &str = "thresholds";
const EXPECTED: &str = "an object with some of followers, followersMax and activitiesPerDay, each a \
                        whole number";

/// The thresholds of the rule, stored with its decisions.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PromotionThresholds {
    followers: u64,
    followers_max: u64,
    activities_per_day: u64,
}

/// The thresholds that an admin set for one subject; those of the settings hold for absent ones.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ThresholdOverrides {
    followers: Option<u64>,
    followers_max: Option<u64>,
    activities_per_day: Option<u64>,
}

impl ThresholdOverrides {
    fn over(self, settings: &PromotionSettings) -> PromotionSettings {
        PromotionSettings {
            followers_min: self.followers.unwrap_or(settings.followers_min),
            followers_max: self.followers_max.unwrap_or(settings.followers_max),
            per_day_min: self.activities_per_day.unwrap_or(settings.per_day_min),
        }
    }
}

/// Refuses what is no set of thresholds, or could never promote by followers.
pub(super) fn check_overrides(
    thresholds: Option<&Json>,
    settings: &PromotionSettings,
) -> Result<(), ServiceError> {
    let Some(thresholds) = thresholds else { return Ok(()) };
    check_text(FIELD, thresholds.as_str(), THRESHOLDS_CHARS_MAX)?;
    let overrides = thresholds.decode::<ThresholdOverrides>().map_err(|_| {
        ServiceError::bad_input(FIELD, InvalidValue::new(EXPECTED, thresholds.as_str()))
    })?;
    let PromotionSettings { followers_min, followers_max, .. } = overrides.over(settings);
    let is_given = overrides.followers.is_some() || overrides.followers_max.is_some();
    if is_given && followers_min > followers_max {
        let found = format!("{followers_min}, and at most {followers_max}");
        let expected = "followers of at most followersMax";
        return Err(ServiceError::bad_input(FIELD, InvalidValue::new(expected, found)));
    }
    Ok(())
}

/// Returns the thresholds that the rule follows for a subject.
pub(super) fn thresholds_for(
    promotion: Option<&Promotion>,
    settings: &PromotionSettings,
) -> PromotionSettings {
    let overrides = promotion.and_then(|promotion| promotion.overrides.as_ref());
    // What cannot be read was written by another version.
    let overrides = overrides.and_then(|json| json.decode::<ThresholdOverrides>().ok());
    overrides.unwrap_or_default().over(settings)
}

/// Encodes thresholds for the record of a decision.
pub(super) fn record_of(thresholds: &PromotionSettings) -> Result<Json, ServiceError> {
    let record = PromotionThresholds {
        followers: thresholds.followers_min,
        followers_max: thresholds.followers_max,
        activities_per_day: thresholds.per_day_min,
    };
    Json::encode(&record).map_err(|invalid| ServiceError::Internal(invalid.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: PromotionSettings =
        PromotionSettings { followers_min: 1_000, followers_max: 50_000, per_day_min: 50 };

    fn check(json: &str) -> Result<(), String> {
        let json: Json = json.parse().unwrap();
        check_overrides(Some(&json), &SETTINGS).map_err(|error| error.to_string())
    }

    #[test]
    fn thresholds_are_whole_numbers_that_fit_together() {
        for right in ["{}", r#"{"followers":3}"#, r#"{"followersMax":2000,"activitiesPerDay":1}"#] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for wrong in [
            "3",
            r#""note""#,
            r#"{"followers":-1}"#,
            r#"{"followers":1.5}"#,
            r#"{"readers":3}"#,
            r#"{"followers":50001}"#,
            r#"{"followersMax":999}"#,
        ] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
        assert!(check_overrides(None, &SETTINGS).is_ok());
    }
}
