//! Comments: their type, queries, mutations and subscriptions.

use roundtable_domain::{CommentEngagement, LiveEvent, NewComment, Topic};
use roundtable_execution::{FieldError, SharedValue};
use roundtable_graphql_macros::{fields, object};
use roundtable_interface::ApiError;
use roundtable_model::table::Order;
use roundtable_model::{CommentId, LikeType, Nickname, PostId, RequestId, Tag, UserId, entities};

use crate::connection::{Connection, PageArguments};
use crate::enums::ModelSortDirection;
use crate::events::{EventStream, subscribe};
use crate::node::node_id;
use crate::objects::{converted, objects, only};
use crate::posts::Post;
use crate::reactions::LikeCount;
use crate::request::RequestContext;
use crate::users::User;

objects! {
    Comment of entities::Comment;
}

impl Comment {
    pub(crate) async fn load(
        context: &RequestContext,
        keys: &[(PostId, CommentId)],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        Ok(converted(context.services().comments().comments(context.viewer(), keys).await?))
    }

    /// By its id alone, a comment costs more than with its post.
    pub(crate) async fn load_by_id(
        context: &RequestContext,
        ids: &[CommentId],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        Ok(converted(context.services().comments().by_ids(context.viewer(), ids).await?))
    }
}

/// The counters of a comment, and whether the viewer likes it.
pub(crate) struct Engagement(CommentEngagement);

impl SharedValue<Comment> for Engagement {
    async fn read(comments: &[Comment], context: &RequestContext) -> Result<Vec<Self>, FieldError> {
        let key = |comment: &Comment| (comment.0.post_id.clone(), comment.0.id.clone());
        let keys: Vec<_> = comments.iter().map(key).collect();
        let engagement = context.services().comments().engagement(context.viewer(), &keys).await;
        Ok(engagement.map_err(ApiError::from)?.into_iter().map(Self).collect())
    }
}

#[object(of = self.0)]
impl Comment {
    fn node_id(&self) -> String {
        node_id("Comment", &[&self.0.post_id, &self.0.id])
    }

    fn post(&self) -> &PostId {
        &self.0.post_id
    }

    fn user(&self) -> &UserId {
        &self.0.user_id
    }

    fn hashtags(&self) -> &[Tag] {
        self.0.tags()
    }

    fn mentions(&self) -> &[Nickname] {
        self.0.mentions.as_deref().unwrap_or_default()
    }

    async fn like_counts(
        comments: &[Self],
        context: &RequestContext,
    ) -> Result<Vec<Vec<LikeCount>>, ApiError> {
        let key = |comment: &Self| (comment.0.post_id.clone(), comment.0.id.clone());
        let keys: Vec<_> = comments.iter().map(key).collect();
        let counters = context.services().comments().counters(&keys).await?.into_iter();
        Ok(counters.map(|it| LikeCount::of(it.likes, it.loves, it.laughs)).collect())
    }

    fn likes_count(engagement: &Engagement) -> u64 {
        engagement.0.counter.likes
    }

    fn replies_count(engagement: &Engagement) -> u64 {
        engagement.0.counter.replies
    }

    fn viewer_has_liked(engagement: &Engagement) -> bool {
        engagement.0.liked
    }

    async fn replies(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Comment>, ApiError> {
        let (comments, viewer) = (context.services().comments(), context.viewer());
        let parent = &self.0.id;
        let list = format!("replies to {parent}");
        let read = async |page: &_| comments.replies(viewer, parent, page).await;
        Connection::empty_if_hidden(paging.read(context, &list, read).await)
    }
}

pub(crate) async fn list_on_post(
    context: &RequestContext,
    post: &PostId,
    order: Order,
    paging: PageArguments,
) -> Result<Connection<Comment>, ApiError> {
    let (comments, viewer) = (context.services().comments(), context.viewer());
    let list = format!("comments on {post}, {order:?}");
    paging.read(context, &list, async |page| comments.on(viewer, post, order, page).await).await
}

pub(crate) async fn list_by_user(
    context: &RequestContext,
    user: &UserId,
    paging: PageArguments,
) -> Result<Connection<Comment>, ApiError> {
    let (comments, viewer) = (context.services().comments(), context.viewer());
    let list = format!("comments of {user}");
    paging.read(context, &list, async |page| comments.by(viewer, user, page).await).await
}

pub(crate) struct CommentQueries;

#[fields(Query)]
impl CommentQueries {
    async fn get_comment(
        context: &RequestContext,
        id: CommentId,
    ) -> Result<Option<Comment>, ApiError> {
        Ok(only(Comment::load_by_id(context, &[id]).await?))
    }

    async fn list_post_comments(
        context: &RequestContext,
        post_id: PostId,
        paging: PageArguments,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Comment>, ApiError> {
        let order = ModelSortDirection::order_or(sort_direction, Order::Ascending);
        list_on_post(context, &post_id, order, paging).await
    }

    async fn list_user_comments(
        context: &RequestContext,
        user_id: UserId,
        paging: PageArguments,
    ) -> Result<Connection<Comment>, ApiError> {
        list_by_user(context, &user_id, paging).await
    }
}

pub(crate) struct CommentMutations;

#[fields(Mutation)]
impl CommentMutations {
    async fn add_comment(
        context: &RequestContext,
        input: NewComment,
        request_id: Option<RequestId>,
    ) -> Result<Comment, ApiError> {
        let (comments, caller) = (context.services().comments(), context.caller()?);
        Ok(comments.add(caller, &input, request_id.as_ref()).await?.into())
    }

    async fn update_comment(
        context: &RequestContext,
        comment_id: CommentId,
        content: String,
        request_id: Option<RequestId>,
    ) -> Result<Comment, ApiError> {
        let (comments, caller) = (context.services().comments(), context.caller()?);
        Ok(comments.update(caller, &comment_id, &content, request_id.as_ref()).await?.into())
    }

    async fn delete_comment(
        context: &RequestContext,
        comment_id: CommentId,
        request_id: Option<RequestId>,
    ) -> Result<Comment, ApiError> {
        let (comments, caller) = (context.services().comments(), context.caller()?);
        Ok(comments.delete(caller, &comment_id, request_id.as_ref()).await?.into())
    }

    async fn like_comment(
        context: &RequestContext,
        comment_id: CommentId,
        like_type: Option<LikeType>,
        request_id: Option<RequestId>,
    ) -> Result<Comment, ApiError> {
        let (comments, caller) = (context.services().comments(), context.caller()?);
        Ok(comments.like(caller, &comment_id, like_type, request_id.as_ref()).await?.into())
    }

    async fn unlike_comment(
        context: &RequestContext,
        comment_id: CommentId,
        request_id: Option<RequestId>,
    ) -> Result<Comment, ApiError> {
        let (comments, caller) = (context.services().comments(), context.caller()?);
        Ok(comments.unlike(caller, &comment_id, request_id.as_ref()).await?.into())
    }
}

pub(crate) struct CommentSubscriptions;

#[fields(Subscription)]
impl CommentSubscriptions {
    async fn on_add_comment(
        context: &RequestContext,
        post_id: PostId,
    ) -> Result<EventStream<Comment>, ApiError> {
        subscribe(context, Topic::Comments(post_id), |event| match event {
            LiveEvent::Comment(comment) => Some((*comment).into()),
            _ => None,
        })
        .await
    }
}
