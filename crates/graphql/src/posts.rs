//! Posts: their type, queries, mutations and subscriptions.

use std::sync::Arc;

use roundtable_domain::{LiveEvent, NewPost, PostChange, PostSummaryStats, PostViewerState, Topic};
use roundtable_execution::{FieldError, Given, SharedValue};
use roundtable_graphql_macros::{fields, input, object};
use roundtable_interface::ApiError;
use roundtable_model::entities::PostCounter;
use roundtable_model::table::Order;
use roundtable_model::{
    Day, FeedName, ModerationStatus, PostId, RequestId, Tag, UserId, Visibility, entities,
};

use crate::comments::{self, Comment};
use crate::connection::{Connection, PageArguments};
use crate::edits::{edit_non_null, edit_or_default};
use crate::enums::ModelSortDirection;
use crate::events::{EventStream, subscribe};
use crate::media::{self, Media};
use crate::node::node_id;
use crate::objects::{converted, objects, only};
use crate::reactions::{self, Like, LikeCount};
use crate::request::RequestContext;
use crate::users::User;

/// The most posts of one `getPostSummaries`.
const POST_SUMMARIES_MAX: usize = 100;

objects! {
    Post of entities::Post;
}

impl From<Arc<entities::Post>> for Post {
    fn from(post: Arc<entities::Post>) -> Self {
        Self(post)
    }
}

impl Post {
    /// Returns posts in the order of their ids; `None` where the viewer may not see one.
    pub(crate) async fn load(
        context: &RequestContext,
        ids: &[PostId],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let read = async |ids: &[PostId]| {
            Ok(converted(context.services().posts().posts(context.viewer(), ids).await?))
        };
        context.posts.get(ids, read).await
    }
}

/// Returns the counters of posts that the viewer has already been shown.
pub(crate) async fn counters(
    context: &RequestContext,
    ids: &[PostId],
) -> Result<Vec<PostCounter>, ApiError> {
    let read = async |ids: &[PostId]| {
        let counters = context.services().posts().counters(ids).await?;
        Ok(counters.into_iter().map(Some).collect())
    };
    Ok(context.counters.get(ids, read).await?.into_iter().flatten().collect())
}

impl SharedValue<Post> for PostCounter {
    async fn read(posts: &[Post], context: &RequestContext) -> Result<Vec<Self>, FieldError> {
        let ids: Vec<PostId> = posts.iter().map(|post| post.0.id.clone()).collect();
        Ok(counters(context, &ids).await?)
    }
}

/// What the viewer did with a post.
pub(crate) struct Reactions(PostViewerState);

impl SharedValue<Post> for Reactions {
    async fn read(posts: &[Post], context: &RequestContext) -> Result<Vec<Self>, FieldError> {
        let Some(viewer) = context.viewer() else {
            return Ok(posts.iter().map(|_| Self(PostViewerState::default())).collect());
        };
        let ids: Vec<PostId> = posts.iter().map(|post| post.0.id.clone()).collect();
        let states = context.services().posts().viewer_states(viewer, &ids).await;
        Ok(states.map_err(ApiError::from)?.into_iter().map(Self).collect())
    }
}

#[object(of = self.0)]
impl Post {
    fn node_id(&self) -> String {
        node_id("Post", &[&self.0.id])
    }

    fn author(&self) -> &UserId {
        &self.0.author_id
    }

    async fn media(posts: &[Self], context: &RequestContext) -> Result<Vec<Vec<Media>>, ApiError> {
        let files = posts.iter().map(|post| post.0.media.as_slice());
        media::fetchable(context, files).await
    }

    fn like_count(counter: &PostCounter) -> u64 {
        counter.likes
    }

    async fn like_counts(
        posts: &[Self],
        context: &RequestContext,
    ) -> Result<Vec<Vec<LikeCount>>, ApiError> {
        let ids: Vec<PostId> = posts.iter().map(|post| post.0.id.clone()).collect();
        let counters = counters(context, &ids).await?.into_iter();
        Ok(counters.map(|it| LikeCount::of(it.likes, it.loves, it.laughs)).collect())
    }

    fn comment_count(counter: &PostCounter) -> u64 {
        counter.comments
    }

    fn share_count(counter: &PostCounter) -> u64 {
        counter.shares
    }

    fn engagement_score(counter: &PostCounter) -> f64 {
        score(counter)
    }

    fn viewer_has_liked(reactions: &Reactions) -> bool {
        reactions.0.liked
    }

    fn viewer_has_shared(reactions: &Reactions) -> bool {
        reactions.0.shared
    }

    async fn comments(
        &self,
        context: &RequestContext,
        paging: PageArguments,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Comment>, ApiError> {
        let order = ModelSortDirection::order_or(sort_direction, Order::Ascending);
        let list = comments::list_on_post(context, &self.0.id, order, paging).await;
        Connection::empty_if_hidden(list)
    }

    async fn likes(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Like>, ApiError> {
        let list = reactions::list_likes_of_post(context, &self.0.id, paging).await;
        Connection::empty_if_hidden(list)
    }
}

/// A post in a list, with its reactions: read by a projection, without a read for each field.
#[derive(Clone, Debug)]
pub(crate) struct PostOverview(Arc<PostSummaryStats>);

impl From<PostSummaryStats> for PostOverview {
    fn from(stats: PostSummaryStats) -> Self {
        Self(Arc::new(stats))
    }
}

#[object(of = self.0.post)]
impl PostOverview {
    fn post_id(&self) -> &PostId {
        &self.0.post.id
    }

    fn like_count(&self) -> u64 {
        self.0.counter.likes
    }

    fn comment_count(&self) -> u64 {
        self.0.counter.comments
    }

    fn share_count(&self) -> u64 {
        self.0.counter.shares
    }

    fn engagement_score(&self) -> f64 {
        score(&self.0.counter)
    }
}

#[expect(clippy::cast_precision_loss, reason = "scores are far below 2^53")]
pub(crate) fn score(counter: &PostCounter) -> f64 {
    counter.score as f64
}

pub(crate) async fn list_by_author(
    context: &RequestContext,
    author: &UserId,
    order: Order,
    paging: PageArguments,
) -> Result<Connection<Post>, ApiError> {
    let (posts, viewer) = (context.services().posts(), context.viewer());
    let list = format!("posts of {author}, {order:?}");
    paging.read(context, &list, async |page| posts.by(viewer, author, order, page).await).await
}

pub(crate) struct PostQueries;

#[fields(Query)]
impl PostQueries {
    async fn get_post(context: &RequestContext, id: PostId) -> Result<Option<Post>, ApiError> {
        Ok(only(Post::load(context, &[id]).await?))
    }

    async fn get_post_summaries(
        context: &RequestContext,
        post_ids: Vec<PostId>,
    ) -> Result<Vec<Option<PostOverview>>, ApiError> {
        if post_ids.len() > POST_SUMMARIES_MAX {
            return Err(ApiError::bad_request("postIds: expected at most 100"));
        }
        let posts = context.services().posts();
        Ok(converted(posts.stats(context.viewer(), &post_ids).await?))
    }

    async fn list_global_feed(
        context: &RequestContext,
        feed_id: Option<FeedName>,
        moderation_status: Option<ModerationStatus>,
        paging: PageArguments,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Post>, ApiError> {
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        let (posts, viewer, feed) =
            (context.services().posts(), context.viewer(), feed_id.as_ref());
        let list = format!("posts in {feed:?}, {moderation_status:?}, {order:?}");
        let read =
            async |page: &_| posts.global(viewer, feed, moderation_status, order, page).await;
        paging.read(context, &list, read).await
    }

    async fn list_timeline(
        context: &RequestContext,
        date: Day,
        paging: PageArguments,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Post>, ApiError> {
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        let (posts, viewer) = (context.services().posts(), context.viewer());
        let list = format!("posts on {date}, {order:?}");
        paging
            .read(context, &list, async |page| posts.on_day(viewer, date, order, page).await)
            .await
    }

    async fn list_popular_posts(
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Post>, ApiError> {
        let (posts, viewer) = (context.services().posts(), context.viewer());
        paging.read(context, "popular posts", async |page| posts.popular(viewer, page).await).await
    }

    async fn list_posts_by_tag(
        context: &RequestContext,
        tag: Tag,
        order: Option<ModelSortDirection>,
        paging: PageArguments,
    ) -> Result<Connection<Post>, ApiError> {
        let order = ModelSortDirection::order_or(order, Order::Descending);
        let (posts, viewer) = (context.services().posts(), context.viewer());
        let list = format!("posts tagged {}, {order:?}", tag.fold());
        let read = async |page: &_| posts.tagged(viewer, &tag, order, page).await;
        paging.read(context, &list, read).await
    }

    async fn list_user_posts(
        context: &RequestContext,
        user_id: UserId,
        paging: PageArguments,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Post>, ApiError> {
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        list_by_author(context, &user_id, order, paging).await
    }
}

#[input]
#[derive(Debug)]
pub(crate) struct UpdatePostInput {
    post_id: PostId,
    content: Given<String>,
    visibility: Given<Visibility>,
}

pub(crate) struct PostMutations;

#[fields(Mutation)]
impl PostMutations {
    async fn create_post(
        context: &RequestContext,
        input: NewPost,
        request_id: Option<RequestId>,
    ) -> Result<Post, ApiError> {
        let (posts, caller) = (context.services().posts(), context.caller()?);
        Ok(posts.create(caller, &input, request_id.as_ref()).await?.into())
    }

    async fn update_post(
        context: &RequestContext,
        input: UpdatePostInput,
        request_id: Option<RequestId>,
    ) -> Result<Post, ApiError> {
        let visibility = edit_non_null("visibility", input.visibility)?;
        let change = PostChange { content: edit_or_default(input.content), visibility };
        let (posts, caller) = (context.services().posts(), context.caller()?);
        Ok(posts.update(caller, &input.post_id, &change, request_id.as_ref()).await?.into())
    }

    async fn delete_post(
        context: &RequestContext,
        post_id: PostId,
        request_id: Option<RequestId>,
    ) -> Result<Post, ApiError> {
        let (posts, caller) = (context.services().posts(), context.caller()?);
        Ok(posts.delete(caller, &post_id, request_id.as_ref()).await?.into())
    }
}

pub(crate) struct PostSubscriptions;

fn changed_post(event: LiveEvent) -> Option<Post> {
    match event {
        LiveEvent::Post(post) => Some((*post).into()),
        _ => None,
    }
}

#[fields(Subscription)]
impl PostSubscriptions {
    async fn on_create_post(
        context: &RequestContext,
        feed_id: Option<FeedName>,
    ) -> Result<EventStream<Post>, ApiError> {
        subscribe(context, Topic::NewPosts(feed_id), changed_post).await
    }

    async fn on_update_post(
        context: &RequestContext,
        post_id: PostId,
    ) -> Result<EventStream<Post>, ApiError> {
        subscribe(context, Topic::Post(post_id), changed_post).await
    }

    async fn on_moderate_post(
        context: &RequestContext,
        post_id: Option<PostId>,
    ) -> Result<EventStream<Post>, ApiError> {
        subscribe(context, Topic::Decisions(post_id), changed_post).await
    }
}
