//! Endpoints that are told of events, as the API shows them to those who look after them.

use async_graphql::{Context, Object};
use roundtable_domain::NewWebhook;
use roundtable_model::{Secret, WebhookId, entities};

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::request::Asked;
use crate::scalars::{DateTime, Id, Url};

/// An endpoint that is told of events.
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
    async fn id(&self) -> Id<&WebhookId> {
        Id(&self.webhook.id)
    }

    async fn url(&self) -> Url {
        Url(self.webhook.url.clone())
    }

    async fn event_types(&self) -> &[String] {
        &self.webhook.event_types
    }

    /// Whether it is told anything: one that does not listen for long is not.
    async fn enabled(&self) -> bool {
        self.webhook.enabled
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.webhook.created_at)
    }

    /// What messages to it are signed with; only at creation.
    async fn secret(&self) -> Option<&str> {
        self.secret.as_ref().map(Secret::expose)
    }
}

/// All endpoints, the oldest first.
pub(crate) async fn webhooks(
    ctx: &Context<'_>,
    paging: Paging,
) -> Result<Connection<WebhookEndpoint>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, webhooks) = (asked.caller()?, asked.services().webhooks());
    paging.read(ctx, "webhooks", async |page| webhooks.list(caller, page).await).await
}
