//! Collapsed notifications: finds the latest actor the reader may hear of.

use futures::future::try_join_all;
use hashbrown::HashMap;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Notification;
use roundtable_model::{EntityKind, NotificationKind, PostId, Time, UserId};

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

/// The users who liked or shared a post.
#[derive(Debug)]
struct CollapsedGroup {
    kind: NotificationKind,
    post: PostId,
    people: Vec<(Time, UserId)>,
    /// False if there are more than were read.
    is_complete: bool,
}

#[boxed]
impl Notifications {
    /// Finds the latest user who liked or shared a post in the hour of `at`, of those its author
    /// may hear of. It reads up to two thousand likes or shares: for when the actor known as the latest
    /// has undone it or is hidden.
    pub async fn latest_actor(
        &self,
        user: &UserId,
        kind: NotificationKind,
        post: &PostId,
        at: Time,
    ) -> Result<LatestActor, ServiceError> {
        let group = self.group(kind, post.clone()).await?;
        self.latest_in_group(user, &group, at).await
    }

    /// Replaces hidden actors by others in the notifications at these indexes, given the posts they
    /// are about; removes a notification without another actor.
    pub(super) async fn name_other_actors(
        &self,
        user: &UserId,
        notes: &mut [Option<Notification>],
        hidden: &[(usize, PostId)],
    ) -> Result<(), ServiceError> {
        let replaced = |(index, post): &(usize, PostId)| {
            let note = notes.get(*index)?.as_ref()?;
            Some((*index, note.kind, post.clone(), note.created_at))
        };
        let replaced: Vec<_> = hidden.iter().filter_map(replaced).collect();
        // Several hours of one post share a group.
        let mut kinds: Vec<(NotificationKind, PostId)> = Vec::new();
        for (_, kind, post, _) in &replaced {
            if !kinds.iter().any(|(one, other)| one == kind && other == post) {
                kinds.push((*kind, post.clone()));
            }
        }
        let groups = kinds.into_iter().map(|(kind, post)| self.group(kind, post));
        let groups = try_join_all(groups).await?;
        let latest = try_join_all(replaced.iter().map(async |(_, kind, post, at)| {
            match groups.iter().find(|one| one.kind == *kind && one.post == *post) {
                Some(group) => self.latest_in_group(user, group, *at).await,
                None => Ok(LatestActor::NoActor),
            }
        }))
        .await?;
        for ((index, ..), latest) in replaced.into_iter().zip(latest) {
            let Some(slot) = notes.get_mut(index) else { continue };
            let actor_id = match latest {
                LatestActor::Named(actor, _) => Some(actor),
                LatestActor::Unknown => None,
                LatestActor::NoActor => {
                    *slot = None;
                    continue;
                }
            };
            *slot = slot.take().map(|note| Notification { actor_id, ..note });
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
                about: CauseObject::Post(group.post.clone()),
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

    /// Reads the users who liked or shared a post, up to a limit.
    async fn group(
        &self,
        kind: NotificationKind,
        post: PostId,
    ) -> Result<CollapsedGroup, ServiceError> {
        let core = self.context.core();
        let (mut people, mut after) = (Vec::new(), None);
        loop {
            let next = if kind == NotificationKind::Share {
                let page = core
                    .shares(&post)
                    .strong()
                    .limit(READ_BATCH)
                    .after(after.take())
                    .page()
                    .await?;
                people.extend(page.items.into_iter().map(|one| (one.created_at, one.user_id)));
                page.next
            } else {
                let page =
                    core.likes(&post).strong().limit(READ_BATCH).after(after.take()).page().await?;
                people.extend(page.items.into_iter().map(|one| (one.created_at, one.user_id)));
                page.next
            };
            if next.is_none() || people.len() >= SCANNED_MAX {
                return Ok(CollapsedGroup { kind, post, people, is_complete: next.is_none() });
            }
            after = next;
        }
    }

    /// Counts the actors of each notification: all who liked or shared the post except its author;
    /// one for other kinds.
    pub(super) async fn people(
        &self,
        user: &UserId,
        notes: &[&Notification],
    ) -> Result<Vec<u64>, ServiceError> {
        let core = self.context.core();
        let mut posts: Vec<PostId> = notes.iter().filter_map(|note| post_of(note)).collect();
        posts.sort_unstable();
        posts.dedup();
        if posts.is_empty() {
            return Ok(vec![1; notes.len()]);
        }
        let (counters, likes, shares) = futures::future::try_join3(
            core.post_counters(&posts).strong().get(),
            core.liked(&posts, user).get(),
            core.shared(&posts, user).get(),
        )
        .await?;
        let own =
            likes.into_iter().zip(shares).map(|(like, share)| (like.is_some(), share.is_some()));
        let counts = counters.into_iter().zip(own).map(|(counter, (like, share))| {
            let (likes, shares) = counter.map_or((0, 0), |counter| (counter.likes, counter.shares));
            (likes.saturating_sub(u64::from(like)), shares.saturating_sub(u64::from(share)))
        });
        let counts: HashMap<&PostId, (u64, u64)> = posts.iter().zip(counts).collect();
        let count = |note: &&Notification| {
            let counts = post_of(note).and_then(|post| counts.get(&post).copied());
            let count = counts.map_or(1, |(likes, shares)| match note.kind {
                NotificationKind::Share => shares,
                _ => likes,
            });
            // The notification has at least one actor; the counters may lag.
            count.max(1)
        };
        Ok(notes.iter().map(count).collect())
    }
}

/// The post of a notification about likes or shares.
fn post_of(note: &Notification) -> Option<PostId> {
    let many = matches!(note.kind, NotificationKind::Like | NotificationKind::Share);
    let object = note.object.as_ref().filter(|object| many && object.entity == EntityKind::Post)?;
    Some(object.id.recast())
}
