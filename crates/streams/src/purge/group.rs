//! What a deleted group leaves behind: its members, what was posted into it, and its room.

use roundtable_model::entities::{Activity, Room};
use roundtable_model::{ActorId, Entity, GroupId, ObjectType, RoomId, Span};

use super::Purge;
use super::sweep::{remove, sweep};
use crate::Failure;
use crate::jobs::Next;

/// Posts of one page.
const POSTS_AT_ONCE: usize = 10;

impl Purge {
    /// A page of a deleted group. What is left tells by itself where to go on.
    pub(super) async fn group_page(&self, id: &GroupId, room: &RoomId) -> Result<Next, Failure> {
        if self.ground.core().group(id).get().await?.is_some() {
            return Ok(Next::Done);
        }
        self.groups.disband(id).await?;
        let more = self.remove_group_posts(id).await?
            || self.remove_activities(&id.into()).await?
            || sweep(&self.ground, Room::at(room), &[]).await?;
        Ok(if more { Next::Page(String::new()) } else { Next::Done })
    }

    /// Takes posts into the group away, as far as activities tell of them, each with its activity; whether
    /// there were any. One that still waited for approval stays with its author, who alone sees it.
    async fn remove_group_posts(&self, id: &GroupId) -> Result<bool, Failure> {
        let home = [ActorId::from(id)];
        let activities = self.ground.core().activities(&home, Span::ALL).limit(POSTS_AT_ONCE);
        let activities = activities.page().await?.items;
        for activity in &activities {
            if self.remove_post_of(activity, id).await? {
                remove(&self.ground, vec![activity.key().into()]).await?;
            }
        }
        Ok(!activities.is_empty())
    }

    /// Takes away a page of the post that an activity tells of; whether nothing is left of it.
    async fn remove_post_of(&self, activity: &Activity, id: &GroupId) -> Result<bool, Failure> {
        if activity.object_type != ObjectType::Post {
            return Ok(true);
        }
        let post = activity.object_id.recast();
        let found = self.ground.core().post(&post).get().await?;
        if found.is_none_or(|post| post.group_id.as_ref() != Some(id)) {
            return Ok(true);
        }
        match self.bury(&post).await? {
            Some(buried) => Ok(!self.purge_post(&post, Some(&buried)).await?),
            None => Ok(true),
        }
    }
}
