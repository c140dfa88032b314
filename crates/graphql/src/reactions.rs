//! Likes and shares of posts: their types, queries, mutations and subscriptions.

use roundtable_domain::{LikeState, LiveEvent, ShareState, Topic};
use roundtable_execution::{FieldError, SharedValue};
use roundtable_graphql_macros::{fields, object};
use roundtable_interface::ApiError;
use roundtable_model::entities::PostCounter;
use roundtable_model::{LikeType, PostId, RequestId, UserId, entities};

use crate::connection::{Connection, PageArguments};
use crate::events::{EventStream, subscribe};
use crate::node::node_id;
use crate::objects::{converted, objects};
use crate::posts::{Post, counters};
use crate::request::RequestContext;
use crate::users::User;

objects! {
    Like of entities::Like;
}

impl Like {
    pub(crate) async fn load(
        context: &RequestContext,
        keys: &[(PostId, UserId)],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        Ok(converted(context.services().likes().among(context.viewer(), keys).await?))
    }
}

#[object(of = self.0)]
impl Like {
    fn node_id(&self) -> String {
        node_id("Like", &[&self.0.post_id, &self.0.user_id])
    }

    fn post(&self) -> &PostId {
        &self.0.post_id
    }

    fn user(&self) -> &UserId {
        &self.0.user_id
    }
}

/// The number of likes of one type.
#[derive(Clone, Debug)]
pub(crate) struct LikeCount {
    like_type: LikeType,
    count: u64,
}

impl LikeCount {
    /// Returns the counts of all types. Likes whose type was never counted are taken as plain.
    pub(crate) fn of(likes: u64, loves: Option<u64>, laughs: Option<u64>) -> Vec<Self> {
        let (loves, laughs) = (loves.unwrap_or(0), laughs.unwrap_or(0));
        let count = |like_type: &LikeType| match like_type {
            LikeType::Like => likes.saturating_sub(loves + laughs),
            LikeType::Love => loves,
            LikeType::Laugh => laughs,
        };
        LikeType::ALL.iter().map(|each| Self { like_type: *each, count: count(each) }).collect()
    }
}

#[object(of = self)]
impl LikeCount {
    fn r#type(&self) -> LikeType {
        self.like_type
    }
}

/// The state of the caller's like after a mutation.
#[derive(Clone, Debug)]
pub(crate) struct LikeResult {
    post_id: PostId,
    liked: bool,
}

impl From<LikeState> for LikeResult {
    fn from(state: LikeState) -> Self {
        Self { post_id: state.post_id, liked: state.like.is_some() }
    }
}

impl SharedValue<LikeResult> for PostCounter {
    async fn read(likes: &[LikeResult], context: &RequestContext) -> Result<Vec<Self>, FieldError> {
        let ids: Vec<PostId> = likes.iter().map(|like| like.post_id.clone()).collect();
        Ok(counters(context, &ids).await?)
    }
}

#[object(of = self)]
impl LikeResult {
    fn post(&self) -> &PostId {
        &self.post_id
    }

    fn like_count(counter: &PostCounter) -> u64 {
        counter.likes
    }
}

/// The state of the caller's share after a mutation.
#[derive(Clone, Debug)]
pub(crate) struct ShareResult(ShareState);

impl From<ShareState> for ShareResult {
    fn from(state: ShareState) -> Self {
        Self(state)
    }
}

/// The shares of a post; none if the viewer may no longer see it, having removed the share.
pub(crate) struct ShareCount(u64);

impl SharedValue<ShareResult> for ShareCount {
    async fn read(
        shares: &[ShareResult],
        context: &RequestContext,
    ) -> Result<Vec<Self>, FieldError> {
        let ids: Vec<PostId> = shares.iter().map(|share| share.0.post_id.clone()).collect();
        let posts = Post::load(context, &ids).await?;
        let counters = counters(context, &ids).await?;
        let count = |(post, counter): (Option<Post>, PostCounter)| match post {
            Some(_) => Self(counter.shares),
            None => Self(0),
        };
        Ok(posts.into_iter().zip(counters).map(count).collect())
    }
}

#[object(of = self.0)]
impl ShareResult {
    fn post(&self) -> &PostId {
        &self.0.post_id
    }

    fn shared(&self) -> bool {
        self.0.share.is_some()
    }

    fn share_count(count: &ShareCount) -> u64 {
        count.0
    }
}

pub(crate) async fn list_likes_of_post(
    context: &RequestContext,
    post: &PostId,
    paging: PageArguments,
) -> Result<Connection<Like>, ApiError> {
    let (likes, viewer) = (context.services().likes(), context.viewer());
    let list = format!("likes of {post}");
    paging.read(context, &list, async |page| likes.of(viewer, post, page).await).await
}

pub(crate) async fn list_likes_by_user(
    context: &RequestContext,
    user: &UserId,
    paging: PageArguments,
) -> Result<Connection<Like>, ApiError> {
    let (likes, viewer) = (context.services().likes(), context.viewer());
    let list = format!("likes by {user}");
    paging.read(context, &list, async |page| likes.by(viewer, user, page).await).await
}

pub(crate) struct ReactionQueries;

#[fields(Query)]
impl ReactionQueries {
    async fn list_post_likes(
        context: &RequestContext,
        post_id: PostId,
        paging: PageArguments,
    ) -> Result<Connection<Like>, ApiError> {
        list_likes_of_post(context, &post_id, paging).await
    }

    async fn list_liked_posts(
        context: &RequestContext,
        user_id: Option<UserId>,
        paging: PageArguments,
    ) -> Result<Connection<Like>, ApiError> {
        let user = context.user_or_caller(user_id)?;
        list_likes_by_user(context, &user, paging).await
    }

    async fn has_liked(
        context: &RequestContext,
        post_id: PostId,
        user_id: Option<UserId>,
    ) -> Result<bool, ApiError> {
        let user = context.user_or_caller(user_id)?;
        let likes = context.services().likes();
        let liked = likes.has_liked(context.viewer(), &user, &[post_id]).await?;
        Ok(liked.into_iter().any(|liked| liked))
    }
}

pub(crate) struct ReactionMutations;

#[fields(Mutation)]
impl ReactionMutations {
    async fn like_post(
        context: &RequestContext,
        post_id: PostId,
        like_type: Option<LikeType>,
        request_id: Option<RequestId>,
    ) -> Result<LikeResult, ApiError> {
        let (likes, caller) = (context.services().likes(), context.caller()?);
        Ok(likes.like(caller, &post_id, like_type, request_id.as_ref()).await?.into())
    }

    async fn unlike_post(
        context: &RequestContext,
        post_id: PostId,
        request_id: Option<RequestId>,
    ) -> Result<LikeResult, ApiError> {
        let (likes, caller) = (context.services().likes(), context.caller()?);
        Ok(likes.unlike(caller, &post_id, request_id.as_ref()).await?.into())
    }

    async fn toggle_like(
        context: &RequestContext,
        post_id: PostId,
        request_id: Option<RequestId>,
    ) -> Result<LikeResult, ApiError> {
        let (likes, caller) = (context.services().likes(), context.caller()?);
        Ok(likes.toggle(caller, &post_id, request_id.as_ref()).await?.into())
    }

    async fn share_post(
        context: &RequestContext,
        post_id: PostId,
        request_id: Option<RequestId>,
    ) -> Result<ShareResult, ApiError> {
        let (shares, caller) = (context.services().shares(), context.caller()?);
        Ok(shares.share(caller, &post_id, request_id.as_ref()).await?.into())
    }

    async fn unshare_post(
        context: &RequestContext,
        post_id: PostId,
        request_id: Option<RequestId>,
    ) -> Result<ShareResult, ApiError> {
        let (shares, caller) = (context.services().shares(), context.caller()?);
        Ok(shares.unshare(caller, &post_id, request_id.as_ref()).await?.into())
    }
}

pub(crate) struct ReactionSubscriptions;

#[fields(Subscription)]
impl ReactionSubscriptions {
    async fn on_toggle_like(
        context: &RequestContext,
        post_id: PostId,
    ) -> Result<EventStream<LikeResult>, ApiError> {
        subscribe(context, Topic::Likes(post_id), |event| match event {
            LiveEvent::Like { post_id, liked } => Some(LikeResult { post_id, liked }),
            _ => None,
        })
        .await
    }
}
