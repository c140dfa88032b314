//! The writes that many mutations have in common: counts, heads, notices, copies into feeds.

use super::step::{Step, absent, change, put};
use crate::entities::{ActorHead, Block, Post, PostCounter, UserCounter};
use crate::{Score, UserCount, samples};

/// The count of feeds an activity is copied into. Usually none: readers merge what they follow.
const FEEDS: &str = "feeds";

fn raised(counter: UserCount, version: Option<u64>) -> Step {
    let before = UserCounter { counter, version, ..samples::user_counter() };
    let version = before.version.map(|version| version + 1);
    change(&before, &UserCounter { count: before.count + 1, version, ..before.clone() })
}

/// Whom somebody follows, and the version of their circle, which is on the same item.
pub(super) fn following() -> Step {
    raised(UserCount::Following, Some(200))
}

/// Who follows somebody.
pub(super) fn followers() -> Step {
    raised(UserCount::Followers, None)
}

/// What somebody has posted.
pub(super) fn posts() -> Step {
    raised(UserCount::Posts, None)
}

/// What somebody has earned.
pub(super) fn xp() -> Step {
    raised(UserCount::Xp, None)
}

/// What somebody has not read yet.
pub(super) fn unread() -> Step {
    raised(UserCount::Unread, None)
}

/// Something happened: the activity, and the head that puts it in order.
pub(super) fn activity() -> [Step; 2] {
    let before = samples::actor_head();
    let after = ActorHead { version: before.version + 1, ..before.clone() };
    [put(&samples::activity()), change(&before, &after)]
}

/// Neither of two people has blocked the other.
pub(super) fn unblocked() -> [Step; 2] {
    [absent::<Block>(), absent::<Block>()]
}

/// Copies of an activity in the feeds of followers, where its actor is promoted.
pub(super) fn feed_items() -> Step {
    put(&samples::feed_item()).times(FEEDS, 0.0)
}

/// Somebody is told, and has one more to read.
pub(super) fn notice() -> [Step; 2] {
    [put(&samples::notification()).together(), unread().together()]
}

/// As many people are told as `count` says.
pub(super) fn notices(count: &'static str, usually: f64) -> [Step; 2] {
    notice().map(|step| step.times(count, usually))
}

/// What people do with a post is counted, and sometimes moves it among the popular ones. Counts are
/// folded by batch: one write for each change is the most it can be.
pub(super) fn engagement() -> [Step; 2] {
    let before = samples::post_counter();
    let after = PostCounter { likes: before.likes + 1, ..before.clone() };
    let post = samples::post();
    let score = post.score.map_or(0, Score::value);
    let higher = Post { score: Some(Score::new(score + 10)), ..post.clone() };
    [change(&before, &after), change(&post, &higher).times("rescored", 0.1)]
}
