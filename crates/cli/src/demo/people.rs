//! Who lives in the sample town, and who is how well known.

use std::collections::HashSet;

use rand::Rng;
use rand::rngs::SmallRng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use roundtable_model::Role;

use super::names::{COUNTRIES, GIVEN, HABITS, SURNAMES, TRADES};
use super::topics::TOPICS;

/// Somebody whom others can sign in as.
#[derive(Debug)]
pub(super) struct Login {
    /// What they are called.
    pub(super) nickname: &'static str,
    /// Their name in civil life.
    full_name: &'static str,
    /// What they sign in with.
    pub(super) email: &'static str,
    /// What proves it. Everybody may know it: the town is on this machine.
    pub(super) password: &'static str,
    /// What they may do.
    pub(super) role: Role,
    bio: &'static str,
}

/// The first people of every town.
pub(super) const LOGINS: [Login; 3] = [
    Login {
        nickname: "wren",
        full_name: "Wren Tanglewold",
        email: "wren@example.com",
        password: "wren at the table",
        role: Role::User,
        bio: "New in town, and in half of its clubs already.",
    },
    Login {
        nickname: "rowan",
        full_name: "Rowan Kestrelby",
        email: "rowan@example.com",
        password: "rowan keeps the peace",
        role: Role::Moderator,
        bio: "Moderates here. Be kind, and we shall hardly meet.",
    },
    Login {
        nickname: "alder",
        full_name: "Alder Quillfeather",
        email: "alder@example.com",
        password: "alder holds the keys",
        role: Role::Admin,
        bio: "Keeps this place running.",
    },
];

/// Somebody who lives here.
#[derive(Debug)]
pub(super) struct Resident {
    pub(super) nickname: String,
    pub(super) full_name: String,
    pub(super) email: String,
    pub(super) bio: String,
    pub(super) country: &'static str,
    /// What they like, as places in [`TOPICS`], what they like most first.
    pub(super) likes: Vec<usize>,
    pub(super) is_private: bool,
    /// How they are known to sign in, if anybody can.
    pub(super) login: Option<&'static Login>,
}

/// So many people, of whom the first are those of [`LOGINS`].
pub(super) fn residents(count: usize, random: &mut SmallRng) -> Vec<Resident> {
    let mut people: Vec<Resident> = LOGINS.iter().map(known).collect();
    let mut nicknames: HashSet<String> = HashSet::new();
    while people.len() < count {
        people.push(somebody(&mut nicknames, random));
    }
    people
}

fn known(login: &'static Login) -> Resident {
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

fn somebody(nicknames: &mut HashSet<String>, random: &mut SmallRng) -> Resident {
    let given = GIVEN.choose(random).copied().unwrap_or_default();
    let surname = SURNAMES.choose(random).copied().unwrap_or_default();
    let nickname = nickname(given, surname, nicknames);
    let trade = TRADES.choose(random).copied().unwrap_or_default();
    let habit = HABITS.choose(random).copied().unwrap_or_default();
    let mut likes = vec![liked(random), liked(random), liked(random)];
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

/// What somebody likes: the first topics are liked by more than the last.
fn liked(random: &mut SmallRng) -> usize {
    random.random_range(0..TOPICS.len()).min(random.random_range(0..TOPICS.len()))
}

/// A nickname that nobody has yet.
fn nickname(given: &str, surname: &str, taken: &mut HashSet<String>) -> String {
    let (given, surname) = (given.to_lowercase(), surname.to_lowercase());
    let initial = surname.chars().next().unwrap_or('x');
    let wishes = [given.clone(), format!("{given}_{initial}"), format!("{given}_{surname}")];
    let numbered = (2_u32..).map(|number| format!("{given}_{surname}{number}"));
    let mut free = wishes.into_iter().chain(numbered).filter(|name| taken.insert(name.clone()));
    free.next().unwrap_or(given)
}

/// Share of the town that follows whoever is followed most.
const BEST_KNOWN: f64 = 0.45;
/// How fast fame falls with rank. With this one the middle of two thousand people has two followers.
const FALL: f64 = 0.9;

/// Who follows whom: a few are followed by nearly half the town, half of it by next to nobody.
pub(super) fn circles(people: &[Resident], random: &mut SmallRng) -> Vec<(usize, usize)> {
    let count = people.len();
    let mut ranks: Vec<usize> = (LOGINS.len()..count).collect();
    ranks.shuffle(random);
    // Those who can be signed in as are known to some.
    let middle = (count / 20).min(ranks.len());
    ranks.splice(middle..middle, 0..LOGINS.len().min(count));
    let mut pairs = Vec::new();
    for (rank, followee) in ranks.iter().copied().enumerate() {
        for follower in followers(followers_of(rank, count), followee, count, random) {
            pairs.push((follower, followee));
        }
    }
    // Whoever looks through Wren's eyes should have something to see.
    pairs.extend(ranks.iter().take(40.min(count / 3)).filter(|who| **who > 0).map(|who| (0, *who)));
    let mut known = HashSet::new();
    pairs.retain(|pair| known.insert(*pair));
    pairs.shuffle(random);
    pairs
}

/// How many follow whoever has this rank.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rough number of people"
)]
fn followers_of(rank: usize, count: usize) -> usize {
    (count as f64 * BEST_KNOWN / (rank as f64 + 1.0).powf(FALL)) as usize
}

/// So many others. Some people follow a lot, most a little.
fn followers(wanted: usize, of: usize, count: usize, random: &mut SmallRng) -> HashSet<usize> {
    let mut found = HashSet::new();
    let keen = (count / 3).max(1);
    while found.len() < wanted.min(count.saturating_sub(1)) {
        let among = if random.random_ratio(3, 5) && found.len() < keen / 2 { keen } else { count };
        let follower = random.random_range(0..among);
        if follower != of {
            found.insert(follower);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    #[test]
    fn a_few_are_known_to_many_and_half_to_hardly_anybody() {
        let mut random = SmallRng::seed_from_u64(1);
        let people = residents(2_000, &mut random);
        let mut followers = vec![0_usize; people.len()];
        for (_, followee) in circles(&people, &mut random) {
            followers[followee] += 1;
        }
        followers.sort_unstable();
        assert!(followers[people.len() / 2] <= 3, "{}", followers[people.len() / 2]);
        assert!(followers[people.len() - 1] >= 800, "{}", followers[people.len() - 1]);
        assert!(followers[people.len() - 20] >= 50, "{}", followers[people.len() - 20]);
    }

    #[test]
    fn everybody_has_a_name_of_their_own_that_can_be_mentioned() {
        let people = residents(3_000, &mut SmallRng::seed_from_u64(1));
        let nicknames: HashSet<&str> = people.iter().map(|who| who.nickname.as_str()).collect();
        assert_eq!(nicknames.len(), people.len());
        let plain =
            |name: &&str| name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
        assert!(nicknames.iter().all(plain));
    }
}
