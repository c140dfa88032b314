//! Queries for feeds: the home feed, the global feed, activities and tags.

use async_graphql::{Context, Object};
use roundtable_model::table::Order;
use roundtable_model::{ActorId, EntityKind, FeedName, ModerationStatus, Tag};

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::{EnumValue, ModelSortDirection};
use crate::scalars::{ApiId, ApiText, CalendarDate};
use crate::types::activities::{self, Activity};
use crate::types::feeds::{self, FeedEntry};
use crate::types::posts::{self, Post};
use crate::types::unions::{self, TaggedEntity};

#[derive(Debug, Default)]
pub(super) struct FeedQueries;

#[Object]
impl FeedQueries {
    /// The caller's home feed, newest first.
    async fn get_feed(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<FeedEntry>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        feeds::home_feed(ctx, paging).await
    }

    /// The posts of all users, newest first by default. Only moderators see posts that are not approved.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn list_global_feed(
        &self,
        ctx: &Context<'_>,
        feed_id: Option<ApiId<FeedName>>,
        moderation_status: Option<EnumValue<ModerationStatus>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Post>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        let (feed, status) = (feed_id.map(|feed| feed.0), moderation_status.map(|word| word.0));
        posts::list_global(ctx, feed.as_ref(), status, order, paging).await
    }

    /// The posts of all users that were published on a day, newest first by default.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn list_timeline(
        &self,
        ctx: &Context<'_>,
        date: CalendarDate,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Post>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        posts::list_on_day(ctx, date.day()?, order, paging).await
    }

    /// The posts with the highest engagement score, best first.
    async fn list_popular_posts(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Post>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        posts::list_popular(ctx, paging).await
    }

    /// The activities of a user or a group, newest first by default.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn list_activities(
        &self,
        ctx: &Context<'_>,
        actor_id: ApiId<ActorId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Activity>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        activities::list_by_actor(ctx, &actor_id.0, order, paging).await
    }

    /// Everything with a tag, or only entities of one kind.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn search_by_tag(
        &self,
        ctx: &Context<'_>,
        tag: ApiText<Tag>,
        entity: Option<EnumValue<EntityKind>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<TaggedEntity>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        unions::list_tagged(ctx, &tag.0, entity.map(|entity| entity.0), paging).await
    }
}
