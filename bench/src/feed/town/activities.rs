//! The activities of a town: posts and shares.

use std::collections::HashSet;

use rand::Rng;
use rand::rngs::SmallRng;
use roundtable_model::{IdGenerator, ModerationStatus, Time, Visibility};

use super::{BEGIN_MS, SPAN_MS, Scale, SeedActivity, SeedPost, Town, Verb};
use crate::feed::skew::Skew;

/// The fraction of activities that are shares, and of shares that were removed.
const SHARED: f64 = 0.05;
const UNSHARED: f64 = 0.03;
/// The number of latest posts that can be shared.
const SHAREABLE: usize = 20_000;
/// The approximate number of activities of each reader.
const EACH_READER: usize = 5;
/// The fraction of activities in the same millisecond as the one before.
const AT_ONCE: f64 = 0.01;

impl Town {
    /// Adds activities; actors of the first ranks have most.
    pub(super) fn add_activities(
        &mut self,
        scale: &Scale,
        ids: &IdGenerator,
        (volume, ranked): (&Skew, &[usize]),
        random: &mut SmallRng,
    ) {
        let readers = self.actors..self.star;
        let by_readers = share(readers.len() * EACH_READER, scale.activities);
        let (step, mut last_ms, mut shared) = (step(scale.activities), 0, HashSet::new());
        for number in 0..scale.activities as u64 {
            let actor = if !readers.is_empty() && random.random_bool(by_readers) {
                random.random_range(readers.clone())
            } else {
                ranked.get(volume.draw(random)).copied().unwrap_or_default()
            };
            let again = random.random_bool(AT_ONCE) && self.person(actor).last_ms < Some(last_ms);
            let chance = random.random_range(0..step);
            let at_ms = if again { last_ms } else { BEGIN_MS + number * step + chance };
            let at_ms = at_ms.max(last_ms).max(self.person(actor).last_ms.map_or(0, |ms| ms + 1));
            self.add_activity(ids, (actor, at_ms), &mut shared, random);
            last_ms = at_ms;
        }
    }

    fn add_activity(
        &mut self,
        ids: &IdGenerator,
        (actor, at_ms): (usize, u64),
        shared: &mut HashSet<(usize, usize)>,
        random: &mut SmallRng,
    ) {
        let passed_on = random.random_bool(SHARED).then(|| {
            let back = random.random_range(0..SHAREABLE.min(self.posts.len().max(1)));
            self.posts.len().checked_sub(1 + back)
        });
        let fresh = |post: &usize| {
            let foreign = self.posts.get(*post).is_some_and(|post| post.author != actor);
            foreign && shared.insert((*post, actor))
        };
        let (post, verb) = match passed_on.flatten().filter(fresh) {
            Some(post) if random.random_bool(UNSHARED) => (post, Verb::Unshared),
            Some(post) => (post, Verb::Shared),
            None => {
                self.posts.push(SeedPost::by(ids, actor, at_ms, random));
                (self.posts.len() - 1, Verb::Wrote)
            }
        };
        let id = ids.next_at(Time::from_ms(at_ms));
        self.activities.push(SeedActivity { id, at_ms, actor, post, verb });
        if let Some(person) = self.people.get_mut(actor) {
            person.last_ms = Some(at_ms);
        }
    }
}

impl SeedPost {
    fn by(ids: &IdGenerator, author: usize, at_ms: u64, random: &mut SmallRng) -> Self {
        let [visibility, moderation, deletion]: [f64; 3] = random.random();
        Self {
            id: ids.next_at(Time::from_ms(at_ms)),
            author,
            at_ms,
            visibility: match visibility {
                ..0.01 => Visibility::Private,
                ..0.06 => Visibility::Followers,
                _ => Visibility::Public,
            },
            moderation: match moderation {
                ..0.01 => ModerationStatus::Rejected,
                ..0.015 => ModerationStatus::Flagged,
                ..0.02 => ModerationStatus::Pending,
                _ => ModerationStatus::Approved,
            },
            is_deleted: deletion < 0.02,
        }
    }
}

/// The average number of milliseconds between two activities.
fn step(activities: usize) -> u64 {
    (SPAN_MS / (activities as u64).max(1)).max(1)
}

#[expect(clippy::cast_precision_loss, reason = "counts here stay far below 2^52")]
fn share(part: usize, whole: usize) -> f64 {
    (part as f64 / whole.max(1) as f64).min(1.0)
}
