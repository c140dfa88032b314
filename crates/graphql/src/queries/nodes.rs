//! Asking for anything by its global id.

use async_graphql::{Context, ID, Object};
use futures::future::try_join_all;

use crate::Refused;
use crate::node::{Node, find};

/// Global ids of one question, at most.
const NODES_MAX: usize = 100;

/// Queries of anything.
#[derive(Debug, Default)]
pub(super) struct Nodes;

#[Object]
impl Nodes {
    /// Whatever has this global id, if the viewer may see it.
    async fn node(&self, ctx: &Context<'_>, node_id: ID) -> Result<Option<Node>, Refused> {
        find(ctx, &node_id).await
    }

    /// Whatever has these global ids, each in its place; at most 100.
    async fn nodes(
        &self,
        ctx: &Context<'_>,
        node_ids: Vec<ID>,
    ) -> Result<Vec<Option<Node>>, Refused> {
        if node_ids.len() > NODES_MAX {
            return Err(Refused::bad("nodeIds: expected 100 at most"));
        }
        try_join_all(node_ids.iter().map(|id| find(ctx, id))).await
    }
}
