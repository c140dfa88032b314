//! What endpoints outside are told, about everything that ever happened.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_domain::{Deliver, Outgoing, Undelivered, Webhooks};
use roundtable_model::entities::Webhook;
use roundtable_model::{Role, Time};
use roundtable_streams::Setup;
use roundtable_testkit::Hidden;

use crate::reads::Told;

/// Takes everything, and remembers it.
#[derive(Debug, Default)]
struct Listener(Mutex<Vec<Told>>);

#[async_trait]
impl Deliver for Listener {
    async fn deliver(&self, _: &Webhook, message: &Outgoing) -> Result<(), Undelivered> {
        let text = String::from_utf8(message.body.clone()).unwrap();
        self.0.lock().push(Told { by: String::from("an event"), text });
        Ok(())
    }
}

/// Everything that an endpoint hears of a town, when it is told everything again.
pub(crate) async fn events(hidden: &Hidden) -> Vec<Told> {
    let (town, listener) = (&hidden.town, Arc::new(Listener::default()));
    let ada = town.employ("ada", Role::Admin).await;
    let webhooks = Webhooks::new(town.ground().clone());
    let all = [String::from("*")];
    let made = webhooks.create(&ada, "https://example.com/", &all).await.unwrap();
    webhooks.replay(&ada, &made.webhook.id, Time::from_ms(0)).await.unwrap();
    let setup = Setup::everything_at_once(town.ground()).telling(listener.clone());
    setup.build().drain().await.unwrap();
    std::mem::take(&mut listener.0.lock())
}
