//! Home feeds by reading everything, until the service is there.

use std::collections::HashSet;

use anyhow::Result;
use roundtable_domain::{Caller, Ground, Page, PageInput};
use roundtable_model::entities::{Activity, Share};
use roundtable_model::{ActivityVerb, ActorId, FollowStatus, PostId, Span, UserId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FeedSource {
    FanIn,
    FanOut,
}

#[derive(Clone, Debug)]
pub(super) struct FeedEntry {
    pub(super) activity: Activity,
    pub(super) source: FeedSource,
}

pub(super) struct Feeds {
    ground: Ground,
}

impl Feeds {
    pub(super) fn new(ground: Ground) -> Self {
        Self { ground }
    }

    pub(super) async fn home(&self, caller: &Caller, page: &PageInput) -> Result<Page<FeedEntry>> {
        let core = self.ground.core();
        let edges = core.following(&caller.user_id).all().await?;
        let muted: HashSet<UserId> =
            edges.iter().filter(|e| e.muted).map(|e| e.followee_id.clone()).collect();
        let active = edges.iter().filter(|e| e.status == FollowStatus::Active && !e.muted);
        let mut homes: Vec<ActorId> = active.map(|e| (&e.followee_id).into()).collect();
        homes.push((&caller.user_id).into());
        let wanted = page.limit.unwrap_or(50);
        let (mut items, mut after) = (Vec::new(), page.after.clone());
        loop {
            let listing = core.activities(&homes, Span::ALL);
            let found = listing.limit(100).after(after.take()).page().await?;
            let cursors: Vec<_> = found.items.iter().map(|item| found.cursor(item)).collect();
            let ids: Vec<PostId> = found.items.iter().map(|a| a.object_id.recast()).collect();
            let posts = core.posts(&ids).strong().get().await?;
            let people: Vec<UserId> = found
                .items
                .iter()
                .map(|a| a.actor_id.clone())
                .chain(posts.iter().flatten().map(|p| p.author_id.clone()))
                .collect();
            let sight = self.ground.sight(Some(caller), &people, []).await?;
            for ((activity, post), cursor) in found.items.iter().zip(posts).zip(cursors) {
                let Some(post) = post else { continue };
                if !sight.sees_inside(&activity.actor_id) || !sight.post(&post) {
                    continue;
                }
                if muted.contains(&post.author_id) {
                    continue;
                }
                if activity.verb == ActivityVerb::Share {
                    let shares = core.shared(&[post.id.clone()], &activity.actor_id).get().await?;
                    let named = |share: &Share| share.activity_id == activity.activity_id;
                    if !shares.iter().flatten().any(named) {
                        continue;
                    }
                }
                let source = FeedSource::FanIn;
                items.push((FeedEntry { activity: activity.clone(), source }, cursor));
            }
            after = found.next.clone();
            if items.len() > wanted || after.is_none() {
                break;
            }
        }
        let more = items.len() > wanted;
        items.truncate(wanted);
        let next = items.last().filter(|_| more).map(|(_, cursor)| cursor.clone());
        Ok(Page { items, next })
    }
}
