//! Asking for help, and giving it.

use async_graphql::{Context, Object};
use roundtable_model::{ThreadId, UserId};

use crate::Refused;
use crate::request::{Asked, Once, once};
use crate::scalars::Id;
use crate::types::assistance::{AssistMessage, AssistThread};

/// Mutations of calls for help.
#[derive(Debug, Default)]
pub(super) struct Assisting;

#[Object]
impl Assisting {
    /// Asks people for help.
    async fn create_assist_thread(
        &self,
        ctx: &Context<'_>,
        helper_ids: Vec<Id<UserId>>,
        request_id: Once,
    ) -> Result<AssistThread, Refused> {
        let asked = Asked::of(ctx)?;
        let helpers: Vec<UserId> = helper_ids.into_iter().map(|id| id.0).collect();
        let assistance = asked.services().assistance();
        Ok(assistance.ask(asked.caller()?, &helpers, once(&request_id)).await?.into())
    }

    /// Says something in a call for help.
    async fn send_assist_message(
        &self,
        ctx: &Context<'_>,
        thread_id: Id<ThreadId>,
        text: String,
        request_id: Once,
    ) -> Result<AssistMessage, Refused> {
        let asked = Asked::of(ctx)?;
        let (assistance, caller) = (asked.services().assistance(), asked.caller()?);
        Ok(assistance.send(caller, &thread_id.0, &text, once(&request_id)).await?.into())
    }
}
