//! Queries for users, follows and timelines.

use async_graphql::{Context, Object};
use roundtable_model::table::Order;
use roundtable_model::{EntityKind, Handle, Nickname, UserId};

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::{EnumValue, ModelSortDirection};
use crate::request::RequestContext;
use crate::scalars::{ApiId, ApiText, CalendarDate, EmailAddress};
use crate::types::follows::{self, Follow};
use crate::types::unions::{self, TimelineEntity};
use crate::types::users::{User, list_blocked};

#[derive(Debug, Default)]
pub(super) struct UserQueries;

#[Object]
impl UserQueries {
    /// The caller; null if not signed in.
    async fn me(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        let context = RequestContext::of(ctx)?;
        let Some(caller) = context.viewer() else { return Ok(None) };
        Ok(context.services().accounts().me(caller).await?.map(User::from))
    }

    async fn get_user(
        &self,
        ctx: &Context<'_>,
        id: ApiId<UserId>,
    ) -> Result<Option<User>, ApiError> {
        User::load(ctx, &id.0).await
    }

    async fn get_user_by_nickname(
        &self,
        ctx: &Context<'_>,
        nickname: ApiText<Nickname>,
    ) -> Result<Option<User>, ApiError> {
        let context = RequestContext::of(ctx)?;
        let accounts = context.services().accounts();
        Ok(accounts.by_nickname(context.viewer(), &nickname.0).await?.map(User::from))
    }

    /// Same as getUserByNickname: username and nickname are one name.
    async fn get_user_by_username(
        &self,
        ctx: &Context<'_>,
        username: ApiText<Nickname>,
    ) -> Result<Option<User>, ApiError> {
        let context = RequestContext::of(ctx)?;
        let accounts = context.services().accounts();
        Ok(accounts.by_username(context.viewer(), &username.0).await?.map(User::from))
    }

    async fn get_user_by_handle(
        &self,
        ctx: &Context<'_>,
        handle: ApiText<Handle>,
    ) -> Result<Option<User>, ApiError> {
        let context = RequestContext::of(ctx)?;
        let accounts = context.services().accounts();
        Ok(accounts.by_handle(context.viewer(), &handle.0).await?.map(User::from))
    }

    /// For admins, and for the user with this address.
    async fn get_user_by_email(
        &self,
        ctx: &Context<'_>,
        email: EmailAddress,
    ) -> Result<Option<User>, ApiError> {
        let context = RequestContext::of(ctx)?;
        let accounts = context.services().accounts();
        Ok(accounts.by_email(context.viewer(), &email.0).await?.map(User::from))
    }

    /// Everything a user did or created, newest first by default.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn list_user_entities(
        &self,
        ctx: &Context<'_>,
        user_id: ApiId<UserId>,
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
        unions::list_timeline(ctx, &user_id.0, entity, order, paging).await
    }

    /// The follows of a user, by default of the caller.
    async fn list_following(
        &self,
        ctx: &Context<'_>,
        user_id: Option<ApiId<UserId>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Follow>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let user = RequestContext::of(ctx)?.user_or_caller(user_id)?;
        follows::list_following(ctx, &user, paging).await
    }

    /// The followers of a user, by default of the caller.
    async fn list_followers(
        &self,
        ctx: &Context<'_>,
        user_id: Option<ApiId<UserId>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Follow>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let user = RequestContext::of(ctx)?.user_or_caller(user_id)?;
        follows::list_followers(ctx, &user, paging).await
    }

    async fn is_following(
        &self,
        ctx: &Context<'_>,
        follower_id: ApiId<UserId>,
        followee_id: ApiId<UserId>,
    ) -> Result<bool, ApiError> {
        let context = RequestContext::of(ctx)?;
        let follows = context.services().follows();
        Ok(follows.is_following(context.viewer(), &follower_id.0, &followee_id.0).await?)
    }

    /// The follows that began on a day.
    async fn list_follow_activity(
        &self,
        ctx: &Context<'_>,
        date: CalendarDate,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Follow>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        follows::list_on_day(ctx, date.day()?, paging).await
    }

    /// Pending requests to follow the caller.
    async fn list_follow_requests(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Follow>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        follows::list_requests(ctx, paging).await
    }

    /// The users that the caller has blocked.
    async fn list_blocked(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<User>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        list_blocked(ctx, paging).await
    }
}
