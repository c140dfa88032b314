//! Collapsed notifications: finds the latest actor the reader may hear of.

use futures::future::try_join_all;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Notification;
use roundtable_model::{Cursor, NotificationKind, Time, UserId};

use super::Notifications;
use super::cause::{Cause, CauseObject, collapse_hour};
use crate::ServiceError;

const CHECK_BATCH: usize = 50;
const READ_BATCH: usize = 500;
/// Likes or shares of a post that are read to find the latest. They are stored by user, not by
/// time: for a post with a million likes, every unlike would read all of them.
const SCANNED_MAX: usize = 2_000;

/// The actor that a collapsed notification names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LatestActor {
    /// The latest actor and the time of the action.
    Named(UserId, Time),
    /// There are too many actors to find the latest.
    Unknown,
    /// No visible actor is left, so there is no notification.
    NoActor,
}

/// The users who liked or shared a post, or liked a comment.
#[derive(Debug)]
struct CollapsedGroup {
    kind: NotificationKind,
    about: CauseObject,
    people: Vec<(Time, UserId)>,
    /// False if there are more than were read.
    is_complete: bool,
}

#[boxed]
impl Notifications {
    /// Finds the latest user who liked or shared a post, or liked a comment, in the hour of `at`, of those
    /// its author may hear of. It reads up to two thousand likes or shares: for when the actor known as the latest
    /// has undone it or is hidden.
    pub async fn latest_actor(
        &self,
        user: &UserId,
        kind: NotificationKind,
        about: &CauseObject,
        at: Time,
    ) -> Result<LatestActor, ServiceError> {
        let group = self.group(kind, about.clone()).await?;
        self.latest_in_group(user, &group, at).await
    }

    /// Replaces hidden actors by others in the notifications at these indexes, given what they
    /// are about; removes a notification without another actor.
    pub(super) async fn name_other_actors(
        &self,
        user: &UserId,
        notes: &mut [Option<Notification>],
        hidden: &[(usize, CauseObject)],
    ) -> Result<(), ServiceError> {
        let replaced = |(index, about): &(usize, CauseObject)| {
            let note = notes.get(*index)?.as_ref()?;
            Some((*index, note.kind, about.clone(), note.created_at))
        };
        let replaced: Vec<_> = hidden.iter().filter_map(replaced).collect();
        // Several hours of one post share a group.
        let mut kinds: Vec<(NotificationKind, CauseObject)> = Vec::new();
        for (_, kind, about, _) in &replaced {
            if !kinds.iter().any(|(one, other)| one == kind && other == about) {
                kinds.push((*kind, about.clone()));
            }
        }
        let groups = kinds.into_iter().map(|(kind, about)| self.group(kind, about));
        let groups = try_join_all(groups).await?;
        let latest = try_join_all(replaced.iter().map(async |(_, kind, about, at)| {
            match groups.iter().find(|one| one.kind == *kind && one.about == *about) {
                Some(group) => self.latest_in_group(user, group, *at).await,
                None => Ok(LatestActor::NoActor),
            }
        }))
        .await?;
        for ((index, ..), latest) in replaced.into_iter().zip(latest) {
            let Some(slot) = notes.get_mut(index) else { continue };
            let (actor_id, latest_at) = match latest {
                LatestActor::Named(actor, at) => (Some(actor), Some(at)),
                LatestActor::Unknown => (None, None),
                LatestActor::NoActor => {
                    *slot = None;
                    continue;
                }
            };
            // The time of a hidden action tells of it.
            *slot = slot.take().map(|note| Notification { actor_id, latest_at, ..note });
        }
        Ok(())
    }

    async fn latest_in_group(
        &self,
        user: &UserId,
        group: &CollapsedGroup,
        at: Time,
    ) -> Result<LatestActor, ServiceError> {
        let then =
            group.people.iter().filter(|(when, _)| collapse_hour(*when) == collapse_hour(at));
        let mut then: Vec<&(Time, UserId)> = then.collect();
        then.sort_unstable_by(|one, other| other.cmp(one));
        for some in then.chunks(CHECK_BATCH) {
            let cause = |(at, actor): &&(Time, UserId)| Cause {
                user: user.clone(),
                kind: group.kind,
                actor: Some(actor.clone()),
                about: group.about.clone(),
                at: *at,
            };
            let causes: Vec<Cause> = some.iter().map(cause).collect();
            let admitted = self.may_notify(user, &causes).await?;
            let first = some.iter().zip(admitted).find(|(_, admitted)| *admitted);
            if let Some(((at, actor), _)) = first {
                return Ok(LatestActor::Named(actor.clone(), *at));
            }
        }
        Ok(if group.is_complete { LatestActor::NoActor } else { LatestActor::Unknown })
    }

    /// Reads the users who liked or shared a post, or liked a comment, up to a limit.
    async fn group(
        &self,
        kind: NotificationKind,
        about: CauseObject,
    ) -> Result<CollapsedGroup, ServiceError> {
        let (mut people, mut after) = (Vec::new(), None);
        loop {
            let (found, next) = self.reactions(kind, &about, after.take()).await?;
            people.extend(found);
            if next.is_none() || people.len() >= SCANNED_MAX {
                return Ok(CollapsedGroup { kind, about, people, is_complete: next.is_none() });
            }
            after = next;
        }
    }

    /// Reads some of the reactions of a kind.
    async fn reactions(
        &self,
        kind: NotificationKind,
        about: &CauseObject,
        after: Option<Cursor>,
    ) -> Result<(Vec<(Time, UserId)>, Option<Cursor>), ServiceError> {
        let core = self.context.core();
        Ok(match (kind, about) {
            (NotificationKind::Share, CauseObject::Post(post)) => {
                let page = core.shares(post).strong().limit(READ_BATCH).after(after).page().await?;
                let people = page.items.into_iter().map(|one| (one.created_at, one.user_id));
                (people.collect(), page.next)
            }
            (_, CauseObject::Post(post)) => {
                let page = core.likes(post).strong().limit(READ_BATCH).after(after).page().await?;
                let people = page.items.into_iter().map(|one| (one.created_at, one.user_id));
                (people.collect(), page.next)
            }
            (_, CauseObject::Comment(post, comment)) => {
                let likes = core.likes_of_comment(post, comment).limit(READ_BATCH).after(after);
                let page = likes.page().await?;
                let people = page.items.into_iter().map(|one| (one.created_at, one.user_id));
                (people.collect(), page.next)
            }
            _ => (Vec::new(), None),
        })
    }
}
