//! Purges a deleted group: its members, the posts in it, and its room.

use roundtable_model::entities::Activity;
use roundtable_model::{ActorId, GroupId, ObjectType, RoomId};

use super::Purge;
use super::post::activity_keys;
use super::sweep::{remove, remove_belongings};
use crate::Result;
use crate::jobs::PageOutcome;

const POSTS_AT_ONCE: usize = 10;

impl Purge {
    /// Purges a page of a deleted group. The remaining items tell where to continue.
    pub(super) async fn group_page(&self, id: &GroupId, room: &RoomId) -> Result<PageOutcome> {
        if self.context.core().group(id).get().await?.is_some() {
            return Ok(PageOutcome::Done);
        }
        self.groups.disband(id).await?;
        let more = self.remove_group_posts(id).await?
            || remove_belongings(&self.context, &ActorId::from(id), &[]).await?
            || remove_belongings(&self.context, id, &[]).await?
            || self.remove_room(room, &[]).await?;
        Ok(if more { PageOutcome::Continue(String::new()) } else { PageOutcome::Done })
    }

    /// Removes posts in the group that activities announce, each with its activity. Returns whether
    /// there were any. A post that still waits for approval stays with its author, who alone sees
    /// it.
    async fn remove_group_posts(&self, id: &GroupId) -> Result<bool> {
        let timeline = self.context.core().activity_timeline(&ActorId::from(id));
        let activities = timeline.limit(POSTS_AT_ONCE).page().await?.entries;
        for (activity, _) in &activities {
            if self.remove_post_of(activity, id).await? {
                let Activity { created_at, activity_id, .. } = activity;
                remove(&self.context, activity_keys(&id.into(), created_at, activity_id).into())
                    .await?;
            }
        }
        Ok(!activities.is_empty())
    }

    /// Removes a page of the post that an activity announces. Returns whether nothing is left of
    /// it.
    async fn remove_post_of(&self, activity: &Activity, id: &GroupId) -> Result<bool> {
        if activity.object_type != ObjectType::Post {
            return Ok(true);
        }
        let post = activity.object_id.recast();
        let found = self.context.core().post(&post).get().await?;
        if found.is_none_or(|post| post.group_id.as_ref() != Some(id)) {
            return Ok(true);
        }
        match self.make_tombstone(&post).await? {
            Some(tombstone) => Ok(!self.purge_post_page(&post, Some(&tombstone)).await?),
            None => Ok(true),
        }
    }
}
