//! Asking for calls for help.

use async_graphql::{Context, Object};
use roundtable_model::ThreadId;
use roundtable_model::table::Order;

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::refusal::if_seen;
use crate::request::Asked;
use crate::scalars::Id;
use crate::types::assistance::{self, AssistMessage, AssistThread};
use crate::words::ModelSortDirection;

/// Queries of calls for help.
#[derive(Debug, Default)]
pub(super) struct Assistance;

#[Object]
impl Assistance {
    /// A call for help that the caller has a part in.
    async fn get_assist_thread(
        &self,
        ctx: &Context<'_>,
        id: Id<ThreadId>,
    ) -> Result<Option<AssistThread>, Refused> {
        let asked = Asked::of(ctx)?;
        let thread = asked.services().assistance().thread(asked.caller()?, &id.0).await;
        Ok(if_seen(thread.map_err(Refused::from))?.map(AssistThread))
    }

    /// The calls for help that the caller has a part in, asking or asked, the latest first.
    async fn list_assist_threads(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<AssistThread>, Refused> {
        assistance::mine(ctx, Paging::new(limit, next_token, first, after)).await
    }

    /// What was said in a call for help, the newest first unless asked otherwise.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn list_assist_messages(
        &self,
        ctx: &Context<'_>,
        thread_id: Id<ThreadId>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<AssistMessage>, Refused> {
        let order = ModelSortDirection::or(sort_direction, Order::Descending);
        let paging = Paging::new(limit, next_token, first, after);
        assistance::messages(ctx, &thread_id.0, order, paging).await
    }
}
