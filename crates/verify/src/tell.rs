//! What each entity tells about counters, unique names and scores. Everything else is silent.
//!
//! To have something counted: its fact says [`Entry::fact`], the item that states the number says
//! [`Entry::stated`], both about the same [`Subject`].

mod life;

use std::borrow::Cow;

use roundtable_domain::ScoreSettings;
use roundtable_model::entities::{
    self, Comment, CommentCounter, CommentLike, EmailLock, Follow, GroupCounter, GroupMember,
    HandleLock, Holder, Like, NickLock, Post, PostCounter, Share, User, UserCounter, XpEntry,
};
use roundtable_model::table::{Item, ValueRef};
use roundtable_model::{Entity, EntityKind, MemberStatus, Shard, UserCount};

use crate::books::{Book, Entry};
use crate::subject::Subject;

/// What a check depends on beside the items.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// What makes a post popular.
    pub(crate) score: ScoreSettings,
}

/// The line of a deleted post in the book of scores: it has none, whatever its counter says.
pub(crate) const DELETED: &str = "deleted";

/// An entity, as the books see it.
pub(crate) trait Tell: Entity {
    /// Attributes that count something. One below zero is wrong, and still tells whose it is.
    const COUNTS: &'static [&'static str] = &[];

    /// Says what is to be booked; `item` is what it was read from.
    fn tell(&self, _item: &Item, _rules: &Rules, _say: &mut dyn FnMut(Entry)) {}

    /// What it says about itself that is wrong: what was expected, and what is there.
    fn contradiction(&self, _item: &Item, _rules: &Rules) -> Option<(String, String)> {
        None
    }
}

/// A count as it is stored, below zero or not.
fn stored(item: &Item, attribute: &str) -> i128 {
    match item.get(attribute) {
        Some(ValueRef::N(number)) => number
            .to_i64()
            .map(i128::from)
            .or_else(|| number.to_u64().map(i128::from))
            .unwrap_or_default(),
        _ => 0,
    }
}

/// Entities that nothing is booked about.
macro_rules! silent {
    ($($entity:ident)*) => {$(impl Tell for entities::$entity {})*};
}

silent! {
    Credential Session Invitation Block Goal Task Milestone ActorHead FeedItem FeedHorizon
    Promotion Room RoomHead RoomMember Message AssistMsg ModerationCase Report Company Idempotency
    ApiKey Audit LoginAttempt Checkpoint Job DeadLetter Webhook SealedKey
}

impl Tell for User {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        life::shows(&self.id, &self.profile_image, &Holder::profile(&self.id), say);
        if !Self::named(&self.status) {
            return;
        }
        let names = [
            Some(Subject::Nickname(self.nickname.clone())),
            self.email.clone().map(Subject::Email),
            self.handle.clone().map(Subject::Handle),
        ];
        for name in names.into_iter().flatten() {
            say(Entry::fact(Book::Lock, name).about(self.id.to_string()));
        }
    }
}

impl Tell for EmailLock {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        let name = Subject::Email(self.email.clone());
        say(Entry::stated(Book::Lock, name, 1).about(self.user_id.to_string()));
    }
}

impl Tell for NickLock {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        let name = Subject::Nickname(self.nickname.clone());
        say(Entry::stated(Book::Lock, name, 1).about(self.user_id.to_string()));
    }
}

impl Tell for HandleLock {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        let name = Subject::Handle(self.handle.clone());
        say(Entry::stated(Book::Lock, name, 1).about(self.user_id.to_string()));
    }
}

impl Tell for UserCounter {
    const COUNTS: &'static [&'static str] = &["count"];

    fn tell(&self, item: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        let subject = Subject::Person(self.user_id.clone(), self.counter, self.shard);
        say(Entry::stated(Book::Count, subject, stored(item, "count")));
    }
}

impl Tell for Follow {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        if !Self::active(&self.status) {
            return;
        }
        let (follower, followee) = (self.follower_id.clone(), self.followee_id.clone());
        let following = Subject::Person(follower, UserCount::Following, Shard::ZERO);
        let followers = Subject::Person(followee, UserCount::Followers, self.shard);
        say(Entry::fact(Book::Count, following));
        say(Entry::fact(Book::Count, followers));
    }
}

impl Tell for XpEntry {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        let subject = Subject::Person(self.user_id.clone(), UserCount::Xp, Shard::ZERO);
        say(Entry::fact(Book::Count, subject).times(self.reward_xp.into()));
        let quest = Subject::Quest(self.user_id.clone(), self.quest_id.clone());
        say(Entry::stated(Book::Reward, quest, 1).about(self.reward_xp.to_string()));
    }
}

impl Tell for GroupMember {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        if self.status == MemberStatus::Active {
            say(Entry::fact(Book::Count, Subject::Group(self.group_id.clone())));
        }
    }
}

impl Tell for GroupCounter {
    const COUNTS: &'static [&'static str] = &["count"];

    fn tell(&self, item: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        let subject = Subject::Group(self.group_id.clone());
        say(Entry::stated(Book::Count, subject, stored(item, "count")));
    }
}

impl Tell for Post {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        let own = Subject::Post(self.id.clone());
        for book in [Book::Likes, Book::Comments, Book::Shares, Book::Score] {
            say(Entry::owner(book, own.clone()));
        }
        if self.is_deleted {
            say(Entry::stated(Book::Score, own, 0).about(DELETED));
            return;
        }
        let author = Subject::Person(self.author_id.clone(), UserCount::Posts, Shard::ZERO);
        say(Entry::fact(Book::Count, author));
        life::tags(EntityKind::Post, &(&self.id).into(), &self.hashtags, say);
        life::shows(&self.author_id, &self.media, &Holder::post(&self.id), say);
        if let Some(score) = self.score {
            say(Entry::stated(Book::Score, own, 1).about(score.to_string()));
        }
    }
}

impl Tell for PostCounter {
    const COUNTS: &'static [&'static str] = &["likes", "comments", "shares", "score"];

    fn tell(&self, item: &Item, rules: &Rules, say: &mut dyn FnMut(Entry)) {
        let own = || Subject::Post(self.post_id.clone());
        say(Entry::stated(Book::Likes, own(), stored(item, "likes")));
        say(Entry::stated(Book::Comments, own(), stored(item, "comments")));
        say(Entry::stated(Book::Shares, own(), stored(item, "shares")));
        if let Some(score) = rules.score.listed(self.score) {
            say(Entry::fact(Book::Score, own()).about(score.to_string()));
        }
    }

    fn contradiction(&self, item: &Item, rules: &Rules) -> Option<(String, String)> {
        let (expected, found) =
            (rules.score.of(self.likes, self.comments, self.shares), stored(item, "score"));
        let wrong = i128::from(expected) != found;
        wrong.then(|| (format!("the score of what it counts, {expected}"), found.to_string()))
    }
}

impl Tell for Like {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        say(Entry::fact(Book::Likes, Subject::Post(self.post_id.clone())));
    }
}

impl Tell for Share {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        say(Entry::fact(Book::Shares, Subject::Post(self.post_id.clone())));
    }
}

impl Tell for Comment {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        for book in [Book::CommentLikes, Book::Replies] {
            let own = Subject::Comment(self.post_id.clone(), self.id.clone());
            say(Entry::owner(book, own));
        }
        if self.is_deleted {
            return;
        }
        say(Entry::fact(Book::Comments, Subject::Post(self.post_id.clone())));
        if let Some(parent) = &self.parent_comment_id {
            let parent = Subject::Comment(self.post_id.clone(), parent.clone());
            say(Entry::fact(Book::Replies, parent));
        }
    }
}

impl Tell for CommentLike {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        let comment = Subject::Comment(self.post_id.clone(), self.comment_id.clone());
        say(Entry::fact(Book::CommentLikes, comment));
    }
}

impl Tell for CommentCounter {
    const COUNTS: &'static [&'static str] = &["likes", "replies"];

    fn tell(&self, item: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        let own = || Subject::Comment(self.post_id.clone(), self.comment_id.clone());
        say(Entry::stated(Book::CommentLikes, own(), stored(item, "likes")));
        say(Entry::stated(Book::Replies, own(), stored(item, "replies")));
    }
}

/// What a book counts, for people.
pub(crate) fn counted(book: Book, subject: &Subject) -> Cow<'static, str> {
    Cow::Borrowed(match (book, subject) {
        (Book::Count, Subject::Person(_, UserCount::Followers, _)) => {
            "the active follows of them in this shard"
        }
        (Book::Count, Subject::Person(_, UserCount::Following, _)) => "the active follows by them",
        (Book::Count, Subject::Person(_, UserCount::Posts, _)) => {
            "their posts that are not deleted"
        }
        (Book::Count, Subject::Person(_, UserCount::Xp, _)) => "the sum of their rewards",
        (Book::Count, Subject::Person(_, UserCount::Unread, _)) => "what they have not read",
        (Book::Count, Subject::Group(_)) => "the active members",
        (Book::Steps, _) => "its steps",
        (Book::Likes | Book::CommentLikes, _) => "the likes",
        (Book::Comments, _) => "the comments that are not deleted",
        (Book::Shares, _) => "the shares",
        (Book::Replies, _) => "the replies that are not deleted",
        _ => "what is counted",
    })
}

/// The attribute in which a book's number is stated.
pub(crate) const fn attribute(book: Book) -> &'static str {
    match book {
        Book::Likes | Book::CommentLikes => "likes",
        Book::Comments => "comments",
        Book::Shares => "shares",
        Book::Replies => "replies",
        Book::Steps => "progressCount",
        _ => "count",
    }
}
