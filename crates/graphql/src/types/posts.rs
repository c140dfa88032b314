//! Posts, as the API shows them.

use std::sync::Arc;

use async_graphql::{Context, ID, Object};
use roundtable_domain::PostMarks;
use roundtable_model::table::Order;
use roundtable_model::{
    ContentType, Day, FeedName, GroupId, ModerationStatus, PostId, UserId, Visibility, entities,
};

use super::comments::{self, Comment};
use super::media::{self, Media};
use super::reactions::{self, Like};
use super::users::User;
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::loaders::{CounterOf, MarksOf};
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{DateTime, Id, Url};
use crate::words::{ModelSortDirection, Word};

/// Something somebody has posted.
#[derive(Clone, Debug)]
pub(crate) struct Post(pub(crate) Arc<entities::Post>);

impl From<entities::Post> for Post {
    fn from(post: entities::Post) -> Self {
        Self(Arc::new(post))
    }
}

impl From<Arc<entities::Post>> for Post {
    fn from(post: Arc<entities::Post>) -> Self {
        Self(post)
    }
}

impl Post {
    /// A post, if the viewer may see it.
    pub(crate) async fn load(ctx: &Context<'_>, id: &PostId) -> Result<Option<Self>, Refused> {
        Ok(Asked::of(ctx)?.load.one(id.clone()).await?.map(Self::from))
    }

    async fn counter(&self, ctx: &Context<'_>) -> Result<Option<entities::PostCounter>, Refused> {
        Asked::of(ctx)?.load.one(CounterOf(self.0.id.clone())).await
    }

    async fn marks(&self, ctx: &Context<'_>) -> Result<PostMarks, Refused> {
        let marks = Asked::of(ctx)?.load.one(MarksOf(self.0.id.clone())).await?;
        Ok(marks.unwrap_or_default())
    }
}

/// The score of a post, as clients read it.
#[expect(clippy::cast_precision_loss, reason = "scores are far below where it begins")]
pub(crate) fn score(counter: &entities::PostCounter) -> f64 {
    counter.score as f64
}

#[Object]
impl Post {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Post", &[&self.0.id.to_string()])
    }

    async fn id(&self) -> Id<&PostId> {
        Id(&self.0.id)
    }

    async fn author_id(&self) -> Id<&UserId> {
        Id(&self.0.author_id)
    }

    async fn author(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
        User::load(ctx, &self.0.author_id).await
    }

    async fn group_id(&self) -> Option<Id<&GroupId>> {
        self.0.group_id.as_ref().map(Id)
    }

    async fn feed_id(&self) -> Id<&FeedName> {
        Id(&self.0.feed_id)
    }

    async fn content(&self) -> &str {
        &self.0.content
    }

    async fn content_type(&self) -> Word<ContentType> {
        Word(self.0.content_type)
    }

    async fn media(&self, ctx: &Context<'_>) -> Result<Vec<Media>, Refused> {
        media::shown(ctx, &self.0.media).await
    }

    async fn visibility(&self) -> Word<Visibility> {
        Word(self.0.visibility)
    }

    async fn moderation_status(&self) -> Word<ModerationStatus> {
        Word(self.0.moderation_status)
    }

    async fn is_deleted(&self) -> bool {
        self.0.is_deleted
    }

    async fn hashtags(&self) -> Vec<String> {
        self.0.hashtags.iter().map(ToString::to_string).collect()
    }

    /// The nicknames it mentions.
    async fn mentions(&self) -> Vec<String> {
        self.0.mentions.iter().map(ToString::to_string).collect()
    }

    async fn like_count(&self, ctx: &Context<'_>) -> Result<u64, Refused> {
        Ok(self.counter(ctx).await?.map_or(0, |counter| counter.likes))
    }

    async fn comment_count(&self, ctx: &Context<'_>) -> Result<u64, Refused> {
        Ok(self.counter(ctx).await?.map_or(0, |counter| counter.comments))
    }

    async fn share_count(&self, ctx: &Context<'_>) -> Result<u64, Refused> {
        Ok(self.counter(ctx).await?.map_or(0, |counter| counter.shares))
    }

    async fn engagement_score(&self, ctx: &Context<'_>) -> Result<f64, Refused> {
        Ok(self.counter(ctx).await?.map_or(0.0, |counter| score(&counter)))
    }

    async fn viewer_has_liked(&self, ctx: &Context<'_>) -> Result<bool, Refused> {
        Ok(self.marks(ctx).await?.liked)
    }

    async fn viewer_has_shared(&self, ctx: &Context<'_>) -> Result<bool, Refused> {
        Ok(self.marks(ctx).await?.shared)
    }

    async fn activity_pub_id(&self) -> Option<Url> {
        self.0.activity_pub_id.clone().map(Url)
    }

    /// In the order they were written, unless asked otherwise.
    async fn comments(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Comment>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let order = ModelSortDirection::or(sort_direction, Order::Ascending);
        Connection::if_seen(comments::on(ctx, &self.0.id, order, paging).await)
    }

    async fn likes(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Like>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        Connection::if_seen(reactions::likes_of(ctx, &self.0.id, paging).await)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

/// What somebody has posted.
pub(crate) async fn by(
    ctx: &Context<'_>,
    author: &UserId,
    order: Order,
    paging: Paging,
) -> Result<Connection<Post>, Refused> {
    let asked = Asked::of(ctx)?;
    let posts = asked.services().posts();
    let list = format!("posts of {author}, {order:?}");
    paging.read(ctx, &list, async |page| posts.by(asked.viewer(), author, order, page).await).await
}

/// The posts of everybody, in a feed or outside all feeds.
pub(crate) async fn global(
    ctx: &Context<'_>,
    feed: Option<&FeedName>,
    status: Option<ModerationStatus>,
    order: Order,
    paging: Paging,
) -> Result<Connection<Post>, Refused> {
    let asked = Asked::of(ctx)?;
    let (posts, viewer) = (asked.services().posts(), asked.viewer());
    let list = format!("posts in {feed:?}, {status:?}, {order:?}");
    let read = async |page: &_| posts.global(viewer, feed, status, order, page).await;
    paging.read(ctx, &list, read).await
}

/// The posts of everybody that came out on a day.
pub(crate) async fn on_day(
    ctx: &Context<'_>,
    day: Day,
    order: Order,
    paging: Paging,
) -> Result<Connection<Post>, Refused> {
    let asked = Asked::of(ctx)?;
    let posts = asked.services().posts();
    let list = format!("posts on {day}, {order:?}");
    paging.read(ctx, &list, async |page| posts.on_day(asked.viewer(), day, order, page).await).await
}

/// The posts people did most with.
pub(crate) async fn popular(
    ctx: &Context<'_>,
    paging: Paging,
) -> Result<Connection<Post>, Refused> {
    let asked = Asked::of(ctx)?;
    let posts = asked.services().posts();
    paging.read(ctx, "popular posts", async |page| posts.popular(asked.viewer(), page).await).await
}
