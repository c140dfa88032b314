//! Notifications about likes and shares of a post, and likes of a comment: one for each hour, which names
//! the latest active reaction that the author may see.
//!
//! Its key follows from the post or comment and the hour of the reaction. It names the later of the user it
//! named before and the users who have just reacted; if the named user has withdrawn the reaction,
//! all reactions are read. So it is correct after every change, also if changes are delivered
//! twice.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join_all;
use roundtable_domain::{Cause, CauseObject, LatestActor, collapse_hour};
use roundtable_model::entities::{Comment, CommentLike, Like, Notification, Share};
use roundtable_model::table::Change;
use roundtable_model::{Entity, EntityKey, NotificationKind, Time, UserId};

use super::{NotificationKey, NotificationWriter, entity_key, notification_key};
use crate::Result;
use crate::processor::{Effects, Images, entity_type};
use crate::reads::read_all;

/// A reaction to a post or comment, at most one per user.
pub(super) trait Reaction: Entity {
    const KIND: NotificationKind;

    /// The post or comment.
    fn about(&self) -> CauseObject;

    fn user(&self) -> &UserId;

    /// The author of the post; `None` for a comment, whose author is read.
    fn author(&self) -> Option<&UserId>;

    fn time(&self) -> Time;

    /// `None` if there is no such reaction to that object.
    fn key_of(about: &CauseObject, user: &UserId) -> Option<EntityKey<Self>>;
}

/// The reactions to one post or comment in one hour.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ReactionGroup {
    author: UserId,
    about: CauseObject,
    hour: Time,
}

impl NotificationWriter {
    pub(super) async fn write_reactions<R: Reaction>(
        &self,
        changes: &[Change],
        effects: &mut Effects,
    ) -> Result<()> {
        let touched = self.touched_groups::<R>(changes).await?;
        if touched.is_empty() {
            return Ok(());
        }
        let core = self.context.core().table();
        let mut keys: BTreeMap<NotificationKey, &ReactionGroup> = BTreeMap::new();
        for group in touched.keys() {
            keys.insert(notification_key(&self.notification::<R>(group, None)?), group);
        }
        let found = read_all(core, keys.keys().map(|key| (key.clone(), entity_key(key)))).await?;
        let existing: BTreeMap<&ReactionGroup, &Notification> =
            keys.iter().filter_map(|(key, group)| Some((*group, found.get(key)?))).collect();
        let named = |group: &ReactionGroup| {
            existing.get(group).and_then(|notification| notification.actor_id.clone())
        };
        let reactors: BTreeSet<(CauseObject, UserId)> = touched
            .iter()
            .flat_map(|(group, users)| {
                users.iter().cloned().chain(named(group)).map(|user| (group.about.clone(), user))
            })
            .collect();
        let keys = reactors
            .iter()
            .filter_map(|(about, user)| Some(((about, user), R::key_of(about, user)?)));
        let current: BTreeMap<(&CauseObject, &UserId), R> =
            read_all(core, keys).await?.into_iter().collect();
        let each = touched.iter().map(async |(group, users)| {
            let before = existing.get(group).copied();
            let named = before.and_then(|notification| notification.actor_id.as_ref());
            let all: BTreeSet<&UserId> = users.iter().chain(named).collect();
            let in_hour = |user: &&UserId| {
                let reaction = current.get(&(&group.about, *user))?;
                let when = reaction.time();
                (collapse_hour(when) == group.hour).then(|| (when, (*user).clone()))
            };
            let live: Vec<(Time, UserId)> = all.iter().filter_map(in_hour).collect();
            self.latest_actor::<R>(group, before, live).await
        });
        let latest = try_join_all(each).await?;
        for (group, latest) in touched.keys().zip(latest) {
            self.write_latest::<R>(group, existing.get(group).copied(), latest, effects)?;
        }
        Ok(())
    }

    /// Returns the groups that changes belong to, with the users who reacted.
    async fn touched_groups<R: Reaction>(
        &self,
        changes: &[Change],
    ) -> Result<BTreeMap<ReactionGroup, BTreeSet<UserId>>> {
        let mut reactions: Vec<R> = Vec::new();
        for change in changes.iter().filter(|change| entity_type(change) == Some(R::SHAPE.name)) {
            let Images { old, new } = Images::<R>::of(change)?;
            // Changing the kind of like is not news.
            if old.as_ref().map(R::time) != new.as_ref().map(R::time) {
                reactions.extend([old, new].into_iter().flatten());
            }
        }
        let comments = reactions.iter().filter_map(|reaction| match reaction.about() {
            CauseObject::Comment(post, id) => Some((id.clone(), Comment::at(&post, &id))),
            _ => None,
        });
        let comments = comments.collect::<BTreeMap<_, _>>();
        let comments = read_all(self.context.core().table(), comments).await?;
        let mut touched: BTreeMap<ReactionGroup, BTreeSet<UserId>> = BTreeMap::new();
        for reaction in &reactions {
            let about = reaction.about();
            let commenter = match &about {
                CauseObject::Comment(_, id) => comments.get(id).map(|comment| &comment.user_id),
                _ => None,
            };
            let Some(author) = reaction.author().or(commenter) else { continue };
            if reaction.user() != author {
                let (author, hour) = (author.clone(), collapse_hour(reaction.time()));
                let group = ReactionGroup { author, about, hour };
                touched.entry(group).or_default().insert(reaction.user().clone());
            }
        }
        Ok(touched)
    }

    /// Returns the user that a notification is to name.
    async fn latest_actor<R: Reaction>(
        &self,
        group: &ReactionGroup,
        before: Option<&Notification>,
        mut live: Vec<(Time, UserId)>,
    ) -> Result<LatestActor> {
        live.sort_unstable_by(|one, other| other.cmp(one));
        let causes = live.iter().map(|(when, user)| cause::<R>(group, Some(user), *when));
        let causes: Vec<Cause> = causes.collect();
        let allowed = self.notifications.may_notify(&group.author, &causes).await?;
        let visible = live.into_iter().zip(allowed).filter(|(_, is)| *is).map(|(one, _)| one);
        let visible: Vec<(Time, UserId)> = visible.collect();
        let first = visible.first().map(|(when, user)| LatestActor::Named(user.clone(), *when));
        let Some(notification) = before else { return Ok(first.unwrap_or(LatestActor::NoActor)) };
        let is_current = match &notification.actor_id {
            // Otherwise the named user is no longer among them.
            Some(named) => visible.iter().any(|(_, user)| user == named),
            // There were too many to name one, until another user reacts or all others withdraw.
            None => first.is_some(),
        };
        if let (true, Some(first)) = (is_current, &first) {
            return Ok(first.clone());
        }
        let (about, hour) = (&group.about, group.hour);
        let latest = self.notifications.latest_actor(&group.author, R::KIND, about, hour).await?;
        Ok(later(first, latest))
    }

    /// Writes or deletes a notification so that it names `latest`.
    fn write_latest<R: Reaction>(
        &self,
        group: &ReactionGroup,
        before: Option<&Notification>,
        latest: LatestActor,
        effects: &mut Effects,
    ) -> Result<()> {
        let core = self.context.core().table();
        let (actor, latest_at) = match latest {
            LatestActor::Named(user, when) => (Some(user), Some(when)),
            LatestActor::Unknown => (None, before.and_then(|notification| notification.latest_at)),
            LatestActor::NoActor => {
                if let Some(notification) = before {
                    effects.write(core, notification.key().delete());
                }
                return Ok(());
            }
        };
        let Some(notification) = before else {
            let notification =
                Notification { latest_at, ..self.notification::<R>(group, actor.as_ref())? };
            if !self.is_expired(&notification) {
                effects.write(core, notification.create());
            }
            return Ok(());
        };
        // Clocks cannot tell whether the reader knew: compare with the user, and the time, that it
        // named when it was marked as read.
        let is_news = actor.is_some()
            && (latest_at, &actor) > (notification.latest_at, &notification.actor_id);
        let read_at = notification.read_at.filter(|_| !is_news);
        if notification.actor_id != actor || notification.latest_at != latest_at {
            let unchanged = Notification::ACTOR_ID
                .is(&notification.actor_id)
                .and(Notification::LATEST_AT.is(&notification.latest_at))
                .and(Notification::READ_AT.is(&notification.read_at));
            let patch = notification.key().patch().set(Notification::ACTOR_ID, &actor);
            let patch = patch.set(Notification::LATEST_AT, &latest_at);
            let patch = patch.set(Notification::READ_AT, &read_at).when(unchanged);
            effects.write(core, patch);
        }
        Ok(())
    }

    fn notification<R: Reaction>(
        &self,
        group: &ReactionGroup,
        actor: Option<&UserId>,
    ) -> Result<Notification> {
        Ok(cause::<R>(group, actor, group.hour).notification(&self.context)?)
    }
}

impl Reaction for Like {
    const KIND: NotificationKind = NotificationKind::Like;

    fn about(&self) -> CauseObject {
        CauseObject::Post(self.post_id.clone())
    }

    fn user(&self) -> &UserId {
        &self.user_id
    }

    fn author(&self) -> Option<&UserId> {
        Some(&self.post_user_id)
    }

    fn time(&self) -> Time {
        self.created_at
    }

    fn key_of(about: &CauseObject, user: &UserId) -> Option<EntityKey<Self>> {
        let CauseObject::Post(post) = about else { return None };
        Some(Self::at(post, user))
    }
}

impl Reaction for Share {
    const KIND: NotificationKind = NotificationKind::Share;

    fn about(&self) -> CauseObject {
        CauseObject::Post(self.post_id.clone())
    }

    fn user(&self) -> &UserId {
        &self.user_id
    }

    fn author(&self) -> Option<&UserId> {
        Some(&self.post_user_id)
    }

    fn time(&self) -> Time {
        self.created_at
    }

    fn key_of(about: &CauseObject, user: &UserId) -> Option<EntityKey<Self>> {
        let CauseObject::Post(post) = about else { return None };
        Some(Self::at(post, user))
    }
}

impl Reaction for CommentLike {
    const KIND: NotificationKind = NotificationKind::CommentLike;

    fn about(&self) -> CauseObject {
        CauseObject::Comment(self.post_id.clone(), self.comment_id.clone())
    }

    fn user(&self) -> &UserId {
        &self.user_id
    }

    fn author(&self) -> Option<&UserId> {
        None
    }

    fn time(&self) -> Time {
        self.created_at
    }

    fn key_of(about: &CauseObject, user: &UserId) -> Option<EntityKey<Self>> {
        let CauseObject::Comment(post, comment) = about else { return None };
        Some(Self::at(post, comment, user))
    }
}

/// Returns the cause for a user's reaction.
fn cause<R: Reaction>(group: &ReactionGroup, actor: Option<&UserId>, at: Time) -> Cause {
    Cause {
        user: group.author.clone(),
        kind: R::KIND,
        actor: actor.cloned(),
        about: group.about.clone(),
        at,
    }
}

/// Returns the later of a known actor and one that was read.
fn later(existing: Option<LatestActor>, found: LatestActor) -> LatestActor {
    match (existing, found) {
        (Some(LatestActor::Named(one, other_time)), LatestActor::Named(other, when)) => {
            if other_time >= when {
                LatestActor::Named(one, other_time)
            } else {
                LatestActor::Named(other, when)
            }
        }
        (Some(existing), LatestActor::Unknown) => existing,
        (_, found) => found,
    }
}
