//! What people did: they wrote posts, and passed some on.

use std::collections::HashSet;

use rand::Rng;
use rand::rngs::SmallRng;
use roundtable_model::{Ids, ModerationStatus, Time, Visibility};

use super::{BEGIN_MS, SPAN_MS, Scale, Told, Town, Verb, Written};
use crate::feed::skew::Skew;

/// The share of activities that pass a post on, and of those that were taken back.
const SHARED: f64 = 0.05;
const UNSHARED: f64 = 0.03;
/// How far back posts are passed on.
const SHAREABLE: usize = 20_000;
/// What each reader does, more or less: little.
const EACH_READER: usize = 5;
/// The share of activities that happen in the same millisecond as the one before.
const AT_ONCE: f64 = 0.01;

impl Town {
    /// Lets everybody act, those of the first ranks most.
    pub(super) fn act(
        &mut self,
        scale: &Scale,
        ids: &Ids,
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
            self.did(ids, (actor, at_ms), &mut shared, random);
            last_ms = at_ms;
        }
    }

    fn did(
        &mut self,
        ids: &Ids,
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
                self.posts.push(Written::by(ids, actor, at_ms, random));
                (self.posts.len() - 1, Verb::Wrote)
            }
        };
        let id = ids.next_at(Time::from_ms(at_ms));
        self.told.push(Told { id, at_ms, actor, post, verb });
        if let Some(person) = self.people.get_mut(actor) {
            person.last_ms = Some(at_ms);
        }
    }
}

impl Written {
    fn by(ids: &Ids, author: usize, at_ms: u64, random: &mut SmallRng) -> Self {
        let [seen, judged, gone]: [f64; 3] = random.random();
        Self {
            id: ids.next_at(Time::from_ms(at_ms)),
            author,
            at_ms,
            visibility: match seen {
                ..0.01 => Visibility::Private,
                ..0.06 => Visibility::Followers,
                _ => Visibility::Public,
            },
            moderation: match judged {
                ..0.01 => ModerationStatus::Rejected,
                ..0.015 => ModerationStatus::Flagged,
                ..0.02 => ModerationStatus::Pending,
                _ => ModerationStatus::Approved,
            },
            is_deleted: gone < 0.02,
        }
    }
}

/// Milliseconds between two activities, on average.
fn step(activities: usize) -> u64 {
    (SPAN_MS / (activities as u64).max(1)).max(1)
}

#[expect(clippy::cast_precision_loss, reason = "counts here stay far below 2^52")]
fn share(part: usize, whole: usize) -> f64 {
    (part as f64 / whole.max(1) as f64).min(1.0)
}
