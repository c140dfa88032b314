//! Asking for feeds: one's own, everybody's, and what somebody did.

use async_graphql::{Context, Object};
use roundtable_model::table::Order;
use roundtable_model::{ActorId, EntityKind, FeedName, ModerationStatus, Tag};

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::scalars::{CalendarDate, Id, Text};
use crate::types::activities::{self, Activity};
use crate::types::feeds::{self, FeedEntry};
use crate::types::posts::{self, Post};
use crate::types::unions::{self, TaggedEntity};
use crate::words::{ModelSortDirection, Word};

/// Queries of feeds.
#[derive(Debug, Default)]
pub(super) struct Feeds;

#[Object]
impl Feeds {
    /// The caller's home feed, the newest first.
    async fn get_feed(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<FeedEntry>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        feeds::home(ctx, paging).await
    }

    /// The posts of everybody, the newest first unless asked otherwise. Those that are not approved are for
    /// moderators.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn list_global_feed(
        &self,
        ctx: &Context<'_>,
        feed_id: Option<Id<FeedName>>,
        moderation_status: Option<Word<ModerationStatus>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Post>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let order = ModelSortDirection::or(sort_direction, Order::Descending);
        let (feed, status) = (feed_id.map(|feed| feed.0), moderation_status.map(|word| word.0));
        posts::global(ctx, feed.as_ref(), status, order, paging).await
    }

    /// The posts of everybody that came out on a day, the newest first unless asked otherwise.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn list_timeline(
        &self,
        ctx: &Context<'_>,
        date: CalendarDate,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Post>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let order = ModelSortDirection::or(sort_direction, Order::Descending);
        posts::on_day(ctx, date.day()?, order, paging).await
    }

    /// The posts people did most with, those with the highest score first.
    async fn list_popular_posts(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Post>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        posts::popular(ctx, paging).await
    }

    /// What a person or a group did, the newest first unless asked otherwise.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn list_activities(
        &self,
        ctx: &Context<'_>,
        actor_id: Id<ActorId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Activity>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let order = ModelSortDirection::or(sort_direction, Order::Descending);
        activities::of(ctx, &actor_id.0, order, paging).await
    }

    /// What carries a tag, of one kind or of all.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn search_by_tag(
        &self,
        ctx: &Context<'_>,
        tag: Text<Tag>,
        entity: Option<Word<EntityKind>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<TaggedEntity>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        unions::tagged(ctx, &tag.0, entity.map(|entity| entity.0), paging).await
    }
}
