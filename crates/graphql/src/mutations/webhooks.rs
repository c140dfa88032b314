//! Looking after endpoints that are told of events. For admins.

use async_graphql::{Context, Object};
use roundtable_model::WebhookId;

use crate::Refused;
use crate::request::{Asked, Once, once};
use crate::scalars::{Id, Url};
use crate::types::webhooks::WebhookEndpoint;

/// Mutations of endpoints.
#[derive(Debug, Default)]
pub(super) struct Hooking;

#[Object]
impl Hooking {
    /// Makes an endpoint, which is told of these events from now on; * stands for all.
    async fn create_webhook(
        &self,
        ctx: &Context<'_>,
        url: Url,
        event_types: Vec<String>,
    ) -> Result<WebhookEndpoint, Refused> {
        let asked = Asked::of(ctx)?;
        let webhooks = asked.services().webhooks();
        Ok(webhooks.create(asked.caller()?, &url.0, &event_types).await?.into())
    }

    /// Takes an endpoint away; answers with it as it was.
    async fn delete_webhook(
        &self,
        ctx: &Context<'_>,
        id: Id<WebhookId>,
        request_id: Once,
    ) -> Result<WebhookEndpoint, Refused> {
        let asked = Asked::of(ctx)?;
        let webhooks = asked.services().webhooks();
        Ok(webhooks.delete(asked.caller()?, &id.0, once(&request_id)).await?.into())
    }
}
