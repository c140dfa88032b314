//! Brings events to the endpoints that asked for them: each has a courier of its own, with its own
//! connections and its own key, and goes nowhere but to the internet.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use parking_lot::Mutex;
use roundtable_domain::{Deliver, Outgoing, Undelivered, WebhookSettings};
use roundtable_model::WebhookId;
use roundtable_model::entities::Webhook;
use roundtable_model::table::Clock;

use crate::reach::Reach;
use crate::{Courier, Message, Misconfigured};

/// How long an endpoint may take, unless configured otherwise.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Couriers kept: a few more than there may be endpoints.
const COURIERS_MAX: usize = 64;
/// What is sent, as the specification of `CloudEvents` calls it.
const CLOUD_EVENT: HeaderValue =
    HeaderValue::from_static("application/cloudevents+json; charset=utf-8");

/// Brings events to endpoints.
pub struct Deliverer {
    patience: Duration,
    reach: Reach,
    clock: Arc<dyn Clock>,
    couriers: Mutex<HashMap<WebhookId, (String, Courier)>>,
}

impl Deliverer {
    /// One that waits so long for an answer, connecting and all.
    pub fn new(patience: Duration, clock: Arc<dyn Clock>) -> Self {
        Self { patience, reach: Reach::Public, clock, couriers: Mutex::default() }
    }

    /// One that brings events where the settings allow.
    #[must_use]
    pub fn allowing(self, settings: &WebhookSettings) -> Self {
        let reach = if settings.local { Reach::Everything } else { Reach::Public };
        Self { reach, ..self }
    }

    fn courier(&self, to: &Webhook) -> Result<Courier, Misconfigured> {
        if let Some((url, courier)) = self.couriers.lock().get(&to.id)
            && *url == to.url
        {
            return Ok(courier.clone());
        }
        let clock = Arc::clone(&self.clock);
        let (secret, patience) = (Some(&to.secret), self.patience);
        let courier = Courier::reaching(self.reach, &to.url, secret, patience, clock)?;
        let courier = courier.speaking(CLOUD_EVENT);
        let mut couriers = self.couriers.lock();
        if couriers.len() >= COURIERS_MAX {
            // Of endpoints that are gone, most of them; the others are made again.
            couriers.clear();
        }
        couriers.insert(to.id.clone(), (to.url.clone(), courier.clone()));
        Ok(courier)
    }
}

impl fmt::Debug for Deliverer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deliverer").field("patience", &self.patience).finish_non_exhaustive()
    }
}

#[async_trait]
impl Deliver for Deliverer {
    async fn deliver(&self, to: &Webhook, message: &Outgoing) -> Result<(), Undelivered> {
        let failed = |why: &dyn fmt::Display| Undelivered::Failed(why.to_string());
        let courier = self.courier(to).map_err(|error| failed(&error))?;
        let message = Message { id: message.id.clone(), body: message.body.clone().into() };
        match courier.tell(&message).await.map_err(|error| failed(&error))? {
            status if status.is_success() => Ok(()),
            StatusCode::GONE => Err(Undelivered::Gone),
            status => Err(Undelivered::Failed(format!("the endpoint answered {status}"))),
        }
    }
}
