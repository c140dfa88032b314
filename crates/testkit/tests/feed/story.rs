//! Describes a history: one sentence for each step, then the expected and the actual page.

use std::any::Any;

use roundtable_domain::{Code, FeedPolicy};
use roundtable_model::entities::Activity;
use roundtable_model::{ActivityVerb, ObjectType, Visibility};

use crate::cast::Name;
use crate::oracle::Entry;
use crate::populated_store::BEGIN_MS;
use crate::reading::Mismatch;
use crate::stage::{DAY_MS, Stage};
use crate::step::{Actor, FeedAction, Nth, Opening, Read, Step, Topic};

impl Stage {
    pub(crate) fn tell_opening(&mut self, opening: &Opening) {
        let Opening { policy, is_moderated, automatic, follows, members, promoted } = opening;
        self.say(format!("In the beginning, {}.", describe_policy(*policy)));
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
            self.say(format!("{} is promoted.", describe_actor(*actor)));
        }
    }

    pub(crate) fn tell(&mut self, step: &Step) {
        let sentence = match step {
            Step::Do { who, at, action } => {
                format!("At the {at} door, {}.", self.describe_action(*who, *action))
            }
            Step::Policy(None, policy) => format!("From now on, {}.", describe_policy(*policy)),
            Step::Policy(Some(at), policy) => {
                format!("From now on, {} at the {at} door.", describe_policy(*policy))
            }
            Step::Promote(actor) => format!("{} is promoted.", describe_actor(*actor)),
            Step::Demote(actor) => format!("{} is demoted.", describe_actor(*actor)),
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
            Step::Wait(ms) => format!("{} pass.", describe_time(*ms)),
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
        self.say(format!("[{}] {sentence}", describe_time(now)));
    }

    pub(crate) fn tell_refusal(&mut self, code: Code) {
        if let Some(last) = self.story.last_mut() {
            *last = format!("{last} ({code:?})");
        }
    }

    fn say(&mut self, sentence: String) {
        self.story.push(sentence);
    }

    fn describe_action(&self, who: Name, action: FeedAction) -> String {
        let post = |nth| self.describe_post(nth);
        let comment = |nth: Nth| format!("comment {}", round(nth, self.comments.len()));
        match action {
            FeedAction::Follow(other) => format!("{who} follows {other}"),
            FeedAction::Unfollow(other) => format!("{who} unfollows {other}"),
            FeedAction::Accept(other) => format!("{who} lets {other} follow"),
            FeedAction::Reject(other) => format!("{who} turns {other} away"),
            FeedAction::Mute(other, true) => format!("{who} mutes {other}"),
            FeedAction::Mute(other, false) => format!("{who} mutes {other} no longer"),
            FeedAction::Block(other) => format!("{who} blocks {other}"),
            FeedAction::Unblock(other) => format!("{who} blocks {other} no longer"),
            FeedAction::Join(club) => format!("{who} joins {club}, or asks to"),
            FeedAction::Leave(club) => format!("{who} leaves {club}"),
            FeedAction::LetIn(club) => format!("{} lets {who} into {club}", club.owner()),
            FeedAction::Remove(club) => format!("{} removes {who} from {club}", club.owner()),
            FeedAction::Close(club) => format!("{} closes {club}", club.owner()),
            FeedAction::Post(club, to) => {
                let (to, number) = (describe_visibility(to), self.posts.len() + 1);
                let into = club.map(|club| format!(" into {club}")).unwrap_or_default();
                format!("{who} writes #{number}{into}, for {to}")
            }
            FeedAction::Share(nth) => format!("{who} shares {}", post(nth)),
            FeedAction::Unshare(nth) => format!("{who} shares {} no longer", post(nth)),
            FeedAction::Rewrite(nth) => format!("{} is rewritten", post(nth)),
            FeedAction::Show(nth, to) => {
                format!("{} is for {} now", post(nth), describe_visibility(to))
            }
            FeedAction::Delete(nth) => format!("{} is deleted", post(nth)),
            FeedAction::Comment(nth) => format!("{who} comments on {}", post(nth)),
            FeedAction::DeleteComment(nth) => format!("{} is deleted", comment(nth)),
            FeedAction::Tell(topic) => format!("{who} tells of {}", self.describe_topic(topic)),
            FeedAction::DropGoal => format!("{who} drops their goal"),
            FeedAction::TurnPrivate(true) => format!("{who} turns private"),
            FeedAction::TurnPrivate(false) => format!("{who} turns public"),
            FeedAction::Judge(nth, to) => format!("mo has {} {to}", post(nth)),
            FeedAction::JudgeComment(nth, to) => format!("mo has {} {to}", comment(nth)),
            FeedAction::Suspend => format!("mo suspends {who}"),
            FeedAction::Reinstate => format!("mo suspends {who} no longer"),
            FeedAction::DeleteAccount => format!("{who} deletes their account"),
        }
    }

    fn describe_topic(&self, topic: Topic) -> String {
        match topic {
            Topic::Themselves => "themselves".into(),
            Topic::Goal => "their goal".into(),
            Topic::Task => "their task".into(),
            Topic::Club(club) => format!("{club}"),
            Topic::GoalIn(club) => format!("their goal among {club}"),
            Topic::Post(nth) => self.describe_post(nth),
            Topic::Comment(nth) => format!("comment {}", round(nth, self.comments.len())),
        }
    }

    fn describe_post(&self, nth: Nth) -> String {
        format!("#{}", round(nth, self.posts.len()))
    }

    pub(crate) fn describe_entries(&self, entries: &[Entry]) -> String {
        let env_number: Vec<String> =
            entries.iter().map(|entry| self.describe_entry(entry)).collect();
        format!("[{}]", env_number.join(", "))
    }

    fn describe_entry(&self, entry: &Entry) -> String {
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
        let at = describe_time(entry.activity.created_at.ms().saturating_sub(BEGIN_MS));
        let text = preview_text.as_deref().unwrap_or_default();
        let version = entry.post.as_ref().map(|post| format!(" v{}", post.version));
        let version = version.unwrap_or_default();
        format!("{actor_id} {did} {about}{version}{into} at {at} {text:?}")
    }

    /// Describes a wrong page.
    pub(crate) fn differs(
        &self,
        read: Read,
        below: Option<&Entry>,
        expected: &str,
        actual: &str,
    ) -> Mismatch {
        let Read { who, at, size, .. } = read;
        let after = below.map(|below| format!(" after \"{}\"", self.describe_entry(below)));
        let after = after.unwrap_or_default();
        self.mismatch(&format!(
            "At the {at} door, {who}'s page of {size}{after} should be\n  {expected}\nbut was\n  {actual}"
        ))
    }

    /// Describes a page that could not be read, or an incomplete run.
    pub(crate) fn failed(&self, read: Read, why: &str) -> Mismatch {
        let Read { who, at, size, .. } = read;
        self.mismatch(&format!("At the {at} door, {who} reads pages of {size}: {why}"))
    }

    /// Describes a step that panicked.
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

const fn describe_policy(policy: FeedPolicy) -> &'static str {
    match policy {
        FeedPolicy::Documents => "what the promoted do is copied",
        FeedPolicy::Pull => "nothing is copied",
        FeedPolicy::Push => "everything is copied",
    }
}

const fn describe_visibility(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Public => "everybody",
        Visibility::Followers => "followers",
        Visibility::Private => "themselves",
    }
}

fn describe_time(ms: u64) -> String {
    let (days, ms) = (ms / DAY_MS, ms % DAY_MS);
    let days = if days > 0 { format!("{days} d ") } else { String::new() };
    format!("{days}{}.{:03} s", ms / 1000, ms % 1000)
}

fn describe_actor(actor: Actor) -> String {
    match actor {
        Actor::Person(name) => name.to_string(),
        Actor::Club(club) => club.to_string(),
    }
}
