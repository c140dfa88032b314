//! What operators see and do: the totals and the backlog of the server, and its dead letters.

use roundtable_domain::{DeadLetterName, ServiceError};
use roundtable_graphql_macros::{fields, object};
use roundtable_interface::ApiError;
use roundtable_model::{RequestId, entities};

use crate::connection::{Connection, PageArguments};
use crate::objects::objects;
use crate::request::RequestContext;

/// The number of dead letters that are retried by default, and at most.
const REDRIVE_DEFAULT: i32 = 100;
const REDRIVE_MAX: i32 = 10_000;

/// Totals of the server, and the backlog of its stream processors.
#[derive(Debug)]
pub(crate) struct Stats {
    users: u64,
    posts: u64,
    activities: u64,
    fanout_queue_depth: u64,
    dlq_depth: u64,
    stream_lag_ms: u64,
}

#[object(of = self)]
impl Stats {}

objects! {
    DeadLetter of entities::DeadLetter;
}

#[object(of = self.0)]
impl DeadLetter {
    fn name(&self) -> String {
        DeadLetterName::from(&*self.0).to_string()
    }

    fn queue(&self) -> String {
        self.0.queue.to_string()
    }
}

pub(crate) struct OperationQueries;

#[fields(Query)]
impl OperationQueries {
    async fn stats(context: &RequestContext) -> Result<Stats, ApiError> {
        let totals = context.services().statistics().totals(context.caller()?).await?;
        let backlog = context.services().streams.backlog().await?;
        Ok(Stats {
            users: totals.users,
            posts: totals.posts,
            activities: totals.activities,
            fanout_queue_depth: backlog.fanout_queue_depth,
            dlq_depth: backlog.dlq_depth,
            stream_lag_ms: backlog.stream_lag_ms,
        })
    }

    async fn list_dead_letters(
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<DeadLetter>, ApiError> {
        let services = context.services();
        services.accounts().check_operator(context.caller()?).await?;
        let read = async |page: &_| services.streams.dead_letters(page).await;
        paging.read(context, "dead letters", read).await
    }
}

pub(crate) struct OperationMutations;

#[fields(Mutation)]
impl OperationMutations {
    async fn redrive_dead_letters(
        context: &RequestContext,
        max: Option<i32>,
    ) -> Result<usize, ApiError> {
        let services = context.services();
        services.accounts().check_operator(context.caller()?).await?;
        let max = max.unwrap_or(REDRIVE_DEFAULT);
        let max = usize::try_from(max).ok().filter(|_| (1..=REDRIVE_MAX).contains(&max));
        let max = max.ok_or_else(|| ApiError::bad_request("max: expected 1 to 10000"))?;
        services.streams.redrive(max).await
    }

    async fn discard_dead_letter(
        context: &RequestContext,
        name: String,
        request_id: Option<RequestId>,
    ) -> Result<bool, ApiError> {
        let (dead_letters, caller) = (context.services().dead_letters(), context.caller()?);
        let parsed: Result<DeadLetterName, _> = name.parse();
        let name = parsed.map_err(|invalid| ServiceError::bad_input("name", invalid))?;
        dead_letters.discard(caller, &name, request_id.as_ref()).await?;
        Ok(true)
    }
}
