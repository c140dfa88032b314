//! Writes to people's counters, the circle's version among them.

use roundtable_model::entities::UserCounter;
use roundtable_model::table::{Condition, Update};
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

/// Raises the version of a person's circle, and changes by how many they follow: `read` is the version
/// this is based on, if it is based on one.
pub(crate) fn circle(user: &UserId, following: i64, read: Option<u64>, now: Time) -> Update {
    let raised =
        count(user, UserCount::Following, WHOLE, following, now).add(UserCounter::VERSION, 1);
    match read {
        Some(version) => raised.when(at_version(version)).into(),
        None => raised.into(),
    }
}

/// The circle is still at this version; one that was never written is at 0.
fn at_version(version: u64) -> Condition {
    match version {
        0 => UserCounter::VERSION.absent(),
        version => UserCounter::VERSION.is(&version),
    }
}
