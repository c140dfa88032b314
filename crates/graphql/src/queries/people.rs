//! Asking for people, who follows whom, and what somebody did and made.

use async_graphql::{Context, Object};
use roundtable_model::table::Order;
use roundtable_model::{EntityKind, Handle, Nickname, UserId};

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::request::Asked;
use crate::scalars::{CalendarDate, EmailAddress, Id, Text};
use crate::types::follows::{self, Follow};
use crate::types::unions::{self, TimelineEntity};
use crate::types::users::{User, blocked};
use crate::words::{ModelSortDirection, Word};

/// Queries of people.
#[derive(Debug, Default)]
pub(super) struct People;

#[Object]
impl People {
    /// Who asks; null when nobody is signed in.
    async fn me(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
        let asked = Asked::of(ctx)?;
        let Some(caller) = asked.viewer() else { return Ok(None) };
        Ok(asked.services().accounts().me(caller).await?.map(User::from))
    }

    async fn get_user(&self, ctx: &Context<'_>, id: Id<UserId>) -> Result<Option<User>, Refused> {
        User::load(ctx, &id.0).await
    }

    async fn get_user_by_nickname(
        &self,
        ctx: &Context<'_>,
        nickname: Text<Nickname>,
    ) -> Result<Option<User>, Refused> {
        let asked = Asked::of(ctx)?;
        let accounts = asked.services().accounts();
        Ok(accounts.by_nickname(asked.viewer(), &nickname.0).await?.map(User::from))
    }

    /// As getUserByNickname: it is the same name.
    async fn get_user_by_username(
        &self,
        ctx: &Context<'_>,
        username: Text<Nickname>,
    ) -> Result<Option<User>, Refused> {
        let asked = Asked::of(ctx)?;
        let accounts = asked.services().accounts();
        Ok(accounts.by_username(asked.viewer(), &username.0).await?.map(User::from))
    }

    async fn get_user_by_handle(
        &self,
        ctx: &Context<'_>,
        handle: Text<Handle>,
    ) -> Result<Option<User>, Refused> {
        let asked = Asked::of(ctx)?;
        let accounts = asked.services().accounts();
        Ok(accounts.by_handle(asked.viewer(), &handle.0).await?.map(User::from))
    }

    /// For admins, and for whoever it is.
    async fn get_user_by_email(
        &self,
        ctx: &Context<'_>,
        email: EmailAddress,
    ) -> Result<Option<User>, Refused> {
        let asked = Asked::of(ctx)?;
        let accounts = asked.services().accounts();
        Ok(accounts.by_email(asked.viewer(), &email.0).await?.map(User::from))
    }

    /// Everything somebody did and made, the newest first unless asked otherwise.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn list_user_entities(
        &self,
        ctx: &Context<'_>,
        user_id: Id<UserId>,
        entity: Option<Word<EntityKind>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<TimelineEntity>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let order = ModelSortDirection::or(sort_direction, Order::Descending);
        let entity = entity.map(|entity| entity.0);
        unions::timeline(ctx, &user_id.0, entity, order, paging).await
    }

    /// Whom somebody follows: the caller, unless somebody else is meant.
    async fn list_following(
        &self,
        ctx: &Context<'_>,
        user_id: Option<Id<UserId>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Follow>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let user = Asked::of(ctx)?.meant(user_id)?;
        follows::following(ctx, &user, paging).await
    }

    /// Who follows somebody: the caller, unless somebody else is meant.
    async fn list_followers(
        &self,
        ctx: &Context<'_>,
        user_id: Option<Id<UserId>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Follow>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let user = Asked::of(ctx)?.meant(user_id)?;
        follows::followers(ctx, &user, paging).await
    }

    async fn is_following(
        &self,
        ctx: &Context<'_>,
        follower_id: Id<UserId>,
        followee_id: Id<UserId>,
    ) -> Result<bool, Refused> {
        let asked = Asked::of(ctx)?;
        let follows = asked.services().follows();
        Ok(follows.is_following(asked.viewer(), &follower_id.0, &followee_id.0).await?)
    }

    /// Who followed whom on a day.
    async fn list_follow_activity(
        &self,
        ctx: &Context<'_>,
        date: CalendarDate,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Follow>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        follows::of_day(ctx, date.day()?, paging).await
    }

    /// Who has asked to follow the caller.
    async fn list_follow_requests(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Follow>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        follows::requests(ctx, paging).await
    }

    /// Whom the caller has blocked.
    async fn list_blocked(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<User>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        blocked(ctx, paging).await
    }
}
