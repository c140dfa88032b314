//! The story of the sample town, step by step: posts, likes, comments, chats.

use rand::Rng;
use rand::rngs::SmallRng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};

use super::people::Resident;
use super::talk::{COMMENTS, COMPLAINTS, DIALOGUES, REPLIES};
use super::topics::{DAYS, PLACES, SampleTopic, TOPICS};

/// One action of one person. Numbers are indexes into the town's people, groups and posts.
#[derive(Debug)]
pub(super) enum StoryStep {
    Post { actor: usize, post: usize, group: Option<usize>, text: String },
    Comment { actor: usize, post: usize, text: String, answer: Option<&'static str> },
    Like { actor: usize, post: usize },
    Share { actor: usize, post: usize },
    Chat { actor: usize, with: usize, lines: &'static [&'static str] },
    Meeting { group: usize, speakers: Vec<usize>, lines: &'static [&'static str] },
    Pursue { actor: usize, topic: usize, done: usize, quest: bool },
    Report { actor: usize, post: usize, reason: &'static str },
}

/// A group of the story.
#[derive(Debug)]
pub(super) struct Club {
    pub(super) topic: usize,
    /// Counts the groups about the same topic.
    pub(super) number: usize,
    /// The first is the owner.
    pub(super) members: Vec<usize>,
    pub(super) is_private: bool,
}

/// A post of the story.
#[derive(Debug)]
struct StoryPost {
    actor: usize,
    followers: usize,
}

/// Steps that run concurrently: none refers to a post of the same page.
pub(super) const PAGE_STEPS: usize = 400;

/// Generates the story, page by page.
#[derive(Debug)]
pub(super) struct Story<'a> {
    people: &'a [Resident],
    /// The number of followers of each person.
    followers: Vec<usize>,
    /// The people that each person follows.
    follows: Vec<Vec<usize>>,
    clubs: &'a [Club],
    random: SmallRng,
    /// The number of posts so far, and those visible to all.
    posts: usize,
    visible: Vec<(usize, StoryPost)>,
    /// The number of visible posts from earlier pages.
    settled: usize,
}

/// The groups of a town: about one for fifty people.
pub(super) fn clubs(people: &[Resident], random: &mut SmallRng) -> Vec<Club> {
    let count = (people.len() / 50).max(3);
    let club = |at: usize, random: &mut SmallRng| {
        let topic = at % TOPICS.len();
        let mut members: Vec<usize> = (0..people.len())
            .filter(|actor| people.get(*actor).is_some_and(|person| person.likes.contains(&topic)))
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
        pairs: &[(usize, usize)],
        clubs: &'a [Club],
        random: SmallRng,
    ) -> Self {
        let mut followers = vec![0; people.len()];
        let mut follows = vec![Vec::new(); people.len()];
        for (follower, followee) in pairs {
            if let Some(followers) = followers.get_mut(*followee) {
                *followers += 1;
            }
            if let Some(follows) = follows.get_mut(*follower) {
                follows.push(*followee);
            }
        }
        Self {
            people,
            followers,
            follows,
            clubs,
            random,
            posts: 0,
            visible: Vec::new(),
            settled: 0,
        }
    }

    pub(super) fn pages(mut self) -> Vec<Vec<StoryStep>> {
        let count = self.people.len();
        let mut kinds: Vec<StepKind> = Vec::new();
        for (kind, of_ten) in STEPS_PER_TEN_PEOPLE {
            kinds.extend(std::iter::repeat_n(kind, (count * of_ten / 10).max(2)));
        }
        kinds.shuffle(&mut self.random);
        // There must be posts before there can be likes.
        let first = std::iter::repeat_n(StepKind::Post, (count / 5).max(5));
        let kinds: Vec<StepKind> = first.chain(kinds).collect();
        let length = PAGE_STEPS.min(kinds.len().div_ceil(20)).max(5);
        let mut pages = Vec::new();
        for page in kinds.chunks(length) {
            self.settled = self.visible.len();
            pages.push(page.iter().filter_map(|kind| self.step(*kind)).collect());
        }
        pages
    }

    fn step(&mut self, kind: StepKind) -> Option<StoryStep> {
        let actor = self.random_person();
        Some(match kind {
            StepKind::Post => self.post(actor),
            StepKind::Comment => {
                let (post, author) = self.recent_post()?;
                let text = self.pick(&COMMENTS);
                let mention = self.random.random_ratio(1, 12).then(|| self.friend(actor)).flatten();
                let text = match mention {
                    Some(friend) => format!("{text} Look, @{friend}!"),
                    None => text.to_owned(),
                };
                let answers = author != actor && self.random.random_ratio(1, 4);
                let answer = answers.then(|| self.pick(&REPLIES));
                StoryStep::Comment { actor, post, text, answer }
            }
            StepKind::Like => StoryStep::Like { actor, post: self.recent_post()?.0 },
            StepKind::Share => {
                let (post, author) = self.recent_post()?;
                (author != actor).then_some(StoryStep::Share { actor, post })?
            }
            StepKind::Chat => {
                let with = *self.follows.get(actor)?.choose(&mut self.random)?;
                StoryStep::Chat { actor, with, lines: DIALOGUES.choose(&mut self.random)? }
            }
            StepKind::Meeting => {
                let group = self.random.random_range(0..self.clubs.len());
                let mut speakers = self.clubs.get(group)?.members.clone();
                speakers.truncate(4);
                StoryStep::Meeting { group, speakers, lines: DIALOGUES.choose(&mut self.random)? }
            }
            StepKind::Pursuit => {
                let topic = *self.people.get(actor)?.likes.choose(&mut self.random)?;
                let (done, quest) =
                    (self.random.random_range(0..=4), self.random.random_ratio(1, 2));
                StoryStep::Pursue { actor, topic, done, quest }
            }
            StepKind::Report => {
                let (post, author) = self.recent_post()?;
                let reason = self.pick(&COMPLAINTS);
                (author != actor).then_some(StoryStep::Report { actor, post, reason })?
            }
        })
    }

    fn post(&mut self, actor: usize) -> StoryStep {
        let person = self.people.get(actor);
        let topic = person.and_then(|person| person.likes.choose(&mut self.random)).copied();
        let topic = topic.unwrap_or_default();
        let mine = |(at, club): (usize, &Club)| {
            (club.topic == topic && club.members.contains(&actor)).then_some(at)
        };
        let group = self.clubs.iter().enumerate().find_map(mine);
        let group = group.filter(|_| self.random.random_ratio(1, 3));
        let mut text = TOPICS.get(topic).map(|topic| self.about(topic)).unwrap_or_default();
        if self.random.random_ratio(1, 6)
            && let Some(friend) = self.friend(actor)
        {
            text = format!("{text} @{friend}, this one is for you.");
        }
        let post = self.posts;
        self.posts += 1;
        let open = person.is_some_and(|person| !person.is_private);
        // Posts in groups or of private people cannot be liked by all.
        if open && group.is_none() {
            let followers = self.followers.get(actor).copied().unwrap_or_default();
            self.visible.push((post, StoryPost { actor, followers }));
        }
        StoryStep::Post { actor, post, group, text }
    }

    fn about(&mut self, topic: &SampleTopic) -> String {
        let (place, day) = (self.pick(&PLACES), self.pick(&DAYS));
        let text = self.pick(&topic.posts).replace("{place}", place).replace("{day}", day);
        match self.random.random_range(0..4) {
            0 => text,
            1 => format!("{text} #{} #{}", topic.tag, topic.also),
            _ => format!("{text} #{}", topic.tag),
        }
    }

    /// Picks a person; some are more active than others.
    fn random_person(&mut self) -> usize {
        let count = self.people.len();
        self.random.random_range(0..count).min(self.random.random_range(0..count))
    }

    /// The nickname of a person that `actor` follows.
    fn friend(&mut self, actor: usize) -> Option<&'a str> {
        let friend = *self.follows.get(actor)?.choose(&mut self.random)?;
        self.people.get(friend).map(|friend| friend.nickname.as_str())
    }

    /// Picks a recent post, more likely one of a popular author; returns its author too.
    fn recent_post(&mut self) -> Option<(usize, usize)> {
        let from = self.settled.saturating_sub(600);
        let recent = self.visible.get(from..self.settled)?;
        let candidates: Vec<&(usize, StoryPost)> =
            recent.choose_multiple(&mut self.random, 4).collect();
        let best = candidates.into_iter().max_by_key(|(_, posted)| posted.followers)?;
        Some((best.0, best.1.actor))
    }

    fn pick(&mut self, words: &[&'static str]) -> &'static str {
        words.choose(&mut self.random).copied().unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug)]
enum StepKind {
    Post,
    Comment,
    Like,
    Share,
    Chat,
    Meeting,
    Pursuit,
    Report,
}

/// The number of steps of each kind, per ten people.
const STEPS_PER_TEN_PEOPLE: [(StepKind, usize); 8] = [
    (StepKind::Post, 18),
    (StepKind::Comment, 20),
    (StepKind::Like, 70),
    (StepKind::Share, 5),
    (StepKind::Chat, 4),
    (StepKind::Meeting, 1),
    (StepKind::Pursuit, 4),
    (StepKind::Report, 0),
];
