//! Reads of comments: by id, post, parent and author, with counters and the viewer's likes.

use std::collections::HashSet;

use futures::TryFutureExt;
use futures::future::{try_join, try_join_all};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Comment, CommentCounter, CommentLike, Post, User};
use roundtable_model::table::Order;
use roundtable_model::{CommentId, PostId, UserId};

use super::{CommentError, Comments, comments, find};
use crate::pages::fill_page;
use crate::posts::{self, posts, visible};
use crate::{Caller, Page, PageInput, ServiceError, ViewerAccess};

/// A comment's counters, and whether the viewer likes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentEngagement {
    pub counter: CommentCounter,
    pub liked: bool,
}

#[boxed]
impl Comments {
    /// Returns a comment (R27).
    pub async fn comment(
        &self,
        viewer: Option<&Caller>,
        id: &CommentId,
    ) -> Result<Comment, CommentError> {
        Ok(self.visible(viewer, id).await?.0)
    }

    /// Returns the comments on a post, replies included (R27).
    pub async fn on(
        &self,
        viewer: Option<&Caller>,
        post: &PostId,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Comment>, CommentError> {
        let post = visible(&self.context, viewer, post).await?.ok_or(CommentError::NoSuchPost)?;
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().comments(&post.id).strong().order(order);
                listing.limit(limit).after(after).page().await
            },
            async |comments| self.filter_visible(viewer, comments).await,
        )
        .await
    }

    /// Returns the replies to a comment, oldest first.
    pub async fn replies(
        &self,
        viewer: Option<&Caller>,
        parent: &CommentId,
        page: &PageInput,
    ) -> Result<Page<Comment>, CommentError> {
        let (parent, _) = self.visible(viewer, parent).await?;
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().replies(&parent.post_id, &parent.id).strong();
                listing.limit(limit).after(after).page().await
            },
            async |comments| self.filter_visible(viewer, comments).await,
        )
        .await
    }

    /// Returns a user's comments, newest first, as far as the viewer may see the profile and the
    /// posts (R27).
    pub async fn by(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        page: &PageInput,
    ) -> Result<Page<Comment>, CommentError> {
        let access = self.context.viewer_access(viewer, [user], []).await?;
        if !access.can_see_inside_user(user) {
            return Err(CommentError::NoSuchUser);
        }
        fill_page(
            page,
            async |limit, after| {
                self.context.core().comments_by(user).limit(limit).after(after).page().await
            },
            async |found: Vec<Comment>| {
                let on: Vec<PostId> = found.iter().map(|it| it.post_id.clone()).collect();
                let (found, on) = try_join(self.reread(found), posts(&self.context, &on)).await?;
                let on = posts::filter_visible(&self.context, viewer, on).await?;
                let authors = found.iter().flatten().map(|comment| &comment.user_id);
                let access = self.context.viewer_access(viewer, authors, []).await?;
                let visible = found.into_iter().zip(on).map(|(comment, post)| {
                    comment.filter(|comment| post.is_some() && access.can_see_comment(comment))
                });
                Ok(visible.collect())
            },
        )
        .await
    }

    /// Returns comments by post and id, in the order given; `None` where the viewer may not see
    /// one.
    pub async fn comments(
        &self,
        viewer: Option<&Caller>,
        item_keys: &[(PostId, CommentId)],
    ) -> Result<Vec<Option<Comment>>, CommentError> {
        Ok(self.visible_at(viewer, item_keys).await?)
    }

    /// As [`Comments::comments`], for other services.
    pub(crate) async fn visible_at(
        &self,
        viewer: Option<&Caller>,
        item_keys: &[(PostId, CommentId)],
    ) -> Result<Vec<Option<Comment>>, ServiceError> {
        let item_keys = item_keys.iter().map(|(post, id)| (post, id));
        let found = comments(&self.context, item_keys).await?;
        self.filter_visible_with_posts(viewer, found).await
    }

    /// Returns comments by id alone. Only an index finds them, and indexes have no batch reads, so
    /// all are read concurrently.
    pub async fn by_ids(
        &self,
        viewer: Option<&Caller>,
        ids: &[CommentId],
    ) -> Result<Vec<Option<Comment>>, CommentError> {
        let found = try_join_all(ids.iter().map(|id| find(&self.context, id))).await?;
        Ok(self.filter_visible_with_posts(viewer, found).await?)
    }

    /// Keeps the comments that the viewer may see together with their posts.
    async fn filter_visible_with_posts(
        &self,
        viewer: Option<&Caller>,
        found: Vec<Option<Comment>>,
    ) -> Result<Vec<Option<Comment>>, ServiceError> {
        let on: HashSet<PostId> = found.iter().flatten().map(|it| it.post_id.clone()).collect();
        let on: Vec<PostId> = on.into_iter().collect();
        let on =
            posts::filter_visible(&self.context, viewer, posts(&self.context, &on).await?).await?;
        let on: HashSet<PostId> = on.into_iter().flatten().map(|post| post.id).collect();
        let authors = found.iter().flatten().map(|comment| &comment.user_id);
        let access = self.context.viewer_access(viewer, authors, []).await?;
        let is_visible = |it: &Comment| on.contains(&it.post_id) && access.can_see_comment(it);
        Ok(found.into_iter().map(|comment| comment.filter(is_visible)).collect())
    }

    /// Returns the counters of comments already shown to the viewer, in the order given.
    pub async fn counters(
        &self,
        comments: &[(PostId, CommentId)],
    ) -> Result<Vec<CommentCounter>, CommentError> {
        let keys = comments.iter().map(|(post, id)| CommentCounter::at(post, id));
        let found = self.context.items_at_eventual("comment_counters", keys).await?;
        let each = found.into_iter().zip(comments);
        let each = each.map(|(counter, (post, id))| {
            counter.unwrap_or_else(|| CommentCounter::zero(post.clone(), id.clone()))
        });
        Ok(each.collect())
    }

    /// Returns counters and the viewer's likes of comments already shown to the viewer.
    pub async fn engagement(
        &self,
        viewer: Option<&Caller>,
        comments: &[(PostId, CommentId)],
    ) -> Result<Vec<CommentEngagement>, CommentError> {
        let likes = viewer.into_iter().flat_map(|viewer| {
            comments.iter().map(|(post, id)| CommentLike::at(post, id, &viewer.user_id))
        });
        let likes = self.context.items_at("comment_likes", likes).map_err(CommentError::from);
        let (counters, likes) = try_join(self.counters(comments), likes).await?;
        let liked: HashSet<CommentId> =
            likes.into_iter().flatten().map(|like| like.comment_id).collect();
        let engagement = comments
            .iter()
            .zip(counters)
            .map(|((_, id), counter)| CommentEngagement { counter, liked: liked.contains(id) });
        Ok(engagement.collect())
    }

    /// Re-reads comments found through an index that may be stale.
    async fn reread(&self, found: Vec<Comment>) -> Result<Vec<Option<Comment>>, ServiceError> {
        if self.context.store().capabilities().strong_index_reads {
            return Ok(found.into_iter().map(Some).collect());
        }
        let item_keys = found.iter().map(|comment| (&comment.post_id, &comment.id));
        Ok(comments(&self.context, item_keys).await?)
    }

    /// Returns a comment the caller may see, with its post and the access that allows it.
    pub(super) async fn visible_with_access(
        &self,
        caller: &Caller,
        me: &User,
        id: &CommentId,
    ) -> Result<(Comment, Post, ViewerAccess), CommentError> {
        let comment = find(&self.context, id).await?.ok_or(CommentError::NoSuchComment)?;
        let post = self.context.core().post(&comment.post_id).get().await?;
        let post = post.ok_or(CommentError::NoSuchComment)?;
        let people = [&comment.user_id, &post.author_id];
        let access = self.context.viewer_access_of(caller, me, people, &post.group_id).await?;
        if access.can_see_post(&post) && access.can_see_comment(&comment) {
            return Ok((comment, post, access.into_access()));
        }
        Err(CommentError::NoSuchComment)
    }

    pub(super) async fn visible(
        &self,
        viewer: Option<&Caller>,
        id: &CommentId,
    ) -> Result<(Comment, Post), CommentError> {
        let comment = find(&self.context, id).await?.ok_or(CommentError::NoSuchComment)?;
        self.with_post(viewer, comment).await
    }

    /// Returns the comment with its post, if the viewer may see both.
    pub(super) async fn with_post(
        &self,
        viewer: Option<&Caller>,
        comment: Comment,
    ) -> Result<(Comment, Post), CommentError> {
        let post = self.context.core().post(&comment.post_id).get().await?;
        let post = post.ok_or(CommentError::NoSuchComment)?;
        let people = [&comment.user_id, &post.author_id];
        let access = self.context.viewer_access(viewer, people, &post.group_id).await?;
        if access.can_see_post(&post) && access.can_see_comment(&comment) {
            return Ok((comment, post));
        }
        Err(CommentError::NoSuchComment)
    }

    /// Keeps the comments the viewer may see, on posts already visible to them.
    async fn filter_visible(
        &self,
        viewer: Option<&Caller>,
        comments: Vec<Comment>,
    ) -> Result<Vec<Option<Comment>>, CommentError> {
        let authors = comments.iter().map(|comment| &comment.user_id);
        let access = self.context.viewer_access(viewer, authors, []).await?;
        let visible = |comment: &Comment| access.can_see_comment(comment);
        Ok(comments.into_iter().map(|comment| Some(comment).filter(visible)).collect())
    }
}
