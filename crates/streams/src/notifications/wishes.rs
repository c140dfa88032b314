//! What a fact wants people to be told, as far as the fact itself says.

use roundtable_domain::About;
use roundtable_model::entities::{Comment, Follow, GroupMember, ModerationCase, Post, Quest, Task};
use roundtable_model::{
    CommentId, Entity, FollowStatus, MemberStatus, ModerationStatus, Nickname, NotificationKind,
    PostId, QuestStatus, Time, UserId, Visibility,
};

/// Why a quest was cancelled that was not completed in time.
const EXPIRED: &str = "expired";

/// Who is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Whom {
    /// This person.
    User(UserId),
    /// Whoever has this nickname.
    Named(Nickname),
    /// Who wrote this post.
    Author(PostId),
    /// Who wrote this comment.
    Commenter(PostId, CommentId),
}

/// Something that somebody is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) whom: Whom,
    pub(super) kind: NotificationKind,
    pub(super) actor: Option<UserId>,
    pub(super) about: About,
    pub(super) at: Time,
    /// Whoever decided it knows already.
    pub(super) unless: Option<UserId>,
    /// Who may see it: when that changes, somebody more may be told.
    pub(super) shown_to: Option<Visibility>,
    /// Of somebody who is named: when they were. Whoever had the name by then was meant.
    pub(super) meant_at: Option<Time>,
}

/// Something from which notifications follow.
pub(super) trait Fact: Entity {
    /// What it wants people to be told, as it is. `lead_ms` is how long before a task is due.
    fn wishes(&self, lead_ms: u64) -> Vec<Wish>;

    /// When somebody was named whom it names, given what it was before.
    fn meant_at(&self, _old: Option<&Self>, _whom: &Whom) -> Option<Time> {
        None
    }

    /// Whether one that became another is news.
    fn is_news(_old: Option<&Self>, _new: &Self) -> bool {
        true
    }
}

impl Wish {
    fn new(whom: Whom, kind: NotificationKind, about: About, at: Time) -> Self {
        Self { whom, kind, actor: None, about, at, unless: None, shown_to: None, meant_at: None }
    }

    fn by(self, actor: &UserId) -> Self {
        Self { actor: Some(actor.clone()), ..self }
    }

    /// Whether it is the same notification.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.whom, self.kind, &self.about, self.at)
            == (&other.whom, other.kind, &other.about, other.at)
    }
}

impl Fact for Follow {
    fn wishes(&self, _: u64) -> Vec<Wish> {
        let (kind, at) = match (self.status, self.active_since) {
            (FollowStatus::Active, Some(since)) => (NotificationKind::Follow, since),
            (FollowStatus::Active, None) => return Vec::new(),
            (FollowStatus::Pending, _) => (NotificationKind::FollowRequest, self.created_at),
        };
        let about = About::Person(self.follower_id.clone());
        let whom = Whom::User(self.followee_id.clone());
        vec![Wish::new(whom, kind, about, at).by(&self.follower_id)]
    }
}

impl Fact for Comment {
    fn wishes(&self, _: u64) -> Vec<Wish> {
        if self.is_deleted || self.moderation_status != ModerationStatus::Approved {
            return Vec::new();
        }
        let author = Whom::User(self.post_user_id.clone());
        let answered = self.parent_comment_id.as_ref();
        let answered = answered.map(|id| Whom::Commenter(self.post_id.clone(), id.clone()));
        let wish = |whom| {
            let about = About::Comment(self.post_id.clone(), self.id.clone());
            Wish::new(whom, NotificationKind::Comment, about, self.created_at).by(&self.user_id)
        };
        std::iter::once(author).chain(answered).map(wish).collect()
    }
}

impl Fact for Post {
    fn wishes(&self, _: u64) -> Vec<Wish> {
        let is_out = !self.is_deleted && self.moderation_status == ModerationStatus::Approved;
        let Some(at) = self.published_at.filter(|_| is_out) else { return Vec::new() };
        let wish = |name: &Nickname| {
            let (whom, about) = (Whom::Named(name.clone()), About::Post(self.id.clone()));
            let wish = Wish::new(whom, NotificationKind::Mention, about, at).by(&self.author_id);
            Wish { shown_to: Some(self.visibility), ..wish }
        };
        self.mentions.iter().map(wish).collect()
    }

    /// A name that was added later may be somebody's who did not have it when the post was published.
    fn meant_at(&self, old: Option<&Self>, whom: &Whom) -> Option<Time> {
        let Whom::Named(name) = whom else { return None };
        let named = |post: &Self| post.mentions.iter().any(|other| other.same_as(name));
        let is_added = old.is_some_and(|old| !named(old));
        if is_added { Some(self.updated_at) } else { self.published_at }
    }
}

impl Fact for GroupMember {
    fn wishes(&self, _: u64) -> Vec<Wish> {
        let at = match self.status {
            MemberStatus::Invited => Some(self.joined_at),
            MemberStatus::Active => self.active_since,
            MemberStatus::Pending => None,
        };
        let wish = |at| {
            let (whom, about) =
                (Whom::User(self.user_id.clone()), About::Group(self.group_id.clone()));
            Wish::new(whom, NotificationKind::Group, about, at)
        };
        at.map(wish).into_iter().collect()
    }

    /// Whoever joins by themselves, or follows an invitation, need not be told.
    fn is_news(old: Option<&Self>, new: &Self) -> bool {
        new.status != MemberStatus::Active
            || old.is_some_and(|old| old.status == MemberStatus::Pending)
    }
}

impl Fact for Quest {
    fn wishes(&self, _: u64) -> Vec<Wish> {
        let is_over = match self.status {
            QuestStatus::Active => false,
            QuestStatus::Completed => true,
            QuestStatus::Cancelled => self.cancel_reason.as_deref() == Some(EXPIRED),
        };
        if !is_over {
            return Vec::new();
        }
        let (whom, about) = (Whom::User(self.user_id.clone()), About::Quest(self.id.clone()));
        vec![Wish::new(whom, NotificationKind::Quest, about, self.updated_at)]
    }
}

impl Fact for ModerationCase {
    /// Who decided stays among moderators.
    fn wishes(&self, _: u64) -> Vec<Wish> {
        let is_decided = self.status != ModerationStatus::Pending;
        let Some(at) = self.decided_at.filter(|_| is_decided) else { return Vec::new() };
        let post = self.post_id.clone();
        let (whom, about) = match self.comment_id.clone() {
            Some(id) => (Whom::Commenter(post.clone(), id.clone()), About::Comment(post, id)),
            None => (Whom::Author(post.clone()), About::Post(post)),
        };
        let wish = Wish::new(whom, NotificationKind::Moderation, about, at);
        vec![Wish { unless: self.decided_by.clone(), ..wish }]
    }
}

impl Fact for Task {
    fn wishes(&self, lead_ms: u64) -> Vec<Wish> {
        let Some(due) = self.due_at.filter(|_| !self.done) else { return Vec::new() };
        let about = About::Task(self.goal_id.clone(), self.id.clone());
        let whom = Whom::User(self.user_id.clone());
        vec![Wish::new(whom, NotificationKind::Reminder, about, due.minus_ms(lead_ms))]
    }
}
