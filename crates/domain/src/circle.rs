//! Writes to people's counters, the circle's version among them.

use roundtable_model::entities::UserCounter;
use roundtable_model::table::Update;
use roundtable_model::{Patch, Shard, Time, UserCount, UserId};

use crate::account::WHOLE;

/// Changes how many of something a person has.
pub(crate) fn count(
    user: &UserId,
    counter: UserCount,
    shard: Shard,
    by: i64,
    now: Time,
) -> Patch<UserCounter> {
    UserCounter::upsert(user, &counter, &shard)
        .add(UserCounter::COUNT, by)
        .set(UserCounter::UPDATED_AT, &now)
}

/// Raises the version of a person's circle, and changes by how many they follow: one strong read of
/// the version then tells whether what is remembered of the circle is current.
pub(crate) fn circle(user: &UserId, following: i64, now: Time) -> Update {
    let counted = count(user, UserCount::Following, WHOLE, following, now);
    counted.add(UserCounter::VERSION, 1).into()
}
