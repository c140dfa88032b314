//! Queries for objects by their global ids.

use async_graphql::{Context, ID, Object};
use futures::future::try_join_all;

use crate::ApiError;
use crate::node::{Node, load_node};

/// The most global ids of one query.
const NODES_MAX: usize = 100;

#[derive(Debug, Default)]
pub(super) struct NodeQueries;

#[Object]
impl NodeQueries {
    /// The object with this global id, if the viewer may see it.
    async fn node(&self, ctx: &Context<'_>, node_id: ID) -> Result<Option<Node>, ApiError> {
        load_node(ctx, &node_id).await
    }

    /// The objects with these global ids, in the same order; at most 100.
    async fn nodes(
        &self,
        ctx: &Context<'_>,
        node_ids: Vec<ID>,
    ) -> Result<Vec<Option<Node>>, ApiError> {
        if node_ids.len() > NODES_MAX {
            return Err(ApiError::bad_request("nodeIds: expected at most 100"));
        }
        try_join_all(node_ids.iter().map(|id| load_node(ctx, id))).await
    }
}
