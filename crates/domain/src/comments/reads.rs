//! Comments by id, by post, by the comment they answer, by author, and as the viewer stands to them.

use std::collections::HashSet;

use futures::future::{try_join, try_join_all};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Comment, CommentCounter, CommentLike, Post, User};
use roundtable_model::table::Order;
use roundtable_model::{CommentId, PostId, UserId};

use super::{CommentError, Comments, comments, find};
use crate::pages::fill;
use crate::posts::{self, posts, visible};
use crate::{Caller, Failure, Page, PageInput, Sight};

/// What people did with a comment, and the viewer among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentMarks {
    /// How many like it, and answered it.
    pub counter: CommentCounter,
    /// Whether the viewer likes it.
    pub liked: bool,
}

#[boxed]
impl Comments {
    /// A comment (R27).
    pub async fn comment(
        &self,
        viewer: Option<&Caller>,
        id: &CommentId,
    ) -> Result<Comment, CommentError> {
        Ok(self.visible(viewer, id).await?.0)
    }

    /// The comments on a post, those that answer others among them (R27).
    pub async fn on(
        &self,
        viewer: Option<&Caller>,
        post: &PostId,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Comment>, CommentError> {
        let post = visible(&self.ground, viewer, post).await?.ok_or(CommentError::NoSuchPost)?;
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().comments(&post.id).strong().order(order);
                listing.limit(limit).after(after).page().await
            },
            async |comments| self.seen(viewer, comments).await,
        )
        .await
    }

    /// The comments that answer another one, in the order they were written.
    pub async fn replies(
        &self,
        viewer: Option<&Caller>,
        parent: &CommentId,
        page: &PageInput,
    ) -> Result<Page<Comment>, CommentError> {
        let (parent, _) = self.visible(viewer, parent).await?;
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().replies(&parent.post_id, &parent.id).strong();
                listing.limit(limit).after(after).page().await
            },
            async |comments| self.seen(viewer, comments).await,
        )
        .await
    }

    /// What somebody has commented, for those who may see the profile and the posts, newest first
    /// (R27).
    pub async fn by(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        page: &PageInput,
    ) -> Result<Page<Comment>, CommentError> {
        let sight = self.ground.sight(viewer, [user], []).await?;
        if !sight.sees_inside(user) {
            return Err(CommentError::NoSuchUser);
        }
        fill(
            page,
            async |limit, after| {
                self.ground.core().comments_by(user).limit(limit).after(after).page().await
            },
            async |found: Vec<Comment>| {
                let on: Vec<PostId> = found.iter().map(|it| it.post_id.clone()).collect();
                let (found, on) = try_join(self.current(found), posts(&self.ground, &on)).await?;
                let on = posts::seen(&self.ground, viewer, on).await?;
                let authors = found.iter().flatten().map(|comment| &comment.user_id);
                let sight = self.ground.sight(viewer, authors, []).await?;
                let seen = found.into_iter().zip(on).map(|(comment, post)| {
                    comment.filter(|comment| post.is_some() && sight.comment(comment))
                });
                Ok(seen.collect())
            },
        )
        .await
    }

    /// Comments by their posts and ids, each in its place; `None` where there is none for the viewer.
    pub async fn comments(
        &self,
        viewer: Option<&Caller>,
        places: &[(PostId, CommentId)],
    ) -> Result<Vec<Option<Comment>>, CommentError> {
        let places = places.iter().map(|(post, id)| (post, id));
        let found = comments(&self.ground, places).await?;
        self.seen_with_posts(viewer, found).await
    }

    /// Comments by their ids alone. Only an index knows them so, and an index has no batches: they are
    /// asked for all at once.
    pub async fn by_ids(
        &self,
        viewer: Option<&Caller>,
        ids: &[CommentId],
    ) -> Result<Vec<Option<Comment>>, CommentError> {
        let found = try_join_all(ids.iter().map(|id| find(&self.ground, id))).await?;
        self.seen_with_posts(viewer, found).await
    }

    /// Those of the comments which the viewer may see, with the posts they are on.
    async fn seen_with_posts(
        &self,
        viewer: Option<&Caller>,
        found: Vec<Option<Comment>>,
    ) -> Result<Vec<Option<Comment>>, CommentError> {
        let on: HashSet<PostId> = found.iter().flatten().map(|it| it.post_id.clone()).collect();
        let on: Vec<PostId> = on.into_iter().collect();
        let on = posts::seen(&self.ground, viewer, posts(&self.ground, &on).await?).await?;
        let on: HashSet<PostId> = on.into_iter().flatten().map(|post| post.id).collect();
        let authors = found.iter().flatten().map(|comment| &comment.user_id);
        let sight = self.ground.sight(viewer, authors, []).await?;
        let shows = |it: &Comment| on.contains(&it.post_id) && sight.comment(it);
        Ok(found.into_iter().map(|comment| comment.filter(shows)).collect())
    }

    /// What people, and the viewer, did with comments that the viewer has been shown.
    pub async fn marks(
        &self,
        viewer: Option<&Caller>,
        comments: &[(PostId, CommentId)],
    ) -> Result<Vec<CommentMarks>, CommentError> {
        let counters = comments.iter().map(|(post, id)| CommentCounter::at(post, id));
        let likes = viewer.into_iter().flat_map(|viewer| {
            comments.iter().map(|(post, id)| CommentLike::at(post, id, &viewer.user_id))
        });
        let (counters, likes) = try_join(
            self.ground.lately_at("comment_counters", counters),
            self.ground.at("comment_likes", likes),
        )
        .await?;
        let liked: HashSet<CommentId> =
            likes.into_iter().flatten().map(|like| like.comment_id).collect();
        let marks = comments.iter().zip(counters).map(|((post, id), counter)| CommentMarks {
            counter: counter.unwrap_or_else(|| nothing(post, id)),
            liked: liked.contains(id),
        });
        Ok(marks.collect())
    }

    /// Comments that an index told of, as they are now. Where indexes are never behind, they are
    /// already.
    async fn current(&self, found: Vec<Comment>) -> Result<Vec<Option<Comment>>, Failure> {
        if self.ground.store().capabilities().strong_index_reads {
            return Ok(found.into_iter().map(Some).collect());
        }
        let places = found.iter().map(|comment| (&comment.post_id, &comment.id));
        Ok(comments(&self.ground, places).await?)
    }

    /// A comment that the caller may see, with its post and what decided that.
    pub(super) async fn found(
        &self,
        caller: &Caller,
        me: &User,
        id: &CommentId,
    ) -> Result<(Comment, Post, Sight), CommentError> {
        let comment = find(&self.ground, id).await?.ok_or(CommentError::NoSuchComment)?;
        let post = self.ground.core().post(&comment.post_id).get().await?;
        let post = post.ok_or(CommentError::NoSuchComment)?;
        let people = [&comment.user_id, &post.author_id];
        let sight = self.ground.sight_of(caller, me, people, &post.group_id).await?;
        if sight.post(&post) && sight.comment(&comment) {
            return Ok((comment, post, sight));
        }
        Err(CommentError::NoSuchComment)
    }

    /// A comment that the viewer may see, with its post.
    pub(super) async fn visible(
        &self,
        viewer: Option<&Caller>,
        id: &CommentId,
    ) -> Result<(Comment, Post), CommentError> {
        let comment = find(&self.ground, id).await?.ok_or(CommentError::NoSuchComment)?;
        self.with_post(viewer, comment).await
    }

    /// The comment with its post, if the viewer may see both.
    pub(super) async fn with_post(
        &self,
        viewer: Option<&Caller>,
        comment: Comment,
    ) -> Result<(Comment, Post), CommentError> {
        let post = self.ground.core().post(&comment.post_id).get().await?;
        let post = post.ok_or(CommentError::NoSuchComment)?;
        let people = [&comment.user_id, &post.author_id];
        let sight = self.ground.sight(viewer, people, &post.group_id).await?;
        if sight.post(&post) && sight.comment(&comment) {
            return Ok((comment, post));
        }
        Err(CommentError::NoSuchComment)
    }

    /// Those of the comments on posts that the viewer sees, which they may see, too.
    async fn seen(
        &self,
        viewer: Option<&Caller>,
        comments: Vec<Comment>,
    ) -> Result<Vec<Option<Comment>>, CommentError> {
        let authors = comments.iter().map(|comment| &comment.user_id);
        let sight = self.ground.sight(viewer, authors, []).await?;
        let seen = |comment: &Comment| sight.comment(comment);
        Ok(comments.into_iter().map(|comment| Some(comment).filter(seen)).collect())
    }
}

/// A comment nobody has done anything with.
fn nothing(post: &PostId, comment: &CommentId) -> CommentCounter {
    let (post_id, comment_id) = (post.clone(), comment.clone());
    CommentCounter { post_id, comment_id, likes: 0, replies: 0, seq: String::new() }
}
