//! The people of the sample town, and who follows them.

use std::collections::HashSet;

use rand::Rng;
use rand::rngs::SmallRng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use roundtable_model::Role;

use super::names::{COUNTRIES, GIVEN, HABITS, SURNAMES, TRADES};
use super::topics::TOPICS;

/// A user with a published password.
#[derive(Debug)]
pub(super) struct SampleLogin {
    pub(super) nickname: &'static str,
    full_name: &'static str,
    pub(super) email: &'static str,
    /// No secret: the town is on this machine.
    pub(super) password: &'static str,
    pub(super) role: Role,
    bio: &'static str,
}

/// The first people of every town.
pub(super) const LOGINS: [SampleLogin; 3] = [
    SampleLogin {
        nickname: "wren",
        full_name: "Wren Tanglewold",
        email: "wren@example.com",
        password: "wren at the table",
        role: Role::User,
        bio: "New in town, and in half of its clubs already.",
    },
    SampleLogin {
        nickname: "rowan",
        full_name: "Rowan Kestrelby",
        email: "rowan@example.com",
        password: "rowan keeps the peace",
        role: Role::Moderator,
        bio: "Moderates here. Be kind, and we shall hardly meet.",
    },
    SampleLogin {
        nickname: "alder",
        full_name: "Alder Quillfeather",
        email: "alder@example.com",
        password: "alder holds the keys",
        role: Role::Admin,
        bio: "Keeps this place running.",
    },
];

#[derive(Debug)]
pub(super) struct Resident {
    pub(super) nickname: String,
    pub(super) full_name: String,
    pub(super) email: String,
    pub(super) bio: String,
    pub(super) country: &'static str,
    /// Indexes into [`TOPICS`], the favourite first.
    pub(super) likes: Vec<usize>,
    pub(super) is_private: bool,
    pub(super) login: Option<&'static SampleLogin>,
}

/// Generates this many people; the first are those of [`LOGINS`].
pub(super) fn residents(count: usize, random: &mut SmallRng) -> Vec<Resident> {
    let mut people: Vec<Resident> = LOGINS.iter().map(login_resident).collect();
    let mut nicknames: HashSet<String> = HashSet::new();
    while people.len() < count {
        people.push(random_resident(&mut nicknames, random));
    }
    people
}

fn login_resident(login: &'static SampleLogin) -> Resident {
    Resident {
        nickname: login.nickname.to_owned(),
        full_name: login.full_name.to_owned(),
        email: login.email.to_owned(),
        bio: login.bio.to_owned(),
        country: "NL",
        likes: vec![0, 4, 8],
        is_private: false,
        login: Some(login),
    }
}

fn random_resident(nicknames: &mut HashSet<String>, random: &mut SmallRng) -> Resident {
    let given = GIVEN.choose(random).copied().unwrap_or_default();
    let surname = SURNAMES.choose(random).copied().unwrap_or_default();
    let nickname = nickname(given, surname, nicknames);
    let trade = TRADES.choose(random).copied().unwrap_or_default();
    let habit = HABITS.choose(random).copied().unwrap_or_default();
    let mut likes = vec![random_topic(random), random_topic(random), random_topic(random)];
    likes.dedup();
    Resident {
        email: format!("{nickname}@example.com"),
        nickname,
        full_name: format!("{given} {surname}"),
        bio: format!("{trade}, {habit}."),
        country: COUNTRIES.choose(random).copied().unwrap_or_default(),
        likes,
        is_private: random.random_ratio(1, 25),
        login: None,
    }
}

/// Picks a topic; earlier topics are more popular.
fn random_topic(random: &mut SmallRng) -> usize {
    random.random_range(0..TOPICS.len()).min(random.random_range(0..TOPICS.len()))
}

/// A nickname that is still free.
fn nickname(given: &str, surname: &str, taken: &mut HashSet<String>) -> String {
    let (given, surname) = (given.to_lowercase(), surname.to_lowercase());
    let initial = surname.chars().next().unwrap_or('x');
    let candidates = [given.clone(), format!("{given}_{initial}"), format!("{given}_{surname}")];
    let numbered = (2_u32..).map(|number| format!("{given}_{surname}{number}"));
    let mut free = candidates.into_iter().chain(numbered).filter(|name| taken.insert(name.clone()));
    free.next().unwrap_or(given)
}

/// The share of the town that follows the most popular person.
const MOST_FOLLOWED_SHARE: f64 = 0.45;
/// The exponent by which followers decrease with rank: of two thousand people, the median has two
/// followers.
const FOLLOWER_DECAY: f64 = 0.9;

/// Pairs of follower and followee: a few people are followed by nearly half the town, half of it by
/// almost none.
pub(super) fn follow_pairs(people: &[Resident], random: &mut SmallRng) -> Vec<(usize, usize)> {
    let count = people.len();
    let mut ranks: Vec<usize> = (LOGINS.len()..count).collect();
    ranks.shuffle(random);
    // The people of `LOGINS` are moderately popular.
    let middle = (count / 20).min(ranks.len());
    ranks.splice(middle..middle, 0..LOGINS.len().min(count));
    let mut pairs = Vec::new();
    for (rank, followee) in ranks.iter().copied().enumerate() {
        for follower in pick_followers(follower_count(rank, count), followee, count, random) {
            pairs.push((follower, followee));
        }
    }
    // The first login follows popular people, so that its feed is not empty.
    pairs.extend(
        ranks.iter().take(40.min(count / 3)).filter(|actor| **actor > 0).map(|actor| (0, *actor)),
    );
    let mut unique = HashSet::new();
    pairs.retain(|pair| unique.insert(*pair));
    pairs.shuffle(random);
    pairs
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rough number of people"
)]
fn follower_count(rank: usize, count: usize) -> usize {
    (count as f64 * MOST_FOLLOWED_SHARE / (rank as f64 + 1.0).powf(FOLLOWER_DECAY)) as usize
}

/// Picks followers; some people follow many, most a few.
fn pick_followers(wanted: usize, of: usize, count: usize, random: &mut SmallRng) -> HashSet<usize> {
    let mut followers = HashSet::new();
    let keen = (count / 3).max(1);
    while followers.len() < wanted.min(count.saturating_sub(1)) {
        let pool =
            if random.random_ratio(3, 5) && followers.len() < keen / 2 { keen } else { count };
        let follower = random.random_range(0..pool);
        if follower != of {
            followers.insert(follower);
        }
    }
    followers
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    #[test]
    fn a_few_are_followed_by_many_and_half_by_almost_none() {
        let mut random = SmallRng::seed_from_u64(1);
        let people = residents(2_000, &mut random);
        let mut followers = vec![0_usize; people.len()];
        for (_, followee) in follow_pairs(&people, &mut random) {
            followers[followee] += 1;
        }
        followers.sort_unstable();
        assert!(followers[people.len() / 2] <= 3, "{}", followers[people.len() / 2]);
        assert!(followers[people.len() - 1] >= 800, "{}", followers[people.len() - 1]);
        assert!(followers[people.len() - 20] >= 50, "{}", followers[people.len() - 20]);
    }

    #[test]
    fn every_nickname_is_unique_and_can_be_mentioned() {
        let people = residents(3_000, &mut SmallRng::seed_from_u64(1));
        let nicknames: HashSet<&str> = people.iter().map(|actor| actor.nickname.as_str()).collect();
        assert_eq!(nicknames.len(), people.len());
        let plain =
            |name: &&str| name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
        assert!(nicknames.iter().all(plain));
    }
}
