//! Users, activities and relations as numbers: random from a fixed seed, the same for every subject.

mod activities;
mod relations;

use std::sync::Arc;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_model::{ActivityId, IdGenerator, ModerationStatus, PostId, Time, UserId};
use roundtable_model::{UserStatus, Visibility};
use roundtable_table::ManualClock;

use super::skew::{Skew, normal};

/// The time of the first activity, and the period of all of them.
const BEGIN_MS: u64 = 1_767_225_600_000;
const SPAN_MS: u64 = 90 * 24 * 60 * 60 * 1000;
const SEED: u64 = 20_260_101;

#[derive(Clone, Debug)]
pub(super) struct Scale {
    pub(super) activities: usize,
    /// Users who act, and who follow the star.
    pub(super) actors: usize,
    /// Numbers of followees, each with the number of its readers.
    pub(super) readers: Vec<(usize, usize)>,
    /// The number of other readers, and of the followees of each.
    pub(super) regulars: (usize, usize),
}

impl Scale {
    pub(super) fn of(quick: bool) -> Self {
        if quick {
            let readers = vec![(10, 5), (100, 5), (500, 5), (1_000, 5)];
            return Self { activities: 50_000, actors: 5_000, readers, regulars: (50, 200) };
        }
        let readers = vec![(10, 20), (100, 20), (500, 20), (1_000, 20), (5_000, 20), (20_000, 5)];
        Self { activities: 1_000_000, actors: 100_000, readers, regulars: (1_000, 200) }
    }

    /// A town just large enough for readers with this number of followees.
    #[cfg(feature = "dynamodb")]
    pub(super) fn small(followees: usize) -> Self {
        let (activities, actors) = (followees * 15, followees * 3);
        Self { activities, actors, readers: vec![(followees, 3)], regulars: (0, 0) }
    }
}

/// A user. Actors come first, then readers, then the star.
#[derive(Clone, Debug)]
pub(super) struct Person {
    pub(super) id: UserId,
    pub(super) status: UserStatus,
    pub(super) is_private: bool,
    /// The time of the last activity.
    pub(super) last_ms: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct SeedPost {
    pub(super) id: PostId,
    pub(super) author: usize,
    pub(super) at_ms: u64,
    pub(super) visibility: Visibility,
    pub(super) moderation: ModerationStatus,
    pub(super) is_deleted: bool,
}

/// An activity: a new post, or a share.
#[derive(Clone, Debug)]
pub(super) struct SeedActivity {
    pub(super) id: ActivityId,
    pub(super) at_ms: u64,
    pub(super) actor: usize,
    pub(super) post: usize,
    pub(super) verb: Verb,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Wrote,
    Shared,
    /// Shared, and later removed.
    Unshared,
}

/// A follow or a pending request.
#[derive(Clone, Copy, Debug)]
pub(super) struct FollowEdge {
    pub(super) follower: usize,
    pub(super) followee: usize,
    pub(super) is_active: bool,
    pub(super) is_muted: bool,
}

#[derive(Debug)]
pub(super) struct Town {
    pub(super) people: Vec<Person>,
    pub(super) posts: Vec<SeedPost>,
    /// Sorted by time, then by id.
    pub(super) activities: Vec<SeedActivity>,
    pub(super) edges: Vec<FollowEdge>,
    /// Blockers and blocked users.
    pub(super) blocks: Vec<(usize, usize)>,
    /// Readers by number of followees.
    pub(super) readers: Vec<(usize, Vec<usize>)>,
    pub(super) regulars: Vec<usize>,
    /// The user that all actors follow.
    pub(super) star: usize,
    pub(super) actors: usize,
}

impl Town {
    pub(super) fn of(scale: &Scale) -> Self {
        let ids = IdGenerator::new(Arc::new(ManualClock::at_ms(BEGIN_MS)), [5; 32]);
        let mut random = SmallRng::seed_from_u64(SEED);
        let readers: usize = scale.readers.iter().map(|(_, readers)| readers).sum();
        let people = (0..=scale.actors + readers).map(|number| {
            let is_actor = number < scale.actors && number >= scale.regulars.0;
            Person::new(&ids, number, is_actor, &mut random)
        });
        let mut town = Self {
            people: people.collect(),
            posts: Vec::new(),
            activities: Vec::with_capacity(scale.activities),
            edges: Vec::new(),
            blocks: Vec::new(),
            readers: Vec::new(),
            regulars: (0..scale.regulars.0).collect(),
            star: scale.actors + readers,
            actors: scale.actors,
        };
        let volume = Skew::new(scale.actors, 50.0, 1.3);
        let ranked = shuffled(scale.actors, &mut random);
        town.add_activities(scale, &ids, (&volume, &ranked), &mut random);
        town.add_relations(scale, &popularity(&ranked, &mut random), &mut random);
        town
    }

    /// The time of the first activity; all users registered before.
    pub(super) const fn begin_ms() -> u64 {
        BEGIN_MS
    }

    /// Returns the user with a number, or else the star.
    pub(super) fn person(&self, number: usize) -> &Person {
        // There is always a star.
        self.people.get(number).or_else(|| self.people.last()).unwrap_or_else(|| unreachable!())
    }

    pub(super) fn nickname(number: usize) -> String {
        format!("person{number}")
    }

    /// Returns the text of a post: one to four sentences, the same in every run.
    pub(super) fn text(number: usize) -> String {
        const SENTENCES: [&str; 6] = [
            "Ran ten kilometres along the river before the sun was up.",
            "Baked a loaf of bread for everybody afterwards, and nobody left a crumb.",
            "The hills did not win this time, though it was a close call near the old mill.",
            "Who joins on Saturday?",
            "Tomatoes are in, beans are next, and the fence still needs a new post or two.",
            "Somebody please explain to me how the coffee here got this good.",
        ];
        let sentences = SENTENCES.iter().cycle().skip(number % 5).take(1 + number % 4);
        let text = sentences.fold(format!("{number}:"), |text, next| format!("{text} {next}"));
        Self::tag(number).map_or(text.clone(), |tag| format!("{text} #{tag}"))
    }

    /// Every other post has a tag.
    pub(super) fn tag(number: usize) -> Option<String> {
        number.is_multiple_of(2).then(|| format!("morning{}", number % 1_000))
    }
}

impl Person {
    fn new(ids: &IdGenerator, number: usize, is_anybody: bool, random: &mut SmallRng) -> Self {
        let (fate, shy): (f64, f64) = (random.random(), random.random());
        let status = match fate {
            ..0.002 => UserStatus::Deleted,
            ..0.007 => UserStatus::Suspended,
            _ => UserStatus::Active,
        };
        Self {
            id: ids.next_at(Time::from_ms(BEGIN_MS - 1_000_000_000 + number as u64)),
            status: if is_anybody { status } else { UserStatus::Active },
            is_private: is_anybody && shy < 0.03,
            last_ms: None,
        }
    }
}

/// Returns all numbers below `count` in random order.
fn shuffled(count: usize, random: &mut SmallRng) -> Vec<usize> {
    use rand::seq::SliceRandom;
    let mut numbers: Vec<usize> = (0..count).collect();
    numbers.shuffle(random);
    numbers
}

/// Returns the popularity of each actor: with some noise, more active users have more followers.
#[expect(clippy::cast_precision_loss, reason = "ranks stay far below 2^52")]
fn popularity(ranked: &[usize], random: &mut SmallRng) -> Vec<f64> {
    const NOISE: f64 = 1.5;
    let fame = |(rank, actor): (usize, &usize)| {
        (((rank + 1) as f64).ln() + NOISE * normal(random), *actor)
    };
    let mut fame: Vec<(f64, usize)> = ranked.iter().enumerate().map(fame).collect();
    fame.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (skew, mut weights) = (Skew::new(ranked.len(), 20.0, 1.0), vec![0.0; ranked.len()]);
    for (rank, (_, actor)) in fame.into_iter().enumerate() {
        if let Some(weight) = weights.get_mut(actor) {
            *weight = skew.weight(rank);
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_town_is_the_same_every_time_and_in_order() {
        let [one, other] = [0; 2].map(|_| Town::of(&Scale::of(true)));
        assert!(
            one.activities.iter().zip(&other.activities).all(|(one, other)| one.id == other.id)
        );
        assert_eq!(one.edges.len(), other.edges.len());
        assert!(one.activities.is_sorted_by_key(|activity| (activity.at_ms, activity.id.clone())));
        let mut last = vec![0; one.people.len()];
        for activity in &one.activities {
            assert!(activity.at_ms > last[activity.actor], "later than all others of its actor");
            last[activity.actor] = activity.at_ms;
        }
    }

    #[test]
    fn half_do_almost_nothing_and_some_things_are_not_for_everybody() {
        let town = Town::of(&Scale::of(true));
        let mut counts = vec![0_u32; town.people.len()];
        town.activities.iter().for_each(|activity| counts[activity.actor] += 1);
        let few = counts.iter().filter(|count| **count <= 3).count();
        assert!(few * 2 > town.people.len(), "{few} of {}", town.people.len());
        assert!(town.posts.iter().any(|post| post.is_deleted));
        assert!(town.activities.iter().any(|activity| activity.verb == Verb::Unshared));
        assert!(town.edges.iter().any(|edge| edge.is_muted));
        assert!(town.edges.iter().any(|edge| !edge.is_active));
        let fans = town.edges.iter().filter(|edge| edge.followee == town.star).count();
        assert_eq!(fans, town.actors);
    }
}
