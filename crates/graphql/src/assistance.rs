//! Assist threads and their messages, which only participants see: types, queries and mutations.

use roundtable_graphql_macros::{fields, object};
use roundtable_interface::{ApiError, none_if_hidden};
use roundtable_model::table::Order;
use roundtable_model::{MessageId, RequestId, ThreadId, UserId, entities};

use crate::connection::{Connection, PageArguments};
use crate::enums::ModelSortDirection;
use crate::node::node_id;
use crate::objects::{converted, objects};
use crate::request::RequestContext;

objects! {
    AssistThread of entities::AssistThread;
    AssistMessage of entities::AssistMsg;
}

impl AssistThread {
    /// Returns threads in the order of their ids; `None` where the viewer may not see one.
    pub(crate) async fn load(
        context: &RequestContext,
        ids: &[ThreadId],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let Some(viewer) = context.viewer() else { return Ok(vec![None; ids.len()]) };
        Ok(converted(context.services().assistance().threads(viewer, ids).await?))
    }
}

#[object(of = self.0)]
impl AssistThread {
    fn node_id(&self) -> String {
        node_id("AssistThread", &[&self.0.thread_id])
    }

    fn id(&self) -> &ThreadId {
        &self.0.thread_id
    }
}

impl AssistMessage {
    /// Returns messages in the order of their keys; `None` where the viewer may not see one.
    pub(crate) async fn load(
        context: &RequestContext,
        keys: &[(ThreadId, MessageId)],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let Some(viewer) = context.viewer() else { return Ok(vec![None; keys.len()]) };
        Ok(converted(context.services().assistance().messages_by_id(viewer, keys).await?))
    }
}

#[object(of = self.0)]
impl AssistMessage {
    fn node_id(&self) -> String {
        node_id("AssistMessage", &[&self.0.thread_id, &self.0.id])
    }
}

pub(crate) struct AssistanceQueries;

#[fields(Query)]
impl AssistanceQueries {
    async fn get_assist_thread(
        context: &RequestContext,
        id: ThreadId,
    ) -> Result<Option<AssistThread>, ApiError> {
        let thread = context.services().assistance().thread(context.caller()?, &id).await;
        Ok(none_if_hidden(thread.map_err(ApiError::from))?.map(AssistThread::from))
    }

    async fn list_assist_threads(
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<AssistThread>, ApiError> {
        let (caller, assistance) = (context.caller()?, context.services().assistance());
        let read = async |page: &_| assistance.mine(caller, page).await;
        paging.read(context, "calls for help", read).await
    }

    async fn list_assist_messages(
        context: &RequestContext,
        thread_id: ThreadId,
        paging: PageArguments,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<AssistMessage>, ApiError> {
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        let (caller, assistance) = (context.caller()?, context.services().assistance());
        let list = format!("help in {thread_id}, {order:?}");
        let read = async |page: &_| assistance.messages(caller, &thread_id, order, page).await;
        paging.read(context, &list, read).await
    }
}

pub(crate) struct AssistanceMutations;

#[fields(Mutation)]
impl AssistanceMutations {
    async fn create_assist_thread(
        context: &RequestContext,
        helper_ids: Vec<UserId>,
        request_id: Option<RequestId>,
    ) -> Result<AssistThread, ApiError> {
        let (assistance, caller) = (context.services().assistance(), context.caller()?);
        Ok(assistance.ask(caller, &helper_ids, request_id.as_ref()).await?.into())
    }

    async fn send_assist_message(
        context: &RequestContext,
        thread_id: ThreadId,
        text: String,
        request_id: Option<RequestId>,
    ) -> Result<AssistMessage, ApiError> {
        let (assistance, caller) = (context.services().assistance(), context.caller()?);
        Ok(assistance.send(caller, &thread_id, &text, request_id.as_ref()).await?.into())
    }
}
