//! The GraphQL type of users.

use std::sync::Arc;

use async_graphql::{Context, ID, Object, SimpleObject};
use roundtable_domain::QuestFilter;
use roundtable_model::table::Order;
use roundtable_model::{
    ActorType, EntityKind, GoalId, QuestStatus, Role, TaskId, Tier, UserId, UserStatus, entities,
};

use super::activities::Activity;
use super::comments::Comment;
use super::follows::Follow;
use super::goals::Goal;
use super::groups::Group;
use super::posts::Post;
use super::quests::Quest;
use super::reactions::Like;
use super::unions::TimelineEntity;
use super::{
    activities, comments, follows, goals, groups, media, posts, quests, reactions, unions,
};
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::{EnumValue, ModelSortDirection};
use crate::loaders::{FollowedByViewerKey, FollowsViewerKey, UserCountsKey};
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, CalendarDate, DateTime, EmailAddress, Url};

#[derive(Clone, Debug)]
pub(crate) struct User(pub(crate) Arc<entities::User>);

impl From<entities::User> for User {
    fn from(user: entities::User) -> Self {
        Self(Arc::new(user))
    }
}

impl User {
    pub(crate) async fn load(ctx: &Context<'_>, id: &UserId) -> Result<Option<Self>, ApiError> {
        Ok(RequestContext::of(ctx)?.loaders.load(id.clone()).await?.map(Self))
    }
}

/// The ActivityPub actor of a user.
#[derive(Debug, SimpleObject)]
pub(crate) struct ActorInfo {
    actor_type: EnumValue<ActorType>,
    public_key: Option<String>,
    inbox_url: Option<Url>,
    outbox_url: Option<Url>,
    followers_url: Option<Url>,
    following_url: Option<Url>,
    preferred_username: String,
    domain: Option<String>,
}

#[Object]
impl User {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("User", &[&self.0.id.to_string()])
    }

    async fn id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.id)
    }

    async fn nickname(&self) -> String {
        self.0.nickname.to_string()
    }

    async fn username(&self) -> String {
        self.0.nickname.to_string()
    }

    async fn handle(&self) -> Option<String> {
        self.0.handle.as_ref().map(ToString::to_string)
    }

    async fn email(&self) -> Option<EmailAddress> {
        self.0.email.clone().map(EmailAddress)
    }

    async fn full_name(&self) -> Option<&str> {
        self.0.full_name.as_deref()
    }

    async fn display_name(&self) -> Option<&str> {
        self.0.display_name.as_deref()
    }

    async fn birth_date(&self) -> Option<CalendarDate> {
        self.0.birth_date.map(CalendarDate)
    }

    async fn status(&self) -> EnumValue<UserStatus> {
        EnumValue(self.0.status)
    }

    async fn country(&self) -> Option<&str> {
        self.0.country.as_deref()
    }

    async fn language(&self) -> Option<&str> {
        self.0.language.as_deref()
    }

    async fn gender(&self) -> Option<&str> {
        self.0.gender.as_deref()
    }

    async fn pronouns(&self) -> Option<&str> {
        self.0.pronouns.as_deref()
    }

    async fn bio(&self) -> Option<&str> {
        self.0.bio.as_deref()
    }

    async fn tags(&self) -> Vec<String> {
        self.0.tags.iter().map(ToString::to_string).collect()
    }

    async fn tier(&self) -> EnumValue<Tier> {
        EnumValue(self.0.tier)
    }

    async fn roles(&self) -> Vec<EnumValue<Role>> {
        self.0.roles.iter().copied().map(EnumValue).collect()
    }

    async fn is_verified(&self) -> bool {
        self.0.is_verified
    }

    async fn is_private(&self) -> bool {
        self.0.is_private
    }

    /// A temporary address of the profile image.
    async fn profile_image_url(&self, ctx: &Context<'_>) -> Result<Option<Url>, ApiError> {
        match &self.0.profile_image {
            Some(picture) => media::url_for(ctx, &picture.s3_key).await,
            None => Ok(self.0.profile_image_url.clone().map(Url)),
        }
    }

    async fn followers_count(&self, ctx: &Context<'_>) -> Result<u64, ApiError> {
        Ok(self.counts(ctx).await?.followers)
    }

    async fn following_count(&self, ctx: &Context<'_>) -> Result<u64, ApiError> {
        Ok(self.counts(ctx).await?.following)
    }

    async fn posts_count(&self, ctx: &Context<'_>) -> Result<u64, ApiError> {
        Ok(self.counts(ctx).await?.posts)
    }

    /// The experience from quests.
    async fn xp(&self, ctx: &Context<'_>) -> Result<u64, ApiError> {
        Ok(self.counts(ctx).await?.xp)
    }

    /// The level reached with this experience.
    async fn level(&self, ctx: &Context<'_>) -> Result<u64, ApiError> {
        Ok(self.counts(ctx).await?.level())
    }

    async fn actor(&self) -> ActorInfo {
        let user = entities::User::clone(&self.0);
        ActorInfo {
            actor_type: EnumValue(user.actor_type),
            public_key: user.public_key,
            inbox_url: user.inbox_url.map(Url),
            outbox_url: user.outbox_url.map(Url),
            followers_url: user.followers_url.map(Url),
            following_url: user.following_url.map(Url),
            preferred_username: user.preferred_username,
            domain: user.domain,
        }
    }

    /// True if the viewer follows this user and was accepted.
    async fn viewer_follows(&self, ctx: &Context<'_>) -> Result<bool, ApiError> {
        let context = RequestContext::of(ctx)?;
        Ok(context.loaders.load(FollowedByViewerKey(self.0.id.clone())).await?.unwrap_or(false))
    }

    /// True if this user follows the viewer.
    async fn viewer_is_followed_by(&self, ctx: &Context<'_>) -> Result<bool, ApiError> {
        let context = RequestContext::of(ctx)?;
        Ok(context.loaders.load(FollowsViewerKey(self.0.id.clone())).await?.unwrap_or(false))
    }

    async fn followers(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Follow>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        Connection::empty_if_hidden(follows::list_followers(ctx, &self.0.id, paging).await)
    }

    async fn following(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Follow>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        Connection::empty_if_hidden(follows::list_following(ctx, &self.0.id, paging).await)
    }

    /// The user's posts, newest first by default.
    async fn posts(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Post>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        Connection::empty_if_hidden(posts::list_by_author(ctx, &self.0.id, order, paging).await)
    }

    /// The user's likes, newest first.
    async fn likes(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Like>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        Connection::empty_if_hidden(reactions::list_likes_by_user(ctx, &self.0.id, paging).await)
    }

    /// The user's comments, newest first.
    async fn comments(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Comment>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        Connection::empty_if_hidden(comments::list_by_user(ctx, &self.0.id, paging).await)
    }

    /// The user's activities outside groups, newest first.
    async fn activities(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Activity>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let actor = (&self.0.id).into();
        Connection::empty_if_hidden(
            activities::list_by_actor(ctx, &actor, Order::Descending, paging).await,
        )
    }

    /// The user's groups, most recently joined first.
    async fn groups(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Group>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        Connection::empty_if_hidden(groups::list_joined_by(ctx, &self.0.id, paging).await)
    }

    /// The user's goals, visible to the user only.
    async fn goals(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Goal>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        Connection::empty_if_hidden(goals::list_goals(ctx, &self.0.id, paging).await)
    }

    /// The user's quests, newest first, visible to the user only.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn quests(
        &self,
        ctx: &Context<'_>,
        status: Option<EnumValue<QuestStatus>>,
        linked_goal_id: Option<ApiId<GoalId>>,
        linked_task_id: Option<ApiId<TaskId>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Quest>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let filter = QuestFilter {
            status: status.map(|word| word.0),
            linked_goal_id: linked_goal_id.map(|id| id.0),
            linked_task_id: linked_task_id.map(|id| id.0),
        };
        Connection::empty_if_hidden(quests::list_quests(ctx, &self.0.id, filter, paging).await)
    }

    /// Everything the user did or created, newest first by default.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn timeline(
        &self,
        ctx: &Context<'_>,
        entity: Option<EnumValue<EntityKind>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<TimelineEntity>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        let entity = entity.map(|entity| entity.0);
        Connection::empty_if_hidden(
            unions::list_timeline(ctx, &self.0.id, entity, order, paging).await,
        )
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

impl User {
    async fn counts(&self, ctx: &Context<'_>) -> Result<roundtable_domain::UserCounts, ApiError> {
        let counts =
            RequestContext::of(ctx)?.loaders.load(UserCountsKey(self.0.id.clone())).await?;
        Ok(counts.unwrap_or_default())
    }
}

pub(crate) async fn list_blocked(
    ctx: &Context<'_>,
    paging: PageArguments,
) -> Result<Connection<User>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, blocks) = (context.caller()?, context.services().blocks());
    paging.read(ctx, "blocked", async |page| blocks.list(caller, page).await).await
}
