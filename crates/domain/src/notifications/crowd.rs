//! Whom a notification names that many have caused: the latest of them whom its reader may hear of.

use futures::future::try_join_all;
use hashbrown::HashMap;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Notification;
use roundtable_model::{EntityKind, NotificationKind, PostId, Time, UserId};

use super::Notifications;
use super::cause::{About, Cause, hour_of};
use crate::Failure;

/// People asked about in one go.
const AT_ONCE: usize = 50;
/// Likes or shares read in one go.
const READ: usize = 500;
/// Likes or shares of a post that are looked at to find the latest. They lie by person, not by time: of a
/// post that a million like, all would have to be read whenever one of them thinks better of it.
const LOOKED_MAX: usize = 2_000;

/// Whom a notification is to name that many have caused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Latest {
    /// This person, who did it then.
    Named(UserId, Time),
    /// Nobody: there are so many that it was not found out who was the last.
    Many,
    /// It is not to be: nobody whom its reader may hear of did it, or does any more.
    Nobody,
}

/// Those who like or have shared a post, and when they did.
#[derive(Debug)]
struct Crowd {
    kind: NotificationKind,
    post: PostId,
    people: Vec<(Time, UserId)>,
    /// Whether these are all of them.
    is_whole: bool,
}

#[boxed]
impl Notifications {
    /// Who was the last to like or share a post in the hour of `at`, of those whom its author may hear
    /// of. It reads those who ever did, two thousand at the most: for when the one who was known to be
    /// the last has taken it back, or is not to be heard of any more.
    pub async fn latest(
        &self,
        user: &UserId,
        kind: NotificationKind,
        post: &PostId,
        at: Time,
    ) -> Result<Latest, Failure> {
        let crowd = self.crowd(kind, post.clone()).await?;
        self.latest_of(user, &crowd, at).await
    }

    /// Names somebody else in those notifications whose named one is not to be heard of, given their
    /// places and the posts they are about; where there is nobody else, it is taken away.
    pub(super) async fn name_others(
        &self,
        user: &UserId,
        notes: &mut [Option<Notification>],
        hidden: &[(usize, PostId)],
    ) -> Result<(), Failure> {
        let noted = |(place, post): &(usize, PostId)| {
            let note = notes.get(*place)?.as_ref()?;
            Some((*place, note.kind, post.clone(), note.created_at))
        };
        let noted: Vec<_> = hidden.iter().filter_map(noted).collect();
        // Several hours of one post have one crowd.
        let mut kinds: Vec<(NotificationKind, PostId)> = Vec::new();
        for (_, kind, post, _) in &noted {
            if !kinds.iter().any(|(one, other)| one == kind && other == post) {
                kinds.push((*kind, post.clone()));
            }
        }
        let crowds = kinds.into_iter().map(|(kind, post)| self.crowd(kind, post));
        let crowds = try_join_all(crowds).await?;
        let latest = try_join_all(noted.iter().map(async |(_, kind, post, at)| {
            match crowds.iter().find(|one| one.kind == *kind && one.post == *post) {
                Some(crowd) => self.latest_of(user, crowd, *at).await,
                None => Ok(Latest::Nobody),
            }
        }))
        .await?;
        for ((place, ..), latest) in noted.into_iter().zip(latest) {
            let Some(slot) = notes.get_mut(place) else { continue };
            let actor_id = match latest {
                Latest::Named(actor, _) => Some(actor),
                Latest::Many => None,
                Latest::Nobody => {
                    *slot = None;
                    continue;
                }
            };
            *slot = slot.take().map(|note| Notification { actor_id, ..note });
        }
        Ok(())
    }

    /// Who was the last of a crowd in the hour of `at`.
    async fn latest_of(&self, user: &UserId, crowd: &Crowd, at: Time) -> Result<Latest, Failure> {
        let then = crowd.people.iter().filter(|(when, _)| hour_of(*when) == hour_of(at));
        let mut then: Vec<&(Time, UserId)> = then.collect();
        then.sort_unstable_by(|one, other| other.cmp(one));
        for some in then.chunks(AT_ONCE) {
            let cause = |(at, actor): &&(Time, UserId)| Cause {
                user: user.clone(),
                kind: crowd.kind,
                actor: Some(actor.clone()),
                about: About::Post(crowd.post.clone()),
                at: *at,
            };
            let causes: Vec<Cause> = some.iter().map(cause).collect();
            let admitted = self.admits(user, &causes).await?;
            let first = some.iter().zip(admitted).find(|(_, admitted)| *admitted);
            if let Some(((at, actor), _)) = first {
                return Ok(Latest::Named(actor.clone(), *at));
            }
        }
        Ok(if crowd.is_whole { Latest::Nobody } else { Latest::Many })
    }

    /// Those who like or have shared a post, as many as are looked at.
    async fn crowd(&self, kind: NotificationKind, post: PostId) -> Result<Crowd, Failure> {
        let core = self.ground.core();
        let (mut people, mut after) = (Vec::new(), None);
        loop {
            let next = if kind == NotificationKind::Share {
                let page =
                    core.shares(&post).strong().limit(READ).after(after.take()).page().await?;
                people.extend(page.items.into_iter().map(|one| (one.created_at, one.user_id)));
                page.next
            } else {
                let page =
                    core.likes(&post).strong().limit(READ).after(after.take()).page().await?;
                people.extend(page.items.into_iter().map(|one| (one.created_at, one.user_id)));
                page.next
            };
            if next.is_none() || people.len() >= LOOKED_MAX {
                return Ok(Crowd { kind, post, people, is_whole: next.is_none() });
            }
            after = next;
        }
    }

    /// How many people each of these notifications is about: those who like or have shared its post,
    /// but for its author; one for everything else.
    pub(super) async fn people(
        &self,
        user: &UserId,
        notes: &[&Notification],
    ) -> Result<Vec<u64>, Failure> {
        let core = self.ground.core();
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
            // It is there because of somebody, whom the counters may not have heard of yet.
            count.max(1)
        };
        Ok(notes.iter().map(count).collect())
    }
}

/// The post that many have done something with.
fn post_of(note: &Notification) -> Option<PostId> {
    let many = matches!(note.kind, NotificationKind::Like | NotificationKind::Share);
    let object = note.object.as_ref().filter(|object| many && object.entity == EntityKind::Post)?;
    Some(object.id.recast())
}
