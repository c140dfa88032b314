//! Writes to users' counters, including the version of a user's circle.

use roundtable_model::entities::UserCounter;
use roundtable_model::table::Update;
use roundtable_model::{Patch, Shard, Time, UserCount, UserId};

use crate::account::SINGLE_SHARD;

pub(crate) fn change_count(
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

/// Raises the version of a user's circle, if nothing has raised it since it was read.
pub(crate) fn raise_circle_version_from(user: &UserId, read: Option<u64>, now: Time) -> Update {
    let unchanged = match read {
        Some(version) => UserCounter::VERSION.is(&version),
        None => UserCounter::VERSION.absent(),
    };
    let counted = change_count(user, UserCount::Following, SINGLE_SHARD, 0, now);
    counted.add(UserCounter::VERSION, 1).when(unchanged).into()
}

/// Raises the version of a user's circle and adds `following` to the number of users they follow.
/// One strong read of the version then tells whether a cached circle is current.
pub(crate) fn raise_circle_version(user: &UserId, following: i64, now: Time) -> Update {
    let counted = change_count(user, UserCount::Following, SINGLE_SHARD, following, now);
    counted.add(UserCounter::VERSION, 1).into()
}
