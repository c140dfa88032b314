//! All events that webhooks receive.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_domain::{DeliveryError, WebhookMessage, WebhookSender, Webhooks};
use roundtable_model::entities::Webhook;
use roundtable_model::{Role, Time};
use roundtable_streams::RunnerBuilder;
use roundtable_testkit::SecretTown;

use crate::reads::Observation;

/// Records all messages.
#[derive(Debug, Default)]
struct Listener(Mutex<Vec<Observation>>);

#[async_trait]
impl WebhookSender for Listener {
    async fn send(&self, _: &Webhook, message: &WebhookMessage) -> Result<(), DeliveryError> {
        let text = String::from_utf8(message.body.clone()).unwrap();
        self.0.lock().push(Observation { by: String::from("an event"), text });
        Ok(())
    }
}

/// Replays all events to an endpoint and returns what it received.
pub(crate) async fn events(secrets: &SecretTown) -> Vec<Observation> {
    let (town, listener) = (&secrets.town, Arc::new(Listener::default()));
    let ada = town.grant_role("ada", Role::Admin).await;
    let webhooks = Webhooks::new(town.context().clone());
    let all = [String::from("*")];
    let made = webhooks.create(&ada, "https://example.com/", &all).await.unwrap();
    webhooks.replay(&ada, &made.webhook.id, Time::from_ms(0), None).await.unwrap();
    let setup = RunnerBuilder::with_all_processors_undelayed(town.context())
        .with_webhook_sender(listener.clone());
    setup.build().drain().await.unwrap();
    std::mem::take(&mut listener.0.lock())
}
