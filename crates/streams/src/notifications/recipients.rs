//! Resolves the recipients of notifications: authors of posts and comments, and holders of
//! nicknames.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use roundtable_domain::{Cause, Context};
use roundtable_model::entities::{Comment, Post};
use roundtable_model::table::Change;
use roundtable_model::{CommentId, Entity, Nickname, PostId, Time, UserId};

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
}

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
        for notification in pending {
            match &notification.recipient {
                Recipient::User(_) => {}
                Recipient::Named(name) => {
                    drop(names.insert(name.fold().into_owned(), name.clone()));
                }
                Recipient::Author(id) => drop(posts.insert(id.clone())),
                Recipient::Commenter(post, id) => drop(comments.insert((post.clone(), id.clone()))),
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

    /// Returns the cause of a notification, or `None` if it has no recipient or the recipient
    /// caused it.
    pub(super) fn cause(
        &self,
        notification: &PendingNotification,
        is_wanted: bool,
    ) -> Option<Cause> {
        let user = match &notification.recipient {
            Recipient::User(user) => user,
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
