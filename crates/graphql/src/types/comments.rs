//! Comments, as the API shows them.

use async_graphql::{Context, ID, Object};
use roundtable_domain::CommentMarks;
use roundtable_model::table::Order;
use roundtable_model::{CommentId, ModerationStatus, PostId, UserId, entities};

use super::posts::Post;
use super::users::User;
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::loaders::{CommentMarksOf, CommentOn};
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{DateTime, Id};
use crate::words::Word;

/// Something somebody wrote below a post.
#[derive(Clone, Debug)]
pub(crate) struct Comment(pub(crate) entities::Comment);

impl From<entities::Comment> for Comment {
    fn from(comment: entities::Comment) -> Self {
        Self(comment)
    }
}

impl Comment {
    /// A comment, if the viewer may see it.
    pub(crate) async fn load(ctx: &Context<'_>, id: &CommentId) -> Result<Option<Self>, Refused> {
        Ok(Asked::of(ctx)?.load.one(id.clone()).await?.map(Self))
    }

    async fn marks(&self, ctx: &Context<'_>) -> Result<Option<CommentMarks>, Refused> {
        let place = CommentOn(self.0.post_id.clone(), self.0.id.clone());
        Asked::of(ctx)?.load.one(CommentMarksOf(place)).await
    }
}

#[Object]
impl Comment {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Comment", &[&self.0.post_id.to_string(), &self.0.id.to_string()])
    }

    async fn id(&self) -> Id<&CommentId> {
        Id(&self.0.id)
    }

    async fn post_id(&self) -> Id<&PostId> {
        Id(&self.0.post_id)
    }

    async fn post(&self, ctx: &Context<'_>) -> Result<Option<Post>, Refused> {
        Post::load(ctx, &self.0.post_id).await
    }

    async fn user_id(&self) -> Id<&UserId> {
        Id(&self.0.user_id)
    }

    async fn user(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
        User::load(ctx, &self.0.user_id).await
    }

    async fn content(&self) -> &str {
        &self.0.content
    }

    async fn moderation_status(&self) -> Word<ModerationStatus> {
        Word(self.0.moderation_status)
    }

    /// The comment it answers.
    async fn parent_comment_id(&self) -> Option<Id<&CommentId>> {
        self.0.parent_comment_id.as_ref().map(Id)
    }

    async fn likes_count(&self, ctx: &Context<'_>) -> Result<u64, Refused> {
        Ok(self.marks(ctx).await?.map_or(0, |marks| marks.counter.likes))
    }

    async fn replies_count(&self, ctx: &Context<'_>) -> Result<u64, Refused> {
        Ok(self.marks(ctx).await?.map_or(0, |marks| marks.counter.replies))
    }

    async fn viewer_has_liked(&self, ctx: &Context<'_>) -> Result<bool, Refused> {
        Ok(self.marks(ctx).await?.is_some_and(|marks| marks.liked))
    }

    async fn is_deleted(&self) -> bool {
        self.0.is_deleted
    }

    /// The comments that answer it, in the order they were written.
    async fn replies(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Comment>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        Connection::if_seen(replies(ctx, &self.0.id, paging).await)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

/// The comments on a post, those that answer others among them.
pub(crate) async fn on(
    ctx: &Context<'_>,
    post: &PostId,
    order: Order,
    paging: Paging,
) -> Result<Connection<Comment>, Refused> {
    let asked = Asked::of(ctx)?;
    let comments = asked.services().comments();
    let list = format!("comments on {post}, {order:?}");
    paging.read(ctx, &list, async |page| comments.on(asked.viewer(), post, order, page).await).await
}

/// The comments that answer another one.
pub(crate) async fn replies(
    ctx: &Context<'_>,
    parent: &CommentId,
    paging: Paging,
) -> Result<Connection<Comment>, Refused> {
    let asked = Asked::of(ctx)?;
    let comments = asked.services().comments();
    let list = format!("replies to {parent}");
    paging.read(ctx, &list, async |page| comments.replies(asked.viewer(), parent, page).await).await
}

/// What somebody has commented.
pub(crate) async fn by(
    ctx: &Context<'_>,
    user: &UserId,
    paging: Paging,
) -> Result<Connection<Comment>, Refused> {
    let asked = Asked::of(ctx)?;
    let comments = asked.services().comments();
    let list = format!("comments of {user}");
    paging.read(ctx, &list, async |page| comments.by(asked.viewer(), user, page).await).await
}
