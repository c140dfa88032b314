//! What happens in the sample town, in order: who posts what, who likes it, who talks with whom.

use rand::Rng;
use rand::rngs::SmallRng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};

use super::people::Resident;
use super::talk::{COMMENTS, COMPLAINTS, DIALOGUES, REPLIES};
use super::topics::{DAYS, PLACES, TOPICS, Topic};

/// Something somebody does. People, groups and posts are known by their places in the town's lists.
#[derive(Debug)]
pub(super) enum Act {
    Post { who: usize, post: usize, group: Option<usize>, text: String },
    Comment { who: usize, post: usize, text: String, answer: Option<&'static str> },
    Like { who: usize, post: usize },
    Share { who: usize, post: usize },
    Chat { who: usize, with: usize, lines: &'static [&'static str] },
    Meeting { group: usize, speakers: Vec<usize>, lines: &'static [&'static str] },
    Pursue { who: usize, topic: usize, done: usize, quest: bool },
    Report { who: usize, post: usize, reason: &'static str },
}

/// A group, as the story knows it.
#[derive(Debug)]
pub(super) struct Club {
    pub(super) topic: usize,
    /// Which of several about the same.
    pub(super) number: usize,
    /// The first owns it.
    pub(super) members: Vec<usize>,
    pub(super) is_private: bool,
}

/// A post, as the story knows it.
#[derive(Debug)]
struct Posted {
    who: usize,
    fame: usize,
}

/// Acts that are under way at the same time: none is about a post of the same page.
pub(super) const PAGE_ACTS: usize = 400;

/// What happens, page by page.
#[derive(Debug)]
pub(super) struct Story<'a> {
    people: &'a [Resident],
    /// How many follow each.
    fame: Vec<usize>,
    /// Whom each follows.
    follows: Vec<Vec<usize>>,
    clubs: &'a [Club],
    random: SmallRng,
    /// How many there are of all, and those that everybody can see.
    posts: usize,
    seen: Vec<(usize, Posted)>,
    /// Those of earlier pages.
    settled: usize,
}

/// The groups of a town: about one for fifty people.
pub(super) fn clubs(people: &[Resident], random: &mut SmallRng) -> Vec<Club> {
    let count = (people.len() / 50).max(3);
    let club = |at: usize, random: &mut SmallRng| {
        let topic = at % TOPICS.len();
        let mut members: Vec<usize> = (0..people.len())
            .filter(|who| people.get(*who).is_some_and(|person| person.likes.contains(&topic)))
            .collect();
        members.shuffle(random);
        members.truncate(random.random_range(4..=12) * people.len().div_ceil(200).min(8));
        if members.is_empty() {
            members.push(0);
        }
        Club { topic, number: at / TOPICS.len(), members, is_private: at % 7 == 6 }
    };
    (0..count).map(|at| club(at, random)).collect()
}

impl<'a> Story<'a> {
    pub(super) fn new(
        people: &'a [Resident],
        circles: &[(usize, usize)],
        clubs: &'a [Club],
        random: SmallRng,
    ) -> Self {
        let mut fame = vec![0; people.len()];
        let mut follows = vec![Vec::new(); people.len()];
        for (follower, followee) in circles {
            if let Some(fame) = fame.get_mut(*followee) {
                *fame += 1;
            }
            if let Some(follows) = follows.get_mut(*follower) {
                follows.push(*followee);
            }
        }
        Self { people, fame, follows, clubs, random, posts: 0, seen: Vec::new(), settled: 0 }
    }

    /// All of it.
    pub(super) fn pages(mut self) -> Vec<Vec<Act>> {
        let count = self.people.len();
        let mut deck: Vec<Kind> = Vec::new();
        for (kind, of_ten) in KINDS {
            deck.extend(std::iter::repeat_n(kind, (count * of_ten / 10).max(2)));
        }
        deck.shuffle(&mut self.random);
        // Before anything can be liked, something must have been said.
        let first = std::iter::repeat_n(Kind::Post, (count / 5).max(5));
        let deck: Vec<Kind> = first.chain(deck).collect();
        let length = PAGE_ACTS.min(deck.len().div_ceil(20)).max(5);
        let mut pages = Vec::new();
        for kinds in deck.chunks(length) {
            self.settled = self.seen.len();
            pages.push(kinds.iter().filter_map(|kind| self.act(*kind)).collect());
        }
        pages
    }

    fn act(&mut self, kind: Kind) -> Option<Act> {
        let who = self.somebody();
        Some(match kind {
            Kind::Post => self.post(who),
            Kind::Comment => {
                let (post, author) = self.lively()?;
                let text = self.pick(&COMMENTS);
                let mention = self.random.random_ratio(1, 12).then(|| self.friend(who)).flatten();
                let text = match mention {
                    Some(friend) => format!("{text} Look, @{friend}!"),
                    None => text.to_owned(),
                };
                let answers = author != who && self.random.random_ratio(1, 4);
                let answer = answers.then(|| self.pick(&REPLIES));
                Act::Comment { who, post, text, answer }
            }
            Kind::Like => Act::Like { who, post: self.lively()?.0 },
            Kind::Share => {
                let (post, author) = self.lively()?;
                (author != who).then_some(Act::Share { who, post })?
            }
            Kind::Chat => {
                let with = *self.follows.get(who)?.choose(&mut self.random)?;
                Act::Chat { who, with, lines: DIALOGUES.choose(&mut self.random)? }
            }
            Kind::Meeting => {
                let group = self.random.random_range(0..self.clubs.len());
                let mut speakers = self.clubs.get(group)?.members.clone();
                speakers.truncate(4);
                Act::Meeting { group, speakers, lines: DIALOGUES.choose(&mut self.random)? }
            }
            Kind::Pursuit => {
                let topic = *self.people.get(who)?.likes.choose(&mut self.random)?;
                let (done, quest) =
                    (self.random.random_range(0..=4), self.random.random_ratio(1, 2));
                Act::Pursue { who, topic, done, quest }
            }
            Kind::Report => {
                let (post, author) = self.lively()?;
                let reason = self.pick(&COMPLAINTS);
                (author != who).then_some(Act::Report { who, post, reason })?
            }
        })
    }

    fn post(&mut self, who: usize) -> Act {
        let person = self.people.get(who);
        let topic = person.and_then(|person| person.likes.choose(&mut self.random)).copied();
        let topic = topic.unwrap_or_default();
        let mine = |(at, club): (usize, &Club)| {
            (club.topic == topic && club.members.contains(&who)).then_some(at)
        };
        let group = self.clubs.iter().enumerate().find_map(mine);
        let group = group.filter(|_| self.random.random_ratio(1, 3));
        let mut text = TOPICS.get(topic).map(|topic| self.about(topic)).unwrap_or_default();
        if self.random.random_ratio(1, 6)
            && let Some(friend) = self.friend(who)
        {
            text = format!("{text} @{friend}, this one is for you.");
        }
        let post = self.posts;
        self.posts += 1;
        let open = person.is_some_and(|person| !person.is_private);
        // What is in a group, or behind a lock, is not everybody's to like.
        if open && group.is_none() {
            let fame = self.fame.get(who).copied().unwrap_or_default();
            self.seen.push((post, Posted { who, fame }));
        }
        Act::Post { who, post, group, text }
    }

    /// What is posted about something.
    fn about(&mut self, topic: &Topic) -> String {
        let (place, day) = (self.pick(&PLACES), self.pick(&DAYS));
        let text = self.pick(&topic.posts).replace("{place}", place).replace("{day}", day);
        match self.random.random_range(0..4) {
            0 => text,
            1 => format!("{text} #{} #{}", topic.tag, topic.also),
            _ => format!("{text} #{}", topic.tag),
        }
    }

    /// One of everybody; some do more than others.
    fn somebody(&mut self) -> usize {
        let count = self.people.len();
        self.random.random_range(0..count).min(self.random.random_range(0..count))
    }

    /// The nickname of somebody they follow.
    fn friend(&mut self, who: usize) -> Option<&'a str> {
        let friend = *self.follows.get(who)?.choose(&mut self.random)?;
        self.people.get(friend).map(|friend| friend.nickname.as_str())
    }

    /// A post of the last days, rather one of somebody many know; with its author.
    fn lively(&mut self) -> Option<(usize, usize)> {
        let from = self.settled.saturating_sub(600);
        let recent = self.seen.get(from..self.settled)?;
        let among: Vec<&(usize, Posted)> = recent.choose_multiple(&mut self.random, 4).collect();
        let best = among.into_iter().max_by_key(|(_, posted)| posted.fame)?;
        Some((best.0, best.1.who))
    }

    fn pick(&mut self, words: &[&'static str]) -> &'static str {
        words.choose(&mut self.random).copied().unwrap_or_default()
    }
}

/// Kinds of acts.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Post,
    Comment,
    Like,
    Share,
    Chat,
    Meeting,
    Pursuit,
    Report,
}

/// How many there are of each, for ten people.
const KINDS: [(Kind, usize); 8] = [
    (Kind::Post, 18),
    (Kind::Comment, 20),
    (Kind::Like, 70),
    (Kind::Share, 5),
    (Kind::Chat, 4),
    (Kind::Meeting, 1),
    (Kind::Pursuit, 4),
    (Kind::Report, 0),
];
