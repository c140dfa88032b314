//! Webhook endpoints, which only admins see and change.

use std::sync::Arc;

use roundtable_domain::{NewWebhook, WebhookDelivery};
use roundtable_graphql_macros::{fields, object};
use roundtable_interface::ApiError;
use roundtable_model::{RequestId, Secret, Time, WebhookId, entities};

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

/// A batch of events that waits for an endpoint.
#[derive(Clone, Debug)]
pub(crate) struct PendingDelivery(Arc<WebhookDelivery>);

impl From<WebhookDelivery> for PendingDelivery {
    fn from(delivery: WebhookDelivery) -> Self {
        Self(Arc::new(delivery))
    }
}

#[object(of = self.0)]
impl PendingDelivery {
    fn sent(&self) -> usize {
        self.0.progress.sent
    }

    fn failing_since(&self) -> Option<Time> {
        self.0.progress.failing_since
    }

    fn next_attempt_at(&self) -> Option<Time> {
        self.0.progress.not_before
    }

    fn error(&self) -> Option<&str> {
        self.0.progress.reason.as_deref()
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

    async fn list_webhook_deliveries(
        context: &RequestContext,
        webhook_id: WebhookId,
        paging: PageArguments,
    ) -> Result<Connection<PendingDelivery>, ApiError> {
        let (caller, webhooks) = (context.caller()?, context.services().webhooks());
        let list = format!("deliveries of {webhook_id}");
        let read = async |page: &_| webhooks.deliveries(caller, &webhook_id, page).await;
        paging.read(context, &list, read).await
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

    async fn enable_webhook(
        context: &RequestContext,
        id: WebhookId,
        request_id: Option<RequestId>,
    ) -> Result<WebhookEndpoint, ApiError> {
        let (webhooks, caller) = (context.services().webhooks(), context.caller()?);
        Ok(webhooks.enable(caller, &id, request_id.as_ref()).await?.into())
    }

    async fn replay_webhook(
        context: &RequestContext,
        id: WebhookId,
        from: Time,
        request_id: Option<RequestId>,
    ) -> Result<WebhookEndpoint, ApiError> {
        let (webhooks, caller) = (context.services().webhooks(), context.caller()?);
        Ok(webhooks.replay(caller, &id, from, request_id.as_ref()).await?.into())
    }
}
