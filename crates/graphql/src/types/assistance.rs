//! GraphQL types of assist threads, which only their participants see.

use async_graphql::{Context, ID, Object};
use roundtable_model::table::Order;
use roundtable_model::{MessageId, ThreadId, UserId, entities};

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime};

#[derive(Clone, Debug)]
pub(crate) struct AssistThread(pub(crate) entities::AssistThread);

impl From<entities::AssistThread> for AssistThread {
    fn from(thread: entities::AssistThread) -> Self {
        Self(thread)
    }
}

#[Object]
impl AssistThread {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("AssistThread", &[&self.0.thread_id.to_string()])
    }

    async fn id(&self) -> ApiId<&ThreadId> {
        ApiId(&self.0.thread_id)
    }

    /// The user who asked for help.
    async fn user_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.user_id)
    }

    /// The helpers that the viewer may see.
    async fn helper_ids(&self) -> Vec<ApiId<&UserId>> {
        self.0.helper_ids.iter().map(ApiId).collect()
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct AssistMessage(pub(crate) entities::AssistMsg);

impl From<entities::AssistMsg> for AssistMessage {
    fn from(message: entities::AssistMsg) -> Self {
        Self(message)
    }
}

#[Object]
impl AssistMessage {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("AssistMessage", &[&self.0.thread_id.to_string(), &self.0.id.to_string()])
    }

    async fn id(&self) -> ApiId<&MessageId> {
        ApiId(&self.0.id)
    }

    async fn thread_id(&self) -> ApiId<&ThreadId> {
        ApiId(&self.0.thread_id)
    }

    async fn user_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.user_id)
    }

    async fn text(&self) -> &str {
        &self.0.text
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

pub(crate) async fn list_mine(
    ctx: &Context<'_>,
    paging: PageArguments,
) -> Result<Connection<AssistThread>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, assistance) = (context.caller()?, context.services().assistance());
    paging.read(ctx, "calls for help", async |page| assistance.mine(caller, page).await).await
}

pub(crate) async fn list_messages(
    ctx: &Context<'_>,
    thread: &ThreadId,
    order: Order,
    paging: PageArguments,
) -> Result<Connection<AssistMessage>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, assistance) = (context.caller()?, context.services().assistance());
    let list = format!("help in {thread}, {order:?}");
    let read = async |page: &_| assistance.messages(caller, thread, order, page).await;
    paging.read(ctx, &list, read).await
}
