//! Delivers events to webhook endpoints. Each has its own client, connections and key, and only public
//! addresses are reached.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use parking_lot::Mutex;
use roundtable_domain::{DeliveryError, WebhookMessage, WebhookSender, WebhookSettings};
use roundtable_model::WebhookId;
use roundtable_model::entities::Webhook;
use roundtable_model::table::Clock;

use crate::targets::AllowedTargets;
use crate::{HookConfigError, HookMessage, WebhookClient};

/// The default time-out of an endpoint.
pub const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);
/// Cached clients: a few more than there may be endpoints.
const CLIENTS_MAX: usize = 64;
/// The content type that the CloudEvents specification prescribes.
const CLOUD_EVENT: HeaderValue =
    HeaderValue::from_static("application/cloudevents+json; charset=utf-8");

pub struct HttpWebhookSender {
    limit: Duration,
    targets: AllowedTargets,
    clock: Arc<dyn Clock>,
    clients: Mutex<HashMap<WebhookId, (String, WebhookClient)>>,
}

impl HttpWebhookSender {
    pub fn new(limit: Duration, clock: Arc<dyn Clock>) -> Self {
        Self { limit, targets: AllowedTargets::Public, clock, clients: Mutex::default() }
    }

    /// Applies the installation's settings for webhooks.
    #[must_use]
    pub fn with_settings(self, settings: &WebhookSettings) -> Self {
        let targets = if settings.local { AllowedTargets::Any } else { AllowedTargets::Public };
        Self { targets, ..self }
    }

    fn client(&self, webhook: &Webhook) -> Result<WebhookClient, HookConfigError> {
        if let Some((url, client)) = self.clients.lock().get(&webhook.id)
            && *url == webhook.url
        {
            return Ok(client.clone());
        }
        let clock = Arc::clone(&self.clock);
        let (secret, limit) = (Some(&webhook.secret), self.limit);
        let client = WebhookClient::with_targets(self.targets, &webhook.url, secret, limit, clock)?;
        let client = client.with_content_type(CLOUD_EVENT);
        let mut clients = self.clients.lock();
        if clients.len() >= CLIENTS_MAX {
            // Most belong to deleted endpoints; the others are created again.
            clients.clear();
        }
        clients.insert(webhook.id.clone(), (webhook.url.clone(), client.clone()));
        Ok(client)
    }
}

impl fmt::Debug for HttpWebhookSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpWebhookSender").field("limit", &self.limit).finish_non_exhaustive()
    }
}

#[async_trait]
impl WebhookSender for HttpWebhookSender {
    async fn send(&self, webhook: &Webhook, message: &WebhookMessage) -> Result<(), DeliveryError> {
        let failed = |error: &dyn fmt::Display| DeliveryError::Failed(error.to_string());
        let client = self.client(webhook).map_err(|error| failed(&error))?;
        let message = HookMessage { id: message.id.clone(), body: message.body.clone().into() };
        match client.notify(&message).await.map_err(|error| failed(&error))? {
            status if status.is_success() => Ok(()),
            StatusCode::GONE => Err(DeliveryError::Gone),
            status => Err(DeliveryError::Failed(format!("the endpoint responded with {status}"))),
        }
    }
}
