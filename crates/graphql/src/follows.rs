//! Follows and blocks: the type of follows, queries, mutations and the subscription.

use roundtable_domain::{LiveEvent, Topic};
use roundtable_execution::{FieldError, SharedValue};
use roundtable_graphql_macros::{fields, object};
use roundtable_interface::{ApiError, none_if_hidden};
use roundtable_model::{Day, RequestId, UserId, entities};

use crate::connection::{Connection, PageArguments};
use crate::events::{EventStream, subscribe};
use crate::node::node_id;
use crate::objects::{converted, objects};
use crate::request::RequestContext;
use crate::users::User;

objects! {
    Follow of entities::Follow;
}

impl Follow {
    /// Returns follows in the order of their followers and followees; `None` where one is hidden.
    pub(crate) async fn load(
        context: &RequestContext,
        ends: &[(UserId, UserId)],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        Ok(converted(context.services().follows().among(context.viewer(), ends).await?))
    }
}

/// Whether the viewer has muted the followee of their own follow.
pub(crate) struct Muted(bool);

impl SharedValue<Follow> for Muted {
    async fn read(follows: &[Follow], context: &RequestContext) -> Result<Vec<Self>, FieldError> {
        let viewer = context.viewer();
        let followee = |follow: &Follow| {
            let viewer = viewer.filter(|viewer| viewer.user_id == follow.0.follower_id);
            viewer.map(|_| follow.0.followee_id.clone())
        };
        let own: Vec<Option<UserId>> = follows.iter().map(followee).collect();
        let followees: Vec<UserId> = own.iter().flatten().cloned().collect();
        let (Some(viewer), false) = (viewer, followees.is_empty()) else {
            return Ok(own.into_iter().map(|_| Self(false)).collect());
        };
        let mutes = context.services().mutes().among(viewer, &followees).await;
        // A suspended user has no mutes in force.
        let mutes = none_if_hidden(mutes.map_err(ApiError::from))?.unwrap_or_default();
        let mut mutes = mutes.into_iter();
        let muted =
            |user: Option<UserId>| Self(user.and_then(|_| mutes.next().flatten()).is_some());
        Ok(own.into_iter().map(muted).collect())
    }
}

#[object(of = self.0)]
impl Follow {
    fn node_id(&self) -> String {
        node_id("Follow", &[&self.0.follower_id, &self.0.followee_id])
    }

    fn notify_posts(&self) -> bool {
        self.0.wants_posts()
    }

    fn follower(&self) -> &UserId {
        &self.0.follower_id
    }

    fn followee(&self) -> &UserId {
        &self.0.followee_id
    }

    fn muted(muted: &Muted) -> bool {
        muted.0
    }
}

pub(crate) async fn list_followers(
    context: &RequestContext,
    user: &UserId,
    paging: PageArguments,
) -> Result<Connection<Follow>, ApiError> {
    let (follows, viewer) = (context.services().follows(), context.viewer());
    let list = format!("followers of {user}");
    paging.read(context, &list, async |page| follows.followers(viewer, user, page).await).await
}

pub(crate) async fn list_following(
    context: &RequestContext,
    user: &UserId,
    paging: PageArguments,
) -> Result<Connection<Follow>, ApiError> {
    let (follows, viewer) = (context.services().follows(), context.viewer());
    let list = format!("followed by {user}");
    paging.read(context, &list, async |page| follows.following(viewer, user, page).await).await
}

pub(crate) struct FollowQueries;

#[fields(Query)]
impl FollowQueries {
    async fn list_following(
        context: &RequestContext,
        user_id: Option<UserId>,
        paging: PageArguments,
    ) -> Result<Connection<Follow>, ApiError> {
        list_following(context, &context.user_or_caller(user_id)?, paging).await
    }

    async fn list_followers(
        context: &RequestContext,
        user_id: Option<UserId>,
        paging: PageArguments,
    ) -> Result<Connection<Follow>, ApiError> {
        list_followers(context, &context.user_or_caller(user_id)?, paging).await
    }

    async fn is_following(
        context: &RequestContext,
        follower_id: UserId,
        followee_id: UserId,
    ) -> Result<bool, ApiError> {
        let (follows, viewer) = (context.services().follows(), context.viewer());
        Ok(follows.is_following(viewer, &follower_id, &followee_id).await?)
    }

    async fn list_follow_activity(
        context: &RequestContext,
        date: Day,
        paging: PageArguments,
    ) -> Result<Connection<Follow>, ApiError> {
        let (follows, viewer) = (context.services().follows(), context.viewer());
        let list = format!("follows of {date}");
        let read = async |page: &_| follows.activity_of(viewer, date, page).await;
        paging.read(context, &list, read).await
    }

    async fn list_follow_requests(
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Follow>, ApiError> {
        let (caller, follows) = (context.caller()?, context.services().follows());
        let list = "requests to follow";
        paging.read(context, list, async |page| follows.requests(caller, page).await).await
    }

    async fn list_blocked(
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<User>, ApiError> {
        let (caller, blocks) = (context.caller()?, context.services().blocks());
        paging.read(context, "blocked", async |page| blocks.list(caller, page).await).await
    }
}

pub(crate) struct FollowMutations;

#[fields(Mutation)]
impl FollowMutations {
    async fn follow_user(
        context: &RequestContext,
        followee_id: UserId,
        request_id: Option<RequestId>,
    ) -> Result<Follow, ApiError> {
        let (follows, caller) = (context.services().follows(), context.caller()?);
        Ok(follows.follow(caller, &followee_id, request_id.as_ref()).await?.into())
    }

    async fn unfollow_user(
        context: &RequestContext,
        followee_id: UserId,
        request_id: Option<RequestId>,
    ) -> Result<Follow, ApiError> {
        let (follows, caller) = (context.services().follows(), context.caller()?);
        Ok(follows.unfollow(caller, &followee_id, request_id.as_ref()).await?.into())
    }

    async fn accept_follower(
        context: &RequestContext,
        follower_id: UserId,
        request_id: Option<RequestId>,
    ) -> Result<Follow, ApiError> {
        let (follows, caller) = (context.services().follows(), context.caller()?);
        Ok(follows.accept(caller, &follower_id, request_id.as_ref()).await?.into())
    }

    async fn reject_follower(
        context: &RequestContext,
        follower_id: UserId,
        request_id: Option<RequestId>,
    ) -> Result<Follow, ApiError> {
        let (follows, caller) = (context.services().follows(), context.caller()?);
        Ok(follows.reject(caller, &follower_id, request_id.as_ref()).await?.into())
    }

    async fn update_follow(
        context: &RequestContext,
        followee_id: UserId,
        notification_enabled: Option<bool>,
        notify_posts: Option<bool>,
        muted: Option<bool>,
        request_id: Option<RequestId>,
    ) -> Result<Follow, ApiError> {
        let (follows, caller) = (context.services().follows(), context.caller()?);
        let (enabled, request) = (notification_enabled, request_id.as_ref());
        let changed = follows.update(caller, &followee_id, muted, enabled, notify_posts, request);
        Ok(changed.await?.into())
    }

    async fn block_user(
        context: &RequestContext,
        user_id: UserId,
        request_id: Option<RequestId>,
    ) -> Result<bool, ApiError> {
        let (blocks, caller) = (context.services().blocks(), context.caller()?);
        blocks.block(caller, &user_id, request_id.as_ref()).await?;
        Ok(true)
    }

    async fn unblock_user(
        context: &RequestContext,
        user_id: UserId,
        request_id: Option<RequestId>,
    ) -> Result<bool, ApiError> {
        let (blocks, caller) = (context.services().blocks(), context.caller()?);
        blocks.unblock(caller, &user_id, request_id.as_ref()).await?;
        Ok(true)
    }
}

pub(crate) struct FollowSubscriptions;

#[fields(Subscription)]
impl FollowSubscriptions {
    async fn on_follow_user(
        context: &RequestContext,
        followee_id: UserId,
    ) -> Result<EventStream<Follow>, ApiError> {
        subscribe(context, Topic::Followers(followee_id), |event| match event {
            LiveEvent::Follow(follow) => Some((*follow).into()),
            _ => None,
        })
        .await
    }
}
