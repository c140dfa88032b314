//! Calls for help, as those who have a part in them see them.

use async_graphql::{Context, ID, Object};
use roundtable_model::table::Order;
use roundtable_model::{MessageId, ThreadId, UserId, entities};

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{DateTime, Id};

/// A call for help, between one person and their helpers.
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

    async fn id(&self) -> Id<&ThreadId> {
        Id(&self.0.thread_id)
    }

    /// Who asks.
    async fn user_id(&self) -> Id<&UserId> {
        Id(&self.0.user_id)
    }

    /// Who was asked, as far as the viewer may see them.
    async fn helper_ids(&self) -> Vec<Id<&UserId>> {
        self.0.helper_ids.iter().map(Id).collect()
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

/// Something said in a call for help.
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

    async fn id(&self) -> Id<&MessageId> {
        Id(&self.0.id)
    }

    async fn thread_id(&self) -> Id<&ThreadId> {
        Id(&self.0.thread_id)
    }

    async fn user_id(&self) -> Id<&UserId> {
        Id(&self.0.user_id)
    }

    async fn text(&self) -> &str {
        &self.0.text
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

/// The calls for help that the caller has a part in.
pub(crate) async fn mine(
    ctx: &Context<'_>,
    paging: Paging,
) -> Result<Connection<AssistThread>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, assistance) = (asked.caller()?, asked.services().assistance());
    paging.read(ctx, "calls for help", async |page| assistance.mine(caller, page).await).await
}

/// What was said in one.
pub(crate) async fn messages(
    ctx: &Context<'_>,
    thread: &ThreadId,
    order: Order,
    paging: Paging,
) -> Result<Connection<AssistMessage>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, assistance) = (asked.caller()?, asked.services().assistance());
    let list = format!("help in {thread}, {order:?}");
    let read = async |page: &_| assistance.messages(caller, thread, order, page).await;
    paging.read(ctx, &list, read).await
}
