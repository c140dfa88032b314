//! Posts by id, by author, in numbers, and as the viewer stands to them.

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Post, PostCounter, PostSummary};
use roundtable_model::table::Order;
use roundtable_model::{FeedName, PostId, Shard, UserId};

use super::{PostError, Posts, current, posts, seen, visible};
use crate::pages::fill;
use crate::{Caller, Page, PageInput};

/// What a viewer has done with a post.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostMarks {
    /// They like it.
    pub liked: bool,
    /// They passed it on.
    pub shared: bool,
}

/// What a post looks like in a list, with what people did with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// The post.
    pub post: PostSummary,
    /// What people did with it.
    pub counter: PostCounter,
}

#[boxed]
impl Posts {
    /// A post (R27).
    pub async fn post(&self, viewer: Option<&Caller>, id: &PostId) -> Result<Post, PostError> {
        visible(&self.ground, viewer, id).await?.ok_or(PostError::NoSuchPost)
    }

    /// Several posts, each in its place; `None` where there is none for the viewer.
    pub async fn posts(
        &self,
        viewer: Option<&Caller>,
        ids: &[PostId],
    ) -> Result<Vec<Option<Post>>, PostError> {
        Ok(seen(&self.ground, viewer, posts(&self.ground, ids).await?).await?)
    }

    /// What somebody has posted, for those who may see the profile (R27).
    pub async fn by(
        &self,
        viewer: Option<&Caller>,
        author: &UserId,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Post>, PostError> {
        let sight = self.ground.sight(viewer, [author], []).await?;
        if !sight.sees_inside(author) {
            return Err(PostError::NoSuchUser);
        }
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().posts_by(author).order(order);
                listing.limit(limit).after(after).page().await
            },
            async |found| {
                Ok(seen(&self.ground, viewer, current(&self.ground, found).await?).await?)
            },
        )
        .await
    }

    /// What posts look like in a list, with what people did with them, by a projection (R27).
    pub async fn stats(
        &self,
        viewer: Option<&Caller>,
        ids: &[PostId],
    ) -> Result<Vec<Option<Stats>>, PostError> {
        let core = self.ground.core();
        // Who may see them is decided by what they say now; how many like them may be a moment old.
        let (posts, counters) =
            try_join(core.post_summaries(ids).strong().get(), core.post_counters(ids).get())
                .await?;
        let outlines = posts.iter().map(|post| post.as_ref().map(outline)).collect();
        let seen = seen(&self.ground, viewer, outlines).await?;
        let each = posts.into_iter().zip(counters).zip(seen).map(|((post, counter), seen)| {
            let post = post.filter(|_| seen.is_some())?;
            let counter = counter.unwrap_or_else(|| nothing(post.id.clone()));
            Some(Stats { post, counter })
        });
        Ok(each.collect())
    }

    /// What people did with posts that the viewer has been shown, in numbers.
    pub async fn counters(&self, ids: &[PostId]) -> Result<Vec<PostCounter>, PostError> {
        let counters = self.ground.core().post_counters(ids).get().await?;
        let each = counters.into_iter().zip(ids);
        Ok(each.map(|(counter, id)| counter.unwrap_or_else(|| nothing(id.clone()))).collect())
    }

    /// What the caller has done with posts that they have been shown.
    pub async fn marks(
        &self,
        caller: &Caller,
        ids: &[PostId],
    ) -> Result<Vec<PostMarks>, PostError> {
        let (core, me) = (self.ground.core(), &caller.user_id);
        let (liked, shared) =
            try_join(core.liked(ids, me).get(), core.shared(ids, me).get()).await?;
        let each = liked.into_iter().zip(shared);
        let marks = |(like, share): (Option<_>, Option<_>)| PostMarks {
            liked: like.is_some(),
            shared: share.is_some(),
        };
        Ok(each.map(marks).collect())
    }
}

/// A post nobody has done anything with.
fn nothing(post_id: PostId) -> PostCounter {
    PostCounter { post_id, likes: 0, comments: 0, shares: 0, score: 0, seq: String::new() }
}

/// As much of a post as decides who may see it.
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
