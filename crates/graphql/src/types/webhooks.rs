//! The GraphQL type of webhook endpoints, which only admins see.

use async_graphql::{Context, Object};
use roundtable_domain::NewWebhook;
use roundtable_model::{Secret, WebhookId, entities};

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime, Url};

#[derive(Debug)]
pub(crate) struct WebhookEndpoint {
    webhook: entities::Webhook,
    secret: Option<Secret>,
}

impl From<entities::Webhook> for WebhookEndpoint {
    fn from(webhook: entities::Webhook) -> Self {
        Self { webhook, secret: None }
    }
}

impl From<NewWebhook> for WebhookEndpoint {
    fn from(new: NewWebhook) -> Self {
        Self { webhook: new.webhook, secret: Some(new.secret) }
    }
}

#[Object]
impl WebhookEndpoint {
    async fn id(&self) -> ApiId<&WebhookId> {
        ApiId(&self.webhook.id)
    }

    async fn url(&self) -> Url {
        Url(self.webhook.url.clone())
    }

    async fn event_types(&self) -> &[String] {
        &self.webhook.event_types
    }

    /// False after deliveries have failed for long; the endpoint then receives nothing.
    async fn enabled(&self) -> bool {
        self.webhook.enabled
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.webhook.created_at)
    }

    /// The secret that signs deliveries; only at creation.
    async fn secret(&self) -> Option<&str> {
        self.secret.as_ref().map(Secret::expose)
    }
}

pub(crate) async fn list_webhooks(
    ctx: &Context<'_>,
    paging: PageArguments,
) -> Result<Connection<WebhookEndpoint>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, webhooks) = (context.caller()?, context.services().webhooks());
    paging.read(ctx, "webhooks", async |page| webhooks.list(caller, page).await).await
}
