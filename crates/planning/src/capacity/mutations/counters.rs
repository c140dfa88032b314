//! Writes shared by many mutations: counters, heads, notifications, copies into feeds.

use roundtable_model::entities::{ActorHead, Block, Post, PostCounter, UserCounter};
use roundtable_model::{Score, UserCount, samples};

use super::step::{MutationStep, absent, change, put};

/// The number of feeds an activity is copied into. Usually none: readers merge their followees.
const FEEDS: &str = "feeds";

fn increment(counter: UserCount, version: Option<u64>) -> MutationStep {
    let before = UserCounter { counter, version, ..samples::user_counter() };
    let version = before.version.map(|version| version + 1);
    change(&before, &UserCounter { count: before.count + 1, version, ..before.clone() })
}

/// The count of followees, and the version of the circle, which is on the same item.
pub(super) fn following() -> MutationStep {
    increment(UserCount::Following, Some(200))
}

pub(super) fn followers() -> MutationStep {
    increment(UserCount::Followers, None)
}

pub(super) fn posts() -> MutationStep {
    increment(UserCount::Posts, None)
}

pub(super) fn xp() -> MutationStep {
    increment(UserCount::Xp, None)
}

pub(super) fn unread() -> MutationStep {
    increment(UserCount::Unread, None)
}

/// An activity, and the head that orders it.
pub(super) fn activity() -> [MutationStep; 2] {
    let before = samples::actor_head();
    let after = ActorHead { version: before.version + 1, ..before.clone() };
    [put(&samples::activity()), change(&before, &after)]
}

/// Checks that neither of two users has blocked the other.
pub(super) fn no_blocks() -> [MutationStep; 2] {
    [absent::<Block>(), absent::<Block>()]
}

/// Copies of an activity in followers' feeds, if its actor is promoted.
pub(super) fn feed_items() -> MutationStep {
    put(&samples::feed_item()).times(FEEDS, 0.0)
}

/// A notification, and the recipient's unread count.
pub(super) fn notification() -> [MutationStep; 2] {
    [put(&samples::notification()).in_transaction(), unread().in_transaction()]
}

/// Notifications of `count` recipients.
pub(super) fn notifications(count: &'static str, usually: f64) -> [MutationStep; 2] {
    notification().map(|step| step.times(count, usually))
}

/// The counter of a post, and sometimes its position among the popular posts. Counts are aggregated
/// per batch, so one write for each change is an upper bound.
pub(super) fn engagement() -> [MutationStep; 2] {
    let before = samples::post_counter();
    let after = PostCounter { likes: before.likes + 1, ..before.clone() };
    let post = samples::post();
    let score = post.score.map_or(0, Score::value);
    let higher = Post { score: Some(Score::new(score + 10)), ..post.clone() };
    [change(&before, &after), change(&post, &higher).times("rescored", 0.1)]
}
