//! Mutations of assist threads.

use async_graphql::{Context, Object};
use roundtable_model::{ThreadId, UserId};

use crate::ApiError;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::ApiId;
use crate::types::assistance::{AssistMessage, AssistThread};

#[derive(Debug, Default)]
pub(super) struct AssistanceMutations;

#[Object]
impl AssistanceMutations {
    /// Opens an assist thread with these helpers.
    async fn create_assist_thread(
        &self,
        ctx: &Context<'_>,
        helper_ids: Vec<ApiId<UserId>>,
        request_id: RequestIdArg,
    ) -> Result<AssistThread, ApiError> {
        let context = RequestContext::of(ctx)?;
        let helpers: Vec<UserId> = helper_ids.into_iter().map(|id| id.0).collect();
        let assistance = context.services().assistance();
        Ok(assistance.ask(context.caller()?, &helpers, id_ref(&request_id)).await?.into())
    }

    /// Sends a message to an assist thread.
    async fn send_assist_message(
        &self,
        ctx: &Context<'_>,
        thread_id: ApiId<ThreadId>,
        text: String,
        request_id: RequestIdArg,
    ) -> Result<AssistMessage, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (assistance, caller) = (context.services().assistance(), context.caller()?);
        Ok(assistance.send(caller, &thread_id.0, &text, id_ref(&request_id)).await?.into())
    }
}
