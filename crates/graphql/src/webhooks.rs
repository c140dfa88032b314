//! Webhook endpoints, which only admins see and change.

use std::sync::Arc;

use roundtable_domain::NewWebhook;
use roundtable_graphql_macros::{fields, object};
use roundtable_interface::ApiError;
use roundtable_model::{RequestId, Secret, WebhookId, entities};

use crate::connection::{Connection, PageArguments};
use crate::request::RequestContext;
use crate::scalars::Url;

#[derive(Clone, Debug)]
pub(crate) struct WebhookEndpoint {
    webhook: Arc<entities::Webhook>,
    /// Known only at creation.
    secret: Option<Secret>,
}

impl From<entities::Webhook> for WebhookEndpoint {
    fn from(webhook: entities::Webhook) -> Self {
        Self { webhook: Arc::new(webhook), secret: None }
    }
}

impl From<NewWebhook> for WebhookEndpoint {
    fn from(NewWebhook { webhook, secret }: NewWebhook) -> Self {
        Self { webhook: Arc::new(webhook), secret: Some(secret) }
    }
}

#[object(of = self.webhook)]
impl WebhookEndpoint {
    fn secret(&self) -> Option<&str> {
        self.secret.as_ref().map(Secret::expose)
    }
}

pub(crate) struct WebhookQueries;

#[fields(Query)]
impl WebhookQueries {
    async fn list_webhooks(
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<WebhookEndpoint>, ApiError> {
        let (caller, webhooks) = (context.caller()?, context.services().webhooks());
        paging.read(context, "webhooks", async |page| webhooks.list(caller, page).await).await
    }
}

pub(crate) struct WebhookMutations;

#[fields(Mutation)]
impl WebhookMutations {
    async fn create_webhook(
        context: &RequestContext,
        url: Url,
        event_types: Vec<String>,
    ) -> Result<WebhookEndpoint, ApiError> {
        let (webhooks, caller) = (context.services().webhooks(), context.caller()?);
        Ok(webhooks.create(caller, &url.0, &event_types).await?.into())
    }

    async fn delete_webhook(
        context: &RequestContext,
        id: WebhookId,
        request_id: Option<RequestId>,
    ) -> Result<WebhookEndpoint, ApiError> {
        let (webhooks, caller) = (context.services().webhooks(), context.caller()?);
        Ok(webhooks.delete(caller, &id, request_id.as_ref()).await?.into())
    }
}
