//! Reads composed of several access patterns.

mod activities;
mod assists;
mod merged;
mod timeline;

pub use activities::{ActivityTimeline, ActivityTimelinePage};
pub use assists::{AssistEntry, Assists};
pub use merged::{MergedListing, MergedPage};
pub use timeline::{EntityTimeline, TimelineEntry, TimelinePage};

use futures::future::try_join;
use roundtable_table::{Key, Order};

use crate::entities::{Activity, Comment, Post, PostCounter, PostSummary, User};
use crate::{ActorId, Core, EntityKind, EntityPage, Handle, PostId, Result, Time, UserId};

/// A post in a list, with its counter.
#[derive(Clone, Debug, PartialEq)]
pub struct PostStats {
    pub post: PostSummary,
    /// Absent until the first reaction.
    pub counter: Option<PostCounter>,
}

impl Core {
    /// Returns the user with this handle, as its lock determines.
    pub async fn user_by_handle(&self, handle: &Handle) -> Result<Option<User>> {
        match self.handle_lock(handle).get().await? {
            Some(lock) => self.profile(&lock.user_id).strong().get().await,
            None => Ok(None),
        }
    }

    /// Returns a post with the first page of its comments, in either order.
    pub async fn post_with_comments(
        &self,
        id: &PostId,
        order: Order,
        limit: usize,
    ) -> Result<Option<(Post, EntityPage<Comment>)>> {
        let comments = self.comments(id).strong().order(order).limit(limit);
        let (post, comments) = try_join(self.post(id).get(), comments.page()).await?;
        Ok(post.map(|post| (post, comments)))
    }

    /// Returns the summaries and counters of posts, in the order of `ids`.
    pub async fn post_stats(&self, ids: &[PostId]) -> Result<Vec<Option<PostStats>>> {
        let (posts, counters) =
            try_join(self.post_summaries(ids).get(), self.post_counters(ids).get()).await?;
        let each = posts.into_iter().zip(counters);
        Ok(each.map(|(post, counter)| Some(PostStats { post: post?, counter })).collect())
    }

    /// Lists a user's entities of these kinds, newest first.
    pub fn entity_timeline(&self, user: &UserId, kinds: &[EntityKind]) -> EntityTimeline<'_> {
        timeline::of(self, user, kinds)
    }

    /// Lists the activities of a user or in a group, newest first.
    pub fn activity_timeline(&self, home: &ActorId) -> ActivityTimeline<'_> {
        activities::of(self, home)
    }

    /// Returns the activities of a user or in a group at one moment, with their keys.
    pub async fn activities_at(&self, home: &ActorId, at: Time) -> Result<Vec<(Activity, Key)>> {
        activities::at(self, home, at).await
    }

    /// Lists the requests for help of a user, as author or helper, newest first.
    pub fn assists(&self, user: &UserId) -> Assists<'_> {
        assists::of(self, user)
    }
}
