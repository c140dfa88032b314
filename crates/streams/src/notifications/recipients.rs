//! Resolves the recipients of notifications: authors of posts and comments, and holders of
//! nicknames.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use roundtable_domain::{Cause, Context};
use roundtable_model::entities::{Comment, GroupMember, Post};
use roundtable_model::table::Change;
use roundtable_model::{
    CommentId, Entity, GroupId, GroupRole, MemberStatus, Nickname, PostId, ThreadId, Time, UserId,
};

use super::pending::{PendingNotification, Recipient};
use crate::Result;
use crate::processor::{Images, entity_type};
use crate::reads::read_all;

/// The authors and nicknames needed for some notifications.
#[derive(Debug, Default)]
pub(super) struct RecipientLookup {
    authors: HashMap<PostId, UserId>,
    commenters: HashMap<CommentId, UserId>,
    /// By case-folded nickname: users write it in any case.
    names: HashMap<String, (UserId, Time)>,
    group_staff: HashMap<GroupId, Vec<UserId>>,
    participants: HashMap<ThreadId, Vec<UserId>>,
}

/// Members of a group that are read to find its admins: they are stored by user, not by role.
const MEMBERS_MAX: usize = 2_000;
const MEMBERS_AT_ONCE: usize = 200;

impl RecipientLookup {
    /// Loads the recipients of `pending`, as far as they still exist. Content that was just removed
    /// is taken from the changes.
    pub(super) async fn load(
        context: &Context,
        changes: &[Change],
        pending: impl Iterator<Item = &PendingNotification>,
    ) -> Result<Self> {
        let mut lookup = Self::default();
        lookup.add_from_changes(changes)?;
        let (mut posts, mut comments) = (BTreeSet::new(), BTreeSet::new());
        let mut names: BTreeMap<String, Nickname> = BTreeMap::new();
        let (mut groups, mut threads) = (BTreeSet::new(), BTreeSet::new());
        for notification in pending {
            match &notification.recipient {
                Recipient::User(_) => {}
                Recipient::Named(name) => {
                    drop(names.insert(name.fold().into_owned(), name.clone()));
                }
                Recipient::Author(id) => drop(posts.insert(id.clone())),
                Recipient::Commenter(post, id) => drop(comments.insert((post.clone(), id.clone()))),
                Recipient::GroupStaff(group) => drop(groups.insert(group.clone())),
                Recipient::Participants(thread) => drop(threads.insert(thread.clone())),
            }
        }
        let core = context.core();
        let keys = posts.iter().map(|id| (id.clone(), Post::at(id)));
        let posts = read_all(core.table(), keys).await?;
        lookup.authors.extend(posts.into_iter().map(|(id, post)| (id, post.author_id)));
        let keys = comments.iter().map(|(post, id)| (id.clone(), Comment::at(post, id)));
        let comments = read_all(core.table(), keys).await?;
        lookup.commenters.extend(comments.into_iter().map(|(id, one)| (id, one.user_id)));
        let names: Vec<Nickname> = names.into_values().collect();
        let locks = core.nick_locks(&names).get().await?.into_iter().flatten();
        let holder = |lock: roundtable_model::entities::NickLock| {
            (lock.nickname.fold().into_owned(), (lock.user_id, lock.created_at))
        };
        lookup.names.extend(locks.map(holder));
        for group in groups {
            let staff = group_staff(context, &group).await?;
            lookup.group_staff.insert(group, staff);
        }
        let threads = core.assist_threads(&Vec::from_iter(threads)).get().await?;
        lookup.participants.extend(threads.into_iter().flatten().map(|thread| {
            let people = thread.helper_ids.into_iter().chain([thread.user_id]);
            (thread.thread_id, people.collect())
        }));
        Ok(lookup)
    }

    fn add_from_changes(&mut self, changes: &[Change]) -> Result<()> {
        for change in changes {
            let kind = entity_type(change).unwrap_or_default();
            if kind == Post::SHAPE.name {
                let Images { old, new } = Images::<Post>::of(change)?;
                let post = new.or(old);
                self.authors.extend(post.map(|post| (post.id, post.author_id)));
            } else if kind == Comment::SHAPE.name {
                let Images { old, new } = Images::<Comment>::of(change)?;
                let comment = new.or(old);
                self.commenters.extend(comment.map(|one| (one.id, one.user_id)));
            }
        }
        Ok(())
    }

    /// Returns the causes of a notification, one for each recipient who did not cause it.
    pub(super) fn causes(&self, notification: &PendingNotification, is_wanted: bool) -> Vec<Cause> {
        let several = match &notification.recipient {
            Recipient::GroupStaff(group) => self.group_staff.get(group),
            Recipient::Participants(thread) => self.participants.get(thread),
            _ => return self.cause(notification, is_wanted).into_iter().collect(),
        };
        let cause = |user: &UserId| {
            let recipient = Recipient::User(user.clone());
            self.cause(&PendingNotification { recipient, ..notification.clone() }, is_wanted)
        };
        several.into_iter().flatten().filter_map(cause).collect()
    }

    /// `None` if there is no recipient, or the recipient caused it.
    fn cause(&self, notification: &PendingNotification, is_wanted: bool) -> Option<Cause> {
        let user = match &notification.recipient {
            Recipient::User(user) => user,
            Recipient::GroupStaff(_) | Recipient::Participants(_) => return None,
            Recipient::Author(post) => self.authors.get(post)?,
            Recipient::Commenter(_, comment) => self.commenters.get(comment)?,
            // A user who took the name later was not mentioned.
            Recipient::Named(name) => {
                let was_mentioned =
                    |since: &Time| notification.mentioned_at.is_some_and(|then| *since <= then);
                let holder = self.names.get(&*name.fold());
                holder
                    .filter(|(_, since)| !is_wanted || was_mentioned(since))
                    .map(|(user, _)| user)?
            }
        };
        let is_own_action = [&notification.actor, &notification.except]
            .into_iter()
            .flatten()
            .any(|one| one == user);
        let (kind, at) = (notification.kind, notification.at);
        (!is_own_action).then(|| Cause {
            user: user.clone(),
            kind,
            actor: notification.actor.clone(),
            about: notification.about.clone(),
            at,
        })
    }
}

/// Returns the owner of a group and its admins, as far as they are among the first members.
async fn group_staff(context: &Context, group: &GroupId) -> Result<Vec<UserId>> {
    let core = context.core();
    let Some(found) = core.group(group).get().await? else { return Ok(Vec::new()) };
    let (mut staff, mut read, mut after) = (BTreeSet::from([found.owner_id]), 0, None);
    while read < MEMBERS_MAX {
        let page = core.members(group).limit(MEMBERS_AT_ONCE).after(after.take()).page().await?;
        read += page.items.len();
        let is_admin = |member: &GroupMember| {
            member.role == GroupRole::Admin && member.status == MemberStatus::Active
        };
        staff.extend(page.items.into_iter().filter(is_admin).map(|member| member.user_id));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    Ok(staff.into_iter().collect())
}
