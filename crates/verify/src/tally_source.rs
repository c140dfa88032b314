//! The tally entries of each entity: for counters, unique names and scores.
//!
//! To have facts counted, the fact emits [`TallyEntry::fact`] and the item that states their number
//! emits [`TallyEntry::stated`], both with the same [`TallySubject`].

mod features;

use std::borrow::Cow;

use roundtable_domain::ScoreSettings;
use roundtable_model::entities::{
    self, Comment, CommentCounter, CommentLike, EmailLock, Follow, GroupCounter, GroupMember,
    HandleLock, Holder, Like, NickLock, Post, PostCounter, Share, User, UserCounter, XpEntry,
};
use roundtable_model::table::{Item, ValueRef};
use roundtable_model::{Entity, EntityKind, LikeType, MemberStatus, Shard, UserCount};

use crate::subject::TallySubject;
use crate::tally::{TallyEntry, TallyKind};

/// Settings that a check depends on.
#[derive(Clone, Debug)]
pub(crate) struct CheckRules {
    pub(crate) score: ScoreSettings,
}

/// The score label of a deleted post, which has no score even if its counter says so.
pub(crate) const DELETED: &str = "deleted";

/// An entity that contributes to tallies.
pub(crate) trait TallySource: Entity {
    /// Attributes that hold counts. A negative one is wrong, but the item is still read.
    const COUNTS: &'static [&'static str] = &[];

    /// Emits its tally entries; `item` is the stored form.
    fn emit_entries(&self, _item: &Item, _rules: &CheckRules, _say: &mut dyn FnMut(TallyEntry)) {}

    /// Returns the expected and the actual value of a field that contradicts the others.
    fn contradiction(&self, _item: &Item, _rules: &CheckRules) -> Option<(String, String)> {
        None
    }
}

/// A stored count, which may be negative.
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

/// Entities without tally entries.
macro_rules! no_entries {
    ($($entity:ident)*) => {$(impl TallySource for entities::$entity {})*};
}

no_entries! {
    Credential Session Device Identity Invitation Block Mute Goal Task Milestone ActorHead FeedItem FeedHorizon
    Promotion Room RoomHead RoomMember Message AssistMsg ModerationCase CaseReport Report Company Idempotency ApiKey Audit LoginAttempt Checkpoint Job DeadLetter FeedRanking Webhook SealedKey NotificationPreferences PostWatch
}

impl TallySource for User {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        features::emit_files(&self.id, &self.profile_image, &Holder::profile(&self.id), emit);
        if !Self::holds_names(&self.status) {
            return;
        }
        let names = [
            Some(TallySubject::Nickname(self.nickname.clone())),
            self.email.clone().map(TallySubject::Email),
            self.handle.clone().map(TallySubject::Handle),
        ];
        for name in names.into_iter().flatten() {
            emit(TallyEntry::fact(TallyKind::Lock, name).label(self.id.to_string()));
        }
    }
}

impl TallySource for EmailLock {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        let name = TallySubject::Email(self.email.clone());
        emit(TallyEntry::stated(TallyKind::Lock, name, 1).label(self.user_id.to_string()));
    }
}

impl TallySource for NickLock {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        let name = TallySubject::Nickname(self.nickname.clone());
        emit(TallyEntry::stated(TallyKind::Lock, name, 1).label(self.user_id.to_string()));
    }
}

impl TallySource for HandleLock {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        let name = TallySubject::Handle(self.handle.clone());
        emit(TallyEntry::stated(TallyKind::Lock, name, 1).label(self.user_id.to_string()));
    }
}

impl TallySource for UserCounter {
    const COUNTS: &'static [&'static str] = &["count"];

    fn emit_entries(&self, item: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        let subject = TallySubject::UserCounter(self.user_id.clone(), self.counter, self.shard);
        emit(TallyEntry::stated(TallyKind::Counter, subject, stored(item, "count")));
    }
}

impl TallySource for Follow {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        if !Self::active(&self.status) {
            return;
        }
        let (follower, followee) = (self.follower_id.clone(), self.followee_id.clone());
        let following = TallySubject::UserCounter(follower, UserCount::Following, Shard::ZERO);
        let followers = TallySubject::UserCounter(followee, UserCount::Followers, self.shard);
        emit(TallyEntry::fact(TallyKind::Counter, following));
        emit(TallyEntry::fact(TallyKind::Counter, followers));
    }
}

impl TallySource for XpEntry {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        let subject = TallySubject::UserCounter(self.user_id.clone(), UserCount::Xp, Shard::ZERO);
        emit(TallyEntry::fact(TallyKind::Counter, subject).amount(self.reward_xp.into()));
        let quest = TallySubject::Quest(self.user_id.clone(), self.quest_id.clone());
        emit(TallyEntry::stated(TallyKind::Reward, quest, 1).label(self.reward_xp.to_string()));
    }
}

impl TallySource for GroupMember {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        if self.status == MemberStatus::Active {
            emit(TallyEntry::fact(TallyKind::Counter, TallySubject::Group(self.group_id.clone())));
        }
    }
}

impl TallySource for GroupCounter {
    const COUNTS: &'static [&'static str] = &["count"];

    fn emit_entries(&self, item: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        let subject = TallySubject::Group(self.group_id.clone());
        emit(TallyEntry::stated(TallyKind::Counter, subject, stored(item, "count")));
    }
}

impl TallySource for Post {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        use TallyKind::{Comments, Laughs, Likes, Loves, Score, Shares};
        let own = TallySubject::Post(self.id.clone());
        for kind in [Likes, Loves, Laughs, Comments, Shares, Score] {
            emit(TallyEntry::owner(kind, own.clone()));
        }
        if self.is_deleted {
            emit(TallyEntry::stated(TallyKind::Score, own, 0).label(DELETED));
            return;
        }
        let author =
            TallySubject::UserCounter(self.author_id.clone(), UserCount::Posts, Shard::ZERO);
        emit(TallyEntry::fact(TallyKind::Counter, author));
        features::emit_tags(EntityKind::Post, &(&self.id).into(), &self.hashtags, emit);
        features::emit_files(&self.author_id, &self.media, &Holder::post(&self.id), emit);
        if let Some(score) = self.score {
            emit(TallyEntry::stated(TallyKind::Score, own, 1).label(score.to_string()));
        }
    }
}

impl TallySource for PostCounter {
    const COUNTS: &'static [&'static str] =
        &["likes", "loves", "laughs", "comments", "shares", "score"];

    fn emit_entries(&self, item: &Item, rules: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        let own = || TallySubject::Post(self.post_id.clone());
        emit(TallyEntry::stated(TallyKind::Likes, own(), stored(item, "likes")));
        emit_likes_by_type(item, [TallyKind::Loves, TallyKind::Laughs], own, emit);
        emit(TallyEntry::stated(TallyKind::Comments, own(), stored(item, "comments")));
        emit(TallyEntry::stated(TallyKind::Shares, own(), stored(item, "shares")));
        if let Some(score) = rules.score.listed(self.score) {
            emit(TallyEntry::fact(TallyKind::Score, own()).label(score.to_string()));
        }
    }

    fn contradiction(&self, item: &Item, rules: &CheckRules) -> Option<(String, String)> {
        let (expected, found) =
            (rules.score.of(self.likes, self.comments, self.shares), stored(item, "score"));
        (i128::from(expected) != found)
            .then(|| (format!("the score of what it counts, {expected}"), found.to_string()))
    }
}

impl TallySource for Like {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        let post = || TallySubject::Post(self.post_id.clone());
        emit(TallyEntry::fact(TallyKind::Likes, post()));
        match self.like_type {
            LikeType::Like => {}
            LikeType::Love => emit(TallyEntry::fact(TallyKind::Loves, post())),
            LikeType::Laugh => emit(TallyEntry::fact(TallyKind::Laughs, post())),
        }
    }
}

impl TallySource for Share {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        emit(TallyEntry::fact(TallyKind::Shares, TallySubject::Post(self.post_id.clone())));
    }
}

impl TallySource for Comment {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        use TallyKind::{CommentLaughs, CommentLikes, CommentLoves, Replies};
        for kind in [CommentLikes, CommentLoves, CommentLaughs, Replies] {
            let own = TallySubject::Comment(self.post_id.clone(), self.id.clone());
            emit(TallyEntry::owner(kind, own));
        }
        if self.is_deleted {
            return;
        }
        emit(TallyEntry::fact(TallyKind::Comments, TallySubject::Post(self.post_id.clone())));
        if let Some(parent) = &self.parent_comment_id {
            let parent = TallySubject::Comment(self.post_id.clone(), parent.clone());
            emit(TallyEntry::fact(TallyKind::Replies, parent));
        }
        features::emit_tags(EntityKind::Comment, &(&self.id).into(), self.tags(), emit);
    }
}

impl TallySource for CommentLike {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        let comment = || TallySubject::Comment(self.post_id.clone(), self.comment_id.clone());
        emit(TallyEntry::fact(TallyKind::CommentLikes, comment()));
        match self.like_type() {
            LikeType::Like => {}
            LikeType::Love => emit(TallyEntry::fact(TallyKind::CommentLoves, comment())),
            LikeType::Laugh => emit(TallyEntry::fact(TallyKind::CommentLaughs, comment())),
        }
    }
}

impl TallySource for CommentCounter {
    const COUNTS: &'static [&'static str] = &["likes", "loves", "laughs", "replies"];

    fn emit_entries(&self, item: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        let own = || TallySubject::Comment(self.post_id.clone(), self.comment_id.clone());
        emit(TallyEntry::stated(TallyKind::CommentLikes, own(), stored(item, "likes")));
        emit_likes_by_type(item, [TallyKind::CommentLoves, TallyKind::CommentLaughs], own, emit);
        emit(TallyEntry::stated(TallyKind::Replies, own(), stored(item, "replies")));
    }
}

/// Emits what a counter states about likes that are not plain.
fn emit_likes_by_type(
    item: &Item,
    kinds: [TallyKind; 2],
    own: impl Fn() -> TallySubject,
    emit: &mut dyn FnMut(TallyEntry),
) {
    for kind in kinds {
        emit(TallyEntry::stated(kind, own(), stored(item, attribute(kind))));
    }
}

/// Describes the counted facts, for messages.
pub(crate) fn describe_facts(kind: TallyKind, subject: &TallySubject) -> Cow<'static, str> {
    Cow::Borrowed(match (kind, subject) {
        (TallyKind::Counter, TallySubject::UserCounter(_, UserCount::Followers, _)) => {
            "the active followers in this shard"
        }
        (TallyKind::Counter, TallySubject::UserCounter(_, UserCount::Following, _)) => {
            "the active follows of this user"
        }
        (TallyKind::Counter, TallySubject::UserCounter(_, UserCount::Posts, _)) => {
            "the posts that are not deleted"
        }
        (TallyKind::Counter, TallySubject::UserCounter(_, UserCount::Xp, _)) => {
            "the sum of the rewards"
        }
        (TallyKind::Counter, TallySubject::UserCounter(_, UserCount::Unread, _)) => {
            "the unread notifications"
        }
        (TallyKind::Counter, TallySubject::UserCounter(_, UserCount::MediaBytes, _)) => {
            "the bytes of the uploads that are charged"
        }
        (TallyKind::Counter, TallySubject::UserCounter(_, UserCount::PendingUploads, _)) => {
            "the pending uploads that are charged"
        }
        (TallyKind::Counter, TallySubject::Group(_)) => "the active members",
        (TallyKind::Steps, _) => "its steps",
        (TallyKind::Likes | TallyKind::CommentLikes, _) => "the likes",
        (TallyKind::Loves | TallyKind::CommentLoves, _) => "the likes of the type love",
        (TallyKind::Laughs | TallyKind::CommentLaughs, _) => "the likes of the type laugh",
        (TallyKind::Comments, _) => "the comments that are not deleted",
        (TallyKind::Shares, _) => "the shares",
        (TallyKind::Replies, _) => "the replies that are not deleted",
        _ => "the counted facts",
    })
}

/// The attribute that states the number.
pub(crate) const fn attribute(kind: TallyKind) -> &'static str {
    match kind {
        TallyKind::Likes | TallyKind::CommentLikes => "likes",
        TallyKind::Loves | TallyKind::CommentLoves => "loves",
        TallyKind::Laughs | TallyKind::CommentLaughs => "laughs",
        TallyKind::Comments => "comments",
        TallyKind::Shares => "shares",
        TallyKind::Replies => "replies",
        TallyKind::Steps => "progressCount",
        _ => "count",
    }
}
