//! Questions that several patterns answer together.

mod assists;
mod merged;
mod timeline;

pub use assists::{AssistEntry, Assists};
pub use merged::{Merged, MergedPage};
pub use timeline::{EntityTimeline, TimelineEntry, TimelinePage};

use futures::future::try_join;
use roundtable_table::Order;

use crate::entities::{Comment, Post, PostCounter, PostSummary, User};
use crate::{Core, EntityKind, Handle, Page, PostId, Result, UserId};

/// What a post looks like in a list, with what people did with it.
#[derive(Clone, Debug, PartialEq)]
pub struct PostStats {
    /// The post.
    pub post: PostSummary,
    /// What people did with it; absent while nobody has.
    pub counter: Option<PostCounter>,
}

impl Core {
    /// Who has this handle: the lock says who, beyond doubt.
    pub async fn user_by_handle(&self, handle: &Handle) -> Result<Option<User>> {
        match self.handle_lock(handle).get().await? {
            Some(lock) => self.profile(&lock.user_id).strong().get().await,
            None => Ok(None),
        }
    }

    /// A post beside the first page of its comments, in either order.
    pub async fn post_with_comments(
        &self,
        id: &PostId,
        order: Order,
        limit: usize,
    ) -> Result<Option<(Post, Page<Comment>)>> {
        let comments = self.comments(id).strong().order(order).limit(limit);
        let (post, comments) = try_join(self.post(id).get(), comments.page()).await?;
        Ok(post.map(|post| (post, comments)))
    }

    /// What posts look like in a list, in the order asked for.
    pub async fn post_stats(&self, ids: &[PostId]) -> Result<Vec<Option<PostStats>>> {
        let (posts, counters) =
            try_join(self.post_summaries(ids).get(), self.post_counters(ids).get()).await?;
        let each = posts.into_iter().zip(counters);
        Ok(each.map(|(post, counter)| Some(PostStats { post: post?, counter })).collect())
    }

    /// What a person did and made, of these kinds, newest first.
    pub fn entity_timeline(&self, user: &UserId, kinds: &[EntityKind]) -> EntityTimeline<'_> {
        timeline::of(self, user, kinds)
    }

    /// The calls for help that a person has a part in, newest first.
    pub fn assists(&self, user: &UserId) -> Assists<'_> {
        assists::of(self, user)
    }
}
