//! Where an activity stands in feeds, which go down from the greatest place.

use roundtable_model::entities::Activity;
use roundtable_model::{ActivityId, Time};

/// The least of all ids: none has a character before it.
const FIRST_ID: &str = "-";

/// The place of an activity among all others: by its time, then by its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) at: Time,
    pub(crate) id: ActivityId,
}

impl Place {
    /// Where an activity stands.
    pub(crate) fn of(activity: &Activity) -> Self {
        Self { at: activity.created_at, id: activity.activity_id.clone() }
    }

    /// The least place of an instant.
    pub(crate) fn first_at(at: Time) -> Self {
        #[expect(clippy::expect_used, reason = "it is an id, as a test knows")]
        let id = FIRST_ID.parse().expect("an id");
        Self { at, id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(ms: u64, id: &str) -> Place {
        Place { at: Time::from_ms(ms), id: id.parse().unwrap() }
    }

    #[test]
    fn places_go_by_time_and_then_by_id() {
        let ulid = "01JJM5E3S0PQ0M3ZJ5Y3W4YQZC";
        let rising = [place(1, "b"), place(2, "-a"), place(2, "0"), place(2, ulid), place(2, "a")];
        assert!(rising.is_sorted_by(|one, next| one < next), "{rising:?}");
    }

    #[test]
    fn nothing_of_an_instant_lies_before_its_first_place() {
        let first = Place::first_at(Time::from_ms(2));
        for id in ["-", "--", "0", "00000000000000000000000000", "a", "_"] {
            assert!(first <= place(2, id) && place(1, id) < first, "{id}");
        }
    }
}
