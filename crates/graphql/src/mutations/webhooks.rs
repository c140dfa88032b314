//! Mutations of webhook endpoints, for admins.

use async_graphql::{Context, Object};
use roundtable_model::WebhookId;

use crate::ApiError;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::{ApiId, Url};
use crate::types::webhooks::WebhookEndpoint;

#[derive(Debug, Default)]
pub(super) struct WebhookMutations;

#[Object]
impl WebhookMutations {
    /// Creates an endpoint that receives these events from now on; * stands for all events.
    async fn create_webhook(
        &self,
        ctx: &Context<'_>,
        url: Url,
        event_types: Vec<String>,
    ) -> Result<WebhookEndpoint, ApiError> {
        let context = RequestContext::of(ctx)?;
        let webhooks = context.services().webhooks();
        Ok(webhooks.create(context.caller()?, &url.0, &event_types).await?.into())
    }

    /// Deletes an endpoint and returns it as it was.
    async fn delete_webhook(
        &self,
        ctx: &Context<'_>,
        id: ApiId<WebhookId>,
        request_id: RequestIdArg,
    ) -> Result<WebhookEndpoint, ApiError> {
        let context = RequestContext::of(ctx)?;
        let webhooks = context.services().webhooks();
        Ok(webhooks.delete(context.caller()?, &id.0, id_ref(&request_id)).await?.into())
    }
}
