//! One typical item of every entity, in a function named after the entity: for capacity planning,
//! documentation and tests. They tell one story of a small town, so that ids, times and counts
//! agree. They are constants, not generators.
//!
//! Ana and Bo follow each other. Ana posts a picture of a run; Bo comments on it and shares it;
//! Cleo, a moderator, likes it; Dan is rude about it.

mod cast;
mod chat;
mod feeds;
mod goals;
mod groups;
mod ops;
mod people;
mod posts;
mod reactions;

pub use chat::{assist_helper, assist_msg, assist_thread, message, room, room_head, room_member};
pub use feeds::{
    activity, actor_head, feed_horizon, feed_item, notification, notification_preferences,
    profile_activity, promotion, tag_ref, upload,
};
pub use goals::{goal, milestone, quest, quest_step, task, xp_entry};
pub use groups::{company, group, group_counter, group_member, offer};
pub use ops::{checkpoint, dead_letter, feed_ranking, job, login_attempt, sealed_key, webhook};
pub use people::{
    api_key, block, credential, device, email_lock, follow, handle_lock, idempotency, identity,
    invitation, mute, nick_lock, post_watch, session, user, user_counter,
};
pub use posts::{post, post_counter, post_summary, scores};
pub use reactions::{
    audit, case_report, comment, comment_counter, comment_like, like, moderation_case, report,
    share,
};

use std::str::FromStr;

use roundtable_table::Item;

use crate::shape::EntityShape;
use crate::{Entity, InvalidValue};

/// Calls a function with each sample, in the order of the schema.
macro_rules! each {
    ($with:ident $(($entity:ident $sample:ident))*) => { vec![$($with(&$sample())),*] };
}

/// Returns all samples as items, with their entities.
pub fn typical() -> Vec<(&'static EntityShape, Item)> {
    fn typical<E: Entity>(sample: &E) -> (&'static EntityShape, Item) {
        (E::SHAPE, sample.item())
    }
    with_entities!(each typical)
}

/// Parses a constant text.
#[expect(clippy::expect_used, reason = "the texts are constants, and a test makes every sample")]
fn read<T: FromStr<Err = InvalidValue>>(text: &str) -> T {
    text.parse().expect("a sample must parse")
}

/// Parses constant texts.
fn read_all<T: FromStr<Err = InvalidValue>>(texts: &[&str]) -> Vec<T> {
    texts.iter().copied().map(read).collect()
}

#[cfg(test)]
mod tests;
