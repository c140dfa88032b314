//! Whom a notification names that many have caused: the latest of them whom its reader may hear of.

use hashbrown::HashMap;
use roundtable_model::entities::Notification;
use roundtable_model::{EntityKind, NotificationKind, PostId, Time, UserId};

use super::Notifications;
use super::cause::{About, CROWD_MS, Cause, hour_of};
use crate::Failure;

/// People asked about in one go.
const AT_ONCE: usize = 50;
/// Likes or shares read in one go.
const READ: usize = 500;

impl Notifications {
    /// Who was the last to like or share a post in the hour of `at`, of those whom its author may hear
    /// of, and when. It reads everybody who ever did: for when the one who was known to be the last
    /// has taken it back, or is not to be heard of any more.
    pub async fn latest(
        &self,
        user: &UserId,
        kind: NotificationKind,
        post: &PostId,
        at: Time,
    ) -> Result<Option<(UserId, Time)>, Failure> {
        let mut crowd = self.crowd(kind, post, hour_of(at)).await?;
        crowd.sort_unstable_by(|one, other| other.cmp(one));
        for some in crowd.chunks(AT_ONCE) {
            let cause = |(at, actor): &(Time, UserId)| Cause {
                user: user.clone(),
                kind,
                actor: Some(actor.clone()),
                about: About::Post(post.clone()),
                at: *at,
            };
            let causes: Vec<Cause> = some.iter().map(cause).collect();
            let admitted = self.admits(user, &causes).await?;
            let first = some.iter().zip(admitted).find(|(_, admitted)| *admitted);
            if let Some(((at, actor), _)) = first {
                return Ok(Some((actor.clone(), *at)));
            }
        }
        Ok(None)
    }

    /// Everybody who liked or shared a post in an hour, and when.
    async fn crowd(
        &self,
        kind: NotificationKind,
        post: &PostId,
        hour: Time,
    ) -> Result<Vec<(Time, UserId)>, Failure> {
        let core = self.ground.core();
        let (mut crowd, mut after) = (Vec::new(), None);
        loop {
            let next = if kind == NotificationKind::Share {
                let page =
                    core.shares(post).strong().limit(READ).after(after.take()).page().await?;
                crowd.extend(page.items.into_iter().map(|one| (one.created_at, one.user_id)));
                page.next
            } else {
                let page = core.likes(post).strong().limit(READ).after(after.take()).page().await?;
                crowd.extend(page.items.into_iter().map(|one| (one.created_at, one.user_id)));
                page.next
            };
            crowd.retain(|(at, _)| (hour.ms()..hour.ms() + CROWD_MS).contains(&at.ms()));
            if next.is_none() {
                return Ok(crowd);
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
