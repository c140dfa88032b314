//! Positions in feeds, which run from the greatest position down.

use roundtable_model::entities::Activity;
use roundtable_model::{ActivityId, Time};

/// The least of all ids: no id starts with a smaller character.
const FIRST_ID: &str = "-";

/// The position of an activity: by time, then by id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FeedPosition {
    pub(crate) at: Time,
    pub(crate) id: ActivityId,
}

impl FeedPosition {
    pub(crate) fn of(activity: &Activity) -> Self {
        Self { at: activity.created_at, id: activity.activity_id.clone() }
    }

    /// The least position of an instant.
    pub(crate) fn first_at(at: Time) -> Self {
        #[expect(clippy::expect_used, reason = "it is an id, as a test knows")]
        let id = FIRST_ID.parse().expect("an id");
        Self { at, id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(ms: u64, id: &str) -> FeedPosition {
        FeedPosition { at: Time::from_ms(ms), id: id.parse().unwrap() }
    }

    #[test]
    fn positions_are_ordered_by_time_and_then_by_id() {
        let ulid = "01JJM5E3S0PQ0M3ZJ5Y3W4YQZC";
        let rising = [
            position(1, "b"),
            position(2, "-a"),
            position(2, "0"),
            position(2, ulid),
            position(2, "a"),
        ];
        assert!(rising.is_sorted_by(|one, next| one < next), "{rising:?}");
    }

    #[test]
    fn the_first_position_of_an_instant_is_its_least() {
        let first = FeedPosition::first_at(Time::from_ms(2));
        for id in ["-", "--", "0", "00000000000000000000000000", "a", "_"] {
            assert!(first <= position(2, id) && position(1, id) < first, "{id}");
        }
    }
}
