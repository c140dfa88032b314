//! Queries for assist threads.

use async_graphql::{Context, Object};
use roundtable_model::ThreadId;
use roundtable_model::table::Order;

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::ModelSortDirection;
use crate::errors::none_if_hidden;
use crate::request::RequestContext;
use crate::scalars::ApiId;
use crate::types::assistance::{self, AssistMessage, AssistThread};

#[derive(Debug, Default)]
pub(super) struct AssistanceQueries;

#[Object]
impl AssistanceQueries {
    /// An assist thread that the caller takes part in.
    async fn get_assist_thread(
        &self,
        ctx: &Context<'_>,
        id: ApiId<ThreadId>,
    ) -> Result<Option<AssistThread>, ApiError> {
        let context = RequestContext::of(ctx)?;
        let thread = context.services().assistance().thread(context.caller()?, &id.0).await;
        Ok(none_if_hidden(thread.map_err(ApiError::from))?.map(AssistThread))
    }

    /// The assist threads that the caller opened or was asked to help in, newest first.
    async fn list_assist_threads(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<AssistThread>, ApiError> {
        assistance::list_mine(ctx, PageArguments::new(limit, next_token, first, after)).await
    }

    /// The messages of an assist thread, newest first by default.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn list_assist_messages(
        &self,
        ctx: &Context<'_>,
        thread_id: ApiId<ThreadId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<AssistMessage>, ApiError> {
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        let paging = PageArguments::new(limit, next_token, first, after);
        assistance::list_messages(ctx, &thread_id.0, order, paging).await
    }
}
