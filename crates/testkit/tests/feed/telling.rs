//! A history as a story: one sentence for each step, then what was to be seen and what was.

use std::any::Any;

use roundtable_domain::{Code, FeedPolicy};
use roundtable_model::entities::Activity;
use roundtable_model::{ActivityVerb, ObjectType, Visibility};

use crate::cast::Name;
use crate::oracle::Entry;
use crate::place::BEGIN_MS;
use crate::reading::Mismatch;
use crate::stage::{DAY_MS, Stage};
use crate::step::{Actor, Deed, Nth, Opening, Read, Step, Topic};

impl Stage {
    pub(crate) fn tell_opening(&mut self, opening: &Opening) {
        let Opening { policy, is_moderated, automatic, follows, members, promoted } = opening;
        self.say(format!("In the beginning, {}.", policy_told(*policy)));
        if *automatic {
            self.say("People whom three follow are promoted by themselves.".into());
        }
        if *is_moderated {
            self.say("At the east door, moderators see posts first.".into());
        }
        for (follower, followee) in follows {
            self.say(format!("{follower} follows {followee}."));
        }
        for (member, club) in members {
            self.say(format!("{member} is one of {club}."));
        }
        for actor in promoted {
            self.say(format!("{} is promoted.", actor_told(*actor)));
        }
    }

    pub(crate) fn tell(&mut self, step: &Step) {
        let sentence = match step {
            Step::Do { who, at, deed } => {
                format!("At the {at} door, {}.", self.deed_told(*who, *deed))
            }
            Step::Policy(None, policy) => format!("From now on, {}.", policy_told(*policy)),
            Step::Policy(Some(at), policy) => {
                format!("From now on, {} at the {at} door.", policy_told(*policy))
            }
            Step::Promote(actor) => format!("{} is promoted.", actor_told(*actor)),
            Step::Demote(actor) => format!("{} is demoted.", actor_told(*actor)),
            Step::Settle => "The worker does everything there is to do.".into(),
            Step::Die(writes) => format!("The worker dies after {writes} writes into feeds."),
            Step::Park(writes) => {
                format!(
                    "After {writes} writes into feeds the worker is refused, and parks its work."
                )
            }
            Step::Redrive => "What was parked is to be tried again.".into(),
            Step::Stall(waits) => format!("The worker stops after {waits} waits."),
            Step::Resume => "The worker goes on.".into(),
            Step::Wait(ms) => format!("{} pass.", time_told(*ms)),
            Step::Clock(at, beside) => {
                let whose =
                    at.map_or_else(|| "The worker's".into(), |at| format!("The {at} door's"));
                format!("{whose} clock is set to {beside:+} ms beside the true time.")
            }
            Step::WarmUp(at) => format!("The {at} door remembers what was of late."),
            Step::Restart(at, days) => {
                format!("The {at} door is started anew, and holds copies for {days} d.")
            }
            Step::Read(Read { who, at, size, anew }) => {
                let from = if *anew { "from the top" } else { "on" };
                format!("At the {at} door, {who} reads {from}, {size} at a time.")
            }
            Step::ReadWhile { read: Read { who, at, size, .. }, waits, .. } => {
                format!(
                    "At the {at} door, {who} reads {size}; after {waits} waits in it, meanwhile:"
                )
            }
            Step::WarmUpWhile { at, waits, .. } => {
                format!("The {at} door remembers what was of late; after {waits} waits, meanwhile:")
            }
        };
        let now = self.now_ms();
        self.say(format!("[{}] {sentence}", time_told(now)));
    }

    pub(crate) fn tell_refusal(&mut self, code: Code) {
        if let Some(last) = self.story.last_mut() {
            *last = format!("{last} ({code:?})");
        }
    }

    fn say(&mut self, sentence: String) {
        self.story.push(sentence);
    }

    fn deed_told(&self, who: Name, deed: Deed) -> String {
        let post = |nth| self.post_told(nth);
        let comment = |nth: Nth| format!("comment {}", round(nth, self.comments.len()));
        match deed {
            Deed::Follow(other) => format!("{who} follows {other}"),
            Deed::Unfollow(other) => format!("{who} unfollows {other}"),
            Deed::Accept(other) => format!("{who} lets {other} follow"),
            Deed::Reject(other) => format!("{who} turns {other} away"),
            Deed::Mute(other, true) => format!("{who} mutes {other}"),
            Deed::Mute(other, false) => format!("{who} mutes {other} no longer"),
            Deed::Block(other) => format!("{who} blocks {other}"),
            Deed::Unblock(other) => format!("{who} blocks {other} no longer"),
            Deed::Join(club) => format!("{who} joins {club}, or asks to"),
            Deed::Leave(club) => format!("{who} leaves {club}"),
            Deed::LetIn(club) => format!("{} lets {who} into {club}", club.owner()),
            Deed::Remove(club) => format!("{} removes {who} from {club}", club.owner()),
            Deed::Close(club) => format!("{} closes {club}", club.owner()),
            Deed::Post(club, to) => {
                let (to, number) = (visibility_told(to), self.posts.len() + 1);
                let into = club.map(|club| format!(" into {club}")).unwrap_or_default();
                format!("{who} writes #{number}{into}, for {to}")
            }
            Deed::Share(nth) => format!("{who} shares {}", post(nth)),
            Deed::Unshare(nth) => format!("{who} shares {} no longer", post(nth)),
            Deed::Rewrite(nth) => format!("{} is rewritten", post(nth)),
            Deed::Show(nth, to) => format!("{} is for {} now", post(nth), visibility_told(to)),
            Deed::Delete(nth) => format!("{} is deleted", post(nth)),
            Deed::Comment(nth) => format!("{who} comments on {}", post(nth)),
            Deed::DeleteComment(nth) => format!("{} is deleted", comment(nth)),
            Deed::Tell(topic) => format!("{who} tells of {}", self.topic_told(topic)),
            Deed::DropGoal => format!("{who} drops their goal"),
            Deed::TurnPrivate(true) => format!("{who} turns private"),
            Deed::TurnPrivate(false) => format!("{who} turns public"),
            Deed::Judge(nth, to) => format!("mo has {} {to}", post(nth)),
            Deed::JudgeComment(nth, to) => format!("mo has {} {to}", comment(nth)),
            Deed::Suspend => format!("mo suspends {who}"),
            Deed::Reinstate => format!("mo suspends {who} no longer"),
            Deed::DeleteAccount => format!("{who} deletes their account"),
        }
    }

    fn topic_told(&self, topic: Topic) -> String {
        match topic {
            Topic::Themselves => "themselves".into(),
            Topic::Goal => "their goal".into(),
            Topic::Task => "their task".into(),
            Topic::Club(club) => format!("{club}"),
            Topic::GoalIn(club) => format!("their goal among {club}"),
            Topic::Post(nth) => self.post_told(nth),
            Topic::Comment(nth) => format!("comment {}", round(nth, self.comments.len())),
        }
    }

    fn post_told(&self, nth: Nth) -> String {
        format!("#{}", round(nth, self.posts.len()))
    }

    /// Some entries of a feed, in words.
    pub(crate) fn listed(&self, entries: &[Entry]) -> String {
        let told: Vec<String> = entries.iter().map(|entry| self.entry_told(entry)).collect();
        format!("[{}]", told.join(", "))
    }

    fn entry_told(&self, entry: &Entry) -> String {
        let Activity { actor_id, verb, object_type, object_id, group_id, preview_text, .. } =
            &entry.activity;
        let post = self.posts.iter().position(|(id, _)| *id == object_id.recast());
        let about = match (object_type, post) {
            (ObjectType::Post, Some(post)) => format!("#{}", post + 1),
            _ => format!("{object_type}"),
        };
        let did = match (verb, object_type) {
            (ActivityVerb::Post, ObjectType::Post) => "wrote",
            (ActivityVerb::Share, _) => "shared",
            _ => "told of",
        };
        let into = if group_id.is_some() { " into a club" } else { "" };
        let at = time_told(entry.activity.created_at.ms().saturating_sub(BEGIN_MS));
        let text = preview_text.as_deref().unwrap_or_default();
        let version = entry.post.as_ref().map(|post| format!(" v{}", post.version));
        let version = version.unwrap_or_default();
        format!("{actor_id} {did} {about}{version}{into} at {at} {text:?}")
    }

    /// A page that was not as it should be.
    pub(crate) fn differs(
        &self,
        read: Read,
        below: Option<&Entry>,
        expected: &str,
        actual: &str,
    ) -> Mismatch {
        let Read { who, at, size, .. } = read;
        let after = below.map(|below| format!(" after \"{}\"", self.entry_told(below)));
        let after = after.unwrap_or_default();
        self.mismatch(&format!(
            "At the {at} door, {who}'s page of {size}{after} should be\n  {expected}\nbut was\n  {actual}"
        ))
    }

    /// A page that could not be read, or a run that was not whole.
    pub(crate) fn failed(&self, read: Read, why: &str) -> Mismatch {
        let Read { who, at, size, .. } = read;
        self.mismatch(&format!("At the {at} door, {who} reads pages of {size}: {why}"))
    }

    /// A step at which the program gave up.
    pub(crate) fn panicked(&self, panic: &(dyn Any + Send)) -> Mismatch {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        self.mismatch(&format!("Then the program panicked: {}", text.unwrap_or("without a word")))
    }

    fn mismatch(&self, end: &str) -> Mismatch {
        let sentences = self.story.iter().enumerate();
        let sentences: Vec<String> =
            sentences.map(|(at, sentence)| format!("{:3}. {sentence}", at + 1)).collect();
        Mismatch(format!("\n{}\n{end}\n", sentences.join("\n")))
    }
}

fn round(nth: Nth, count: usize) -> usize {
    nth.0.checked_rem(count).map_or(0, |at| at + 1)
}

const fn policy_told(policy: FeedPolicy) -> &'static str {
    match policy {
        FeedPolicy::Documents => "what the promoted do is copied",
        FeedPolicy::Pull => "nothing is copied",
        FeedPolicy::Push => "everything is copied",
    }
}

const fn visibility_told(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Public => "everybody",
        Visibility::Followers => "followers",
        Visibility::Private => "themselves",
    }
}

/// A stretch of time, exactly.
fn time_told(ms: u64) -> String {
    let (days, ms) = (ms / DAY_MS, ms % DAY_MS);
    let days = if days > 0 { format!("{days} d ") } else { String::new() };
    format!("{days}{}.{:03} s", ms / 1000, ms % 1000)
}

fn actor_told(actor: Actor) -> String {
    match actor {
        Actor::Person(name) => name.to_string(),
        Actor::Club(club) => club.to_string(),
    }
}
