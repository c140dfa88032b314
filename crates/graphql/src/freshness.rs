//! What is looked up is kept until a query is answered, and no longer: after a change, and as long as
//! somebody listens, everything is looked up anew.

use std::any::TypeId;
use std::sync::Arc;

use async_graphql::Request;
use async_graphql::ServerResult;
use async_graphql::extensions::{
    Extension, ExtensionContext, ExtensionFactory, NextPrepareRequest,
};
use async_graphql::parser::types::OperationType;
use async_trait::async_trait;

use crate::request::Asked;

/// Sees to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Freshness;

impl ExtensionFactory for Freshness {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(*self)
    }
}

#[async_trait]
impl Extension for Freshness {
    async fn prepare_request(
        &self,
        ctx: &ExtensionContext<'_>,
        request: Request,
        next: NextPrepareRequest<'_>,
    ) -> ServerResult<Request> {
        let mut request = next.run(ctx, request).await?;
        let document = request.parsed_query()?;
        let only_looks =
            document.operations.iter().all(|(_, it)| it.node.ty == OperationType::Query);
        let asked = request.data.get(&TypeId::of::<Arc<Asked>>());
        if let Some(asked) = asked.and_then(|asked| asked.downcast_ref::<Arc<Asked>>())
            && !only_looks
        {
            asked.load.keep_nothing();
        }
        Ok(request)
    }
}
