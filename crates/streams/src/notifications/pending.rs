//! The notifications that a fact calls for, as far as the fact itself tells.

use roundtable_domain::CauseObject;
use roundtable_model::entities::{
    ApiKey, AssistMsg, AssistThread, Comment, Device, Follow, GroupMember, Identity,
    ModerationCase, Post, Quest, Task,
};
use roundtable_model::{
    CommentId, Entity, FollowStatus, GroupId, MemberStatus, ModerationStatus, Nickname,
    NotificationKind, PostId, QuestStatus, ThreadId, Time, UserId, Visibility,
};

/// The cancel reason of a quest that was not completed in time.
const EXPIRED: &str = "expired";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Recipient {
    User(UserId),
    /// The holder of this nickname.
    Named(Nickname),
    /// The author of this post.
    Author(PostId),
    /// The author of this comment.
    Commenter(PostId, CommentId),
    /// The owner and the admins of this group.
    GroupStaff(GroupId),
    /// The user who asked for help in this thread, and the helpers.
    Participants(ThreadId),
}

/// A notification whose recipient is not resolved yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PendingNotification {
    pub(super) recipient: Recipient,
    pub(super) kind: NotificationKind,
    pub(super) actor: Option<UserId>,
    pub(super) about: CauseObject,
    pub(super) at: Time,
    /// The user who decided it, and knows already.
    pub(super) except: Option<UserId>,
    /// The audience of the post. When it changes, further users may be notified.
    pub(super) visibility: Option<Visibility>,
    /// The time of a mention. It addresses the user who had the name by then.
    pub(super) mentioned_at: Option<Time>,
}

/// An entity that calls for notifications.
pub(super) trait NotificationSource: Entity {
    /// True if its notifications stay when it is gone.
    const IS_LASTING: bool = false;

    /// Returns the notifications that it calls for in its current state. `lead_ms` is how long
    /// before its due time a task reminds.
    fn pending_notifications(&self, lead_ms: u64) -> Vec<PendingNotification>;

    /// Returns when `recipient` was mentioned, given the previous state.
    fn mentioned_at(&self, _old: Option<&Self>, _recipient: &Recipient) -> Option<Time> {
        None
    }

    /// Returns whether the change from `old` to `new` is news of this kind.
    fn is_news(_old: Option<&Self>, _new: &Self, _kind: NotificationKind) -> bool {
        true
    }
}

impl PendingNotification {
    fn new(recipient: Recipient, kind: NotificationKind, about: CauseObject, at: Time) -> Self {
        Self {
            recipient,
            kind,
            actor: None,
            about,
            at,
            except: None,
            visibility: None,
            mentioned_at: None,
        }
    }

    fn by(self, actor: &UserId) -> Self {
        Self { actor: Some(actor.clone()), ..self }
    }

    pub(super) fn is_same_notification(&self, other: &Self) -> bool {
        (&self.recipient, self.kind, &self.about, self.at)
            == (&other.recipient, other.kind, &other.about, other.at)
    }
}

impl NotificationSource for Follow {
    fn pending_notifications(&self, _: u64) -> Vec<PendingNotification> {
        let (kind, at) = match (self.status, self.active_since) {
            (FollowStatus::Active, Some(since)) => (NotificationKind::Follow, since),
            (FollowStatus::Active, None) => return Vec::new(),
            (FollowStatus::Pending, _) => (NotificationKind::FollowRequest, self.created_at),
        };
        let about = CauseObject::Person(self.follower_id.clone());
        let recipient = Recipient::User(self.followee_id.clone());
        let followed = PendingNotification::new(recipient, kind, about, at).by(&self.follower_id);
        if self.status == FollowStatus::Pending {
            return vec![followed];
        }
        let kind = NotificationKind::FollowAccepted;
        let about = CauseObject::Person(self.followee_id.clone());
        let recipient = Recipient::User(self.follower_id.clone());
        let accepted = PendingNotification::new(recipient, kind, about, at).by(&self.followee_id);
        vec![followed, accepted]
    }

    /// Only a request is accepted.
    fn is_news(old: Option<&Self>, _: &Self, kind: NotificationKind) -> bool {
        kind != NotificationKind::FollowAccepted
            || old.is_some_and(|old| old.status == FollowStatus::Pending)
    }
}

impl NotificationSource for Comment {
    fn pending_notifications(&self, _: u64) -> Vec<PendingNotification> {
        if self.is_deleted || self.moderation_status != ModerationStatus::Approved {
            return Vec::new();
        }
        let author = Recipient::User(self.post_user_id.clone());
        let parent_author = self.parent_comment_id.as_ref();
        let parent_author =
            parent_author.map(|id| Recipient::Commenter(self.post_id.clone(), id.clone()));
        let notification = |recipient, kind| {
            let about = CauseObject::Comment(self.post_id.clone(), self.id.clone());
            PendingNotification::new(recipient, kind, about, self.created_at).by(&self.user_id)
        };
        let answered = std::iter::once(author).chain(parent_author);
        let answered = answered.map(|one| notification(one, NotificationKind::Comment));
        let named = self.mentions.iter().flatten();
        let named = named.map(|name| Recipient::Named(name.clone()));
        let named = named.map(|one| notification(one, NotificationKind::Mention));
        answered.chain(named).collect()
    }

    /// A name added later may belong to a user who did not have it when the comment was written.
    fn mentioned_at(&self, old: Option<&Self>, recipient: &Recipient) -> Option<Time> {
        let Recipient::Named(name) = recipient else { return None };
        let mentions =
            |comment: &Self| comment.mentions.iter().flatten().any(|other| other.same_as(name));
        let is_added = old.is_some_and(|old| !mentions(old));
        Some(if is_added { self.updated_at } else { self.created_at })
    }
}

impl NotificationSource for Post {
    fn pending_notifications(&self, _: u64) -> Vec<PendingNotification> {
        let is_published = !self.is_deleted && self.moderation_status == ModerationStatus::Approved;
        let Some(at) = self.published_at.filter(|_| is_published) else { return Vec::new() };
        let notification = |name: &Nickname| {
            let (recipient, about) =
                (Recipient::Named(name.clone()), CauseObject::Post(self.id.clone()));
            let notification =
                PendingNotification::new(recipient, NotificationKind::Mention, about, at)
                    .by(&self.author_id);
            PendingNotification { visibility: Some(self.visibility), ..notification }
        };
        self.mentions.iter().map(notification).collect()
    }

    /// A name added later may belong to a user who did not have it when the post was published.
    fn mentioned_at(&self, old: Option<&Self>, recipient: &Recipient) -> Option<Time> {
        let Recipient::Named(name) = recipient else { return None };
        let mentions = |post: &Self| post.mentions.iter().any(|other| other.same_as(name));
        let is_added = old.is_some_and(|old| !mentions(old));
        if is_added { Some(self.updated_at) } else { self.published_at }
    }
}

impl NotificationSource for GroupMember {
    fn pending_notifications(&self, _: u64) -> Vec<PendingNotification> {
        let at = match self.status {
            MemberStatus::Invited => Some(self.joined_at),
            MemberStatus::Active => self.active_since,
            MemberStatus::Pending => return vec![join_request(self)],
        };
        let notification = |at| {
            let (recipient, about) =
                (Recipient::User(self.user_id.clone()), CauseObject::Group(self.group_id.clone()));
            PendingNotification::new(recipient, NotificationKind::Group, about, at)
        };
        at.map(notification).into_iter().collect()
    }

    /// A user who joins alone or accepts an invitation is not notified.
    fn is_news(old: Option<&Self>, new: &Self, _: NotificationKind) -> bool {
        new.status != MemberStatus::Active
            || old.is_some_and(|old| old.status == MemberStatus::Pending)
    }
}

fn join_request(member: &GroupMember) -> PendingNotification {
    let about = CauseObject::JoinRequest(member.group_id.clone(), member.user_id.clone());
    let recipient = Recipient::GroupStaff(member.group_id.clone());
    let kind = NotificationKind::GroupRequest;
    PendingNotification::new(recipient, kind, about, member.joined_at).by(&member.user_id)
}

impl NotificationSource for Quest {
    fn pending_notifications(&self, _: u64) -> Vec<PendingNotification> {
        let has_ended = match self.status {
            QuestStatus::Active => false,
            QuestStatus::Completed => true,
            QuestStatus::Cancelled => self.cancel_reason.as_deref() == Some(EXPIRED),
        };
        if !has_ended {
            return Vec::new();
        }
        let (recipient, about) =
            (Recipient::User(self.user_id.clone()), CauseObject::Quest(self.id.clone()));
        vec![PendingNotification::new(recipient, NotificationKind::Quest, about, self.updated_at)]
    }
}

impl NotificationSource for ModerationCase {
    /// The deciding moderator is not disclosed.
    fn pending_notifications(&self, _: u64) -> Vec<PendingNotification> {
        let is_decided = self.status != ModerationStatus::Pending;
        let Some(at) = self.decided_at.filter(|_| is_decided) else { return Vec::new() };
        let Some(post) = self.post_id.clone() else { return Vec::new() };
        let (recipient, about) = match self.comment_id.clone() {
            Some(id) => {
                (Recipient::Commenter(post.clone(), id.clone()), CauseObject::Comment(post, id))
            }
            None => (Recipient::Author(post.clone()), CauseObject::Post(post)),
        };
        let notification =
            PendingNotification::new(recipient, NotificationKind::Moderation, about, at);
        vec![PendingNotification { except: self.decided_by.clone(), ..notification }]
    }
}

impl NotificationSource for ApiKey {
    /// A stranger who created a key in its owner's name could otherwise hide that by revoking it.
    const IS_LASTING: bool = true;

    fn pending_notifications(&self, _: u64) -> Vec<PendingNotification> {
        let about = CauseObject::Person(self.user_id.clone());
        let recipient = Recipient::User(self.user_id.clone());
        let kind = NotificationKind::ApiKey;
        vec![PendingNotification::new(recipient, kind, about, self.created_at)]
    }
}

impl NotificationSource for Identity {
    /// As with a key: a stranger who linked an identity could otherwise hide that by unlinking it.
    const IS_LASTING: bool = true;

    fn pending_notifications(&self, _: u64) -> Vec<PendingNotification> {
        let about = CauseObject::Person(self.user_id.clone());
        let recipient = Recipient::User(self.user_id.clone());
        let kind = NotificationKind::Identity;
        vec![PendingNotification::new(recipient, kind, about, self.created_at)]
    }
}

impl NotificationSource for AssistThread {
    fn pending_notifications(&self, _: u64) -> Vec<PendingNotification> {
        let notification = |helper: &UserId| {
            let about = CauseObject::Assist(self.thread_id.clone(), self.user_id.clone());
            let (recipient, kind) =
                (Recipient::User(helper.clone()), NotificationKind::AssistRequest);
            PendingNotification::new(recipient, kind, about, self.created_at).by(&self.user_id)
        };
        self.helper_ids.iter().map(notification).collect()
    }
}

impl NotificationSource for AssistMsg {
    fn pending_notifications(&self, _: u64) -> Vec<PendingNotification> {
        let about = CauseObject::Assist(self.thread_id.clone(), self.user_id.clone());
        let recipient = Recipient::Participants(self.thread_id.clone());
        let kind = NotificationKind::AssistAnswer;
        let notification = PendingNotification::new(recipient, kind, about, self.created_at);
        vec![notification.by(&self.user_id)]
    }
}

impl NotificationSource for Device {
    /// As with a key: a stranger who signs in could otherwise hide that.
    const IS_LASTING: bool = true;

    fn pending_notifications(&self, _: u64) -> Vec<PendingNotification> {
        if self.signed_up_at.is_some() {
            return Vec::new();
        }
        let about = CauseObject::Person(self.user_id.clone());
        let recipient = Recipient::User(self.user_id.clone());
        let kind = NotificationKind::SignIn;
        vec![PendingNotification::new(recipient, kind, about, self.created_at)]
    }
}

impl NotificationSource for Task {
    fn pending_notifications(&self, lead_ms: u64) -> Vec<PendingNotification> {
        let Some(due) = self.due_at.filter(|_| !self.done) else { return Vec::new() };
        let about = CauseObject::Task(self.goal_id.clone(), self.id.clone());
        let recipient = Recipient::User(self.user_id.clone());
        vec![PendingNotification::new(
            recipient,
            NotificationKind::Reminder,
            about,
            due.minus_ms(lead_ms),
        )]
    }
}
