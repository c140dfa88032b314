//! Reads of posts by id and author, their counters, and the viewer's reactions.

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Post, PostCounter, PostSummary};
use roundtable_model::table::Order;
use roundtable_model::{FeedName, PostId, Shard, UserId};

use super::{PostError, Posts, filter_visible, posts, reread, visible};
use crate::pages::fill_page;
use crate::{Caller, Page, PageInput, ServiceError};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostViewerState {
    pub liked: bool,
    pub shared: bool,
}

/// A post summary with its counters.
#[derive(Clone, Debug, PartialEq)]
pub struct PostSummaryStats {
    pub post: PostSummary,
    pub counter: PostCounter,
}

#[boxed]
impl Posts {
    /// Returns a post (R27).
    pub async fn post(&self, viewer: Option<&Caller>, id: &PostId) -> Result<Post, PostError> {
        visible(&self.context, viewer, id).await?.ok_or(PostError::NoSuchPost)
    }

    /// Returns posts in the order of `ids`; `None` where the viewer may not see one.
    pub async fn posts(
        &self,
        viewer: Option<&Caller>,
        ids: &[PostId],
    ) -> Result<Vec<Option<Post>>, PostError> {
        Ok(filter_visible(&self.context, viewer, posts(&self.context, ids).await?).await?)
    }

    /// Returns a user's posts, if the viewer may see the profile (R27).
    pub async fn by(
        &self,
        viewer: Option<&Caller>,
        author: &UserId,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Post>, PostError> {
        let access = self.context.viewer_access(viewer, [author], []).await?;
        if !access.can_see_inside_user(author) {
            return Err(PostError::NoSuchUser);
        }
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().posts_by(author).order(order);
                listing.limit(limit).after(after).page().await
            },
            async |found| {
                Ok(filter_visible(&self.context, viewer, reread(&self.context, found).await?)
                    .await?)
            },
        )
        .await
    }

    /// Returns summaries and counters of posts, read by a projection (R27).
    pub async fn stats(
        &self,
        viewer: Option<&Caller>,
        ids: &[PostId],
    ) -> Result<Vec<Option<PostSummaryStats>>, PostError> {
        let core = self.context.core();
        // Visibility is decided by a strong read; counters may be slightly stale.
        let (posts, counters) =
            try_join(core.post_summaries(ids).strong().get(), core.post_counters(ids).get())
                .await?;
        let outlines = posts.iter().map(|post| post.as_ref().map(outline)).collect();
        let visible = filter_visible(&self.context, viewer, outlines).await?;
        let each =
            posts.into_iter().zip(counters).zip(visible).map(|((post, counter), visible)| {
                let post = post.filter(|_| visible.is_some())?;
                let counter = counter.unwrap_or_else(|| PostCounter::zero(post.id.clone()));
                Some(PostSummaryStats { post, counter })
            });
        Ok(each.collect())
    }

    /// Returns the counters of posts already shown to the viewer.
    pub async fn counters(&self, ids: &[PostId]) -> Result<Vec<PostCounter>, PostError> {
        Ok(self.stored_counters(ids).await?)
    }

    /// As [`Posts::counters`], for other services.
    pub(crate) async fn stored_counters(
        &self,
        ids: &[PostId],
    ) -> Result<Vec<PostCounter>, ServiceError> {
        if let Some(memory) = self.context.exact_memory().await {
            let counters = memory.post_counters(&self.context, ids).await?;
            let counter = |id: &PostId| counters.get(id).map(|counter| PostCounter::clone(counter));
            let counter =
                |id: &PostId| counter(id).unwrap_or_else(|| PostCounter::zero(id.clone()));
            return Ok(ids.iter().map(counter).collect());
        }
        let counters = self.context.core().post_counters(ids).get().await?;
        let each = counters.into_iter().zip(ids);
        Ok(each
            .map(|(counter, id)| counter.unwrap_or_else(|| PostCounter::zero(id.clone())))
            .collect())
    }

    /// Returns the caller's reactions to posts already shown to them.
    pub async fn viewer_states(
        &self,
        caller: &Caller,
        ids: &[PostId],
    ) -> Result<Vec<PostViewerState>, PostError> {
        let (core, me) = (self.context.core(), &caller.user_id);
        let (liked, shared) =
            try_join(core.liked(ids, me).get(), core.shared(ids, me).get()).await?;
        let each = liked.into_iter().zip(shared);
        let viewer_states = |(like, share): (Option<_>, Option<_>)| PostViewerState {
            liked: like.is_some(),
            shared: share.is_some(),
        };
        Ok(each.map(viewer_states).collect())
    }
}

/// The fields of a post that decide its visibility.
fn outline(summary: &PostSummary) -> Post {
    Post {
        id: summary.id.clone(),
        author_id: summary.author_id.clone(),
        author_nickname: summary.author_nickname.clone(),
        group_id: summary.group_id.clone(),
        content: String::new(),
        content_type: summary.content_type,
        media: Vec::new(),
        visibility: summary.visibility,
        moderation_status: summary.moderation_status,
        is_deleted: summary.is_deleted,
        hashtags: Vec::new(),
        mentions: Vec::new(),
        feed_id: FeedName::GLOBAL,
        activity_pub_id: None,
        audience: Vec::new(),
        author_is_private: false,
        published_at: None,
        score: None,
        shard: Shard::ZERO,
        version: 0,
        created_at: summary.created_at,
        updated_at: summary.created_at,
    }
}
