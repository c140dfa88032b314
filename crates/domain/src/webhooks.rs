//! Webhooks: external endpoints that receive events (R44), created, listed and deleted by admins.
//! [`EVENTS`](crate::EVENTS) lists the events; a processor sends them through [jobs](WebhookJob).
//!
//! The secret of an endpoint is shown once, when it is created; all other answers omit it.

mod address;
mod deliveries;
mod events;
mod public_address;
mod replay;

use async_trait::async_trait;
use data_encoding::BASE64;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Webhook;
use roundtable_model::table::{Table, Write};
use roundtable_model::{
    Entity, InvalidValue, JobId, Json, Queue, RequestId, Secret, Time, WebhookId,
};
use serde::{Deserialize, Serialize};

pub use self::deliveries::{DeliveryProgress, WebhookDelivery, outbox_queue};
pub use self::events::{ALL_EVENTS, DomainEvent, EVENTS, EventType};
pub use self::public_address::is_public;
use crate::access::Permission;
use crate::idempotency::RemovedEntity;
use crate::limits::{WEBHOOK_EVENT_TYPES_MAX, WEBHOOKS_MAX, check_count};
use crate::mutation::AttemptOutcome;
use crate::pages::fill_page;
use crate::{Caller, Context, Page, PageInput, ServiceError, audit, refusals};

/// As the Standard Webhooks specification recommends.
const SECRET_BYTES: usize = 32;
/// As the Standard Webhooks specification requires.
const SECRET_PREFIX: &str = "whsec_";

refusals! {
    WebhookError {
        NoSuchWebhook: NotFound = "there is no such webhook",
        TooMany: Conflict = "the maximum number of webhooks is reached; delete one first",
        StreamTrimmed: BadRequest = "the stream does not reach back that far; choose a later time",
    }
}

#[derive(Clone, Debug)]
pub struct Webhooks {
    context: Context,
}

/// A new endpoint with its secret.
#[derive(Clone, Debug)]
pub struct NewWebhook {
    /// Without the secret.
    pub webhook: Webhook,
    /// Signs the messages; cannot be read again.
    pub secret: Secret,
}

/// A job of [`WebhookJob::QUEUE`] about an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "errand")]
pub enum WebhookJob {
    /// Sends the waiting events.
    Deliver { webhook: WebhookId },
    /// Queues all events again that have happened since `from`.
    Replay { webhook: WebhookId, from: Time },
    /// Queues dead-lettered events again.
    Resend {
        webhook: WebhookId,
        /// The id of the batch.
        #[serde(rename = "parcel")]
        batch: JobId,
        /// The time of the first event.
        happened: Time,
        events: serde_json::Value,
    },
}

impl WebhookJob {
    pub const QUEUE: Queue = Queue::from_static("events");
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookMessage {
    /// The same for every delivery attempt.
    pub id: String,
    /// A `CloudEvent` as JSON.
    pub body: Vec<u8>,
}

#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Makes one delivery attempt.
    async fn send(&self, to: &Webhook, message: &WebhookMessage) -> Result<(), DeliveryError>;
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// The endpoint no longer exists; do not retry.
    #[error("the endpoint answered 410 Gone")]
    Gone,
    /// A retry may help.
    #[error("{0}")]
    Failed(String),
}

#[boxed]
impl Webhooks {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Creates an endpoint that receives these event types, or all for [`ALL_EVENTS`].
    pub async fn create(
        &self,
        caller: &Caller,
        url: &str,
        event_types: &[String],
    ) -> Result<NewWebhook, WebhookError> {
        let mutation = self.context.mutation(caller).await?;
        let staff = mutation.staff(Permission::ManageWebhooks)?;
        address::check(url, self.context.settings().webhooks.local)?;
        let event_types = checked(event_types)?;
        // Concurrent requests may exceed the limit slightly, which is harmless.
        if self.context.ops().webhooks().all().await?.len() >= WEBHOOKS_MAX {
            return Err(WebhookError::TooMany);
        }
        let key = self.context.entropy().bytes::<SECRET_BYTES>();
        let secret = Secret::new(format!("{SECRET_PREFIX}{}", BASE64.encode(&key)));
        let webhook = Webhook {
            id: self.context.ids().next(),
            url: url.to_owned(),
            event_types,
            secret: secret.clone(),
            enabled: true,
            generation: 0,
            owner_id: caller.user_id.clone(),
            created_at: self.context.now(),
        };
        mutation
            .run(async |_, attempt| {
                let (id, action) = (subject(&webhook.id), "createWebhook");
                attempt
                    .commit()
                    .to(self.ops(), "webhook", webhook.create())
                    .with("staff", staff.role_check())
                    .with("audit", audit::entry(&self.context, Some(caller), action, id, None))
                    .finish_or((), |_| Err(ServiceError::Forbidden))
                    .await
            })
            .await?;
        Ok(NewWebhook { webhook: without_secret(webhook), secret })
    }

    /// Lists all endpoints, oldest first.
    pub async fn list(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<Webhook>, WebhookError> {
        self.context.authorize_staff(caller, Permission::ManageWebhooks).await?;
        fill_page(
            page,
            async |limit, after| {
                self.context.ops().webhooks().limit(limit).after(after).page().await
            },
            async |found: Vec<Webhook>| {
                Ok(found.into_iter().map(|each| Some(without_secret(each))).collect())
            },
        )
        .await
    }

    /// Deletes an endpoint and returns it as it was.
    pub async fn delete(
        &self,
        caller: &Caller,
        id: &WebhookId,
        request: Option<&RequestId>,
    ) -> Result<Webhook, WebhookError> {
        let mutation = self.context.mutation(caller).await?;
        let staff = mutation.staff(Permission::ManageWebhooks)?;
        mutation
            .once("deleteWebhook", id, request)?
            .replay(async |RemovedEntity(webhook): RemovedEntity<Webhook>| Ok(webhook))
            .run(async |_, attempt| {
                let webhook = without_secret(self.webhook(id).await?);
                let what = subject(id);
                let entry = audit::entry(&self.context, Some(caller), "deleteWebhook", what, None);
                // The sending job removes the events that wait for it.
                let job = self.job(&WebhookJob::Deliver { webhook: id.clone() })?;
                attempt
                    .commit()
                    .to(self.ops(), "webhook", webhook.key().delete())
                    .to(self.ops(), "job", job.put())
                    .with("staff", staff.role_check())
                    .with("audit", entry)
                    .finish(RemovedEntity(webhook.clone()), webhook)
                    .await
            })
            .await
    }

    pub async fn disable(&self, id: &WebhookId, reason: &str) -> Result<bool, WebhookError> {
        let webhook = self.webhook(id).await?;
        self.disable_if_unchanged(&webhook, reason).await
    }

    /// Disables an endpoint that has failed for too long; returns whether it was enabled. If a
    /// replay has enabled it again since it was read, it stays enabled.
    pub async fn disable_if_unchanged(
        &self,
        read: &Webhook,
        reason: &str,
    ) -> Result<bool, WebhookError> {
        let id = &read.id;
        let detail = Json::encode(&serde_json::json!({ "reason": reason }));
        let detail = detail.map_err(|invalid| ServiceError::Internal(invalid.to_string()))?;
        let off = Webhook::at(id).patch().set(Webhook::ENABLED, &false);
        let as_read = Webhook::ENABLED.is(&true).and(Webhook::GENERATION.is(&read.generation));
        let off = Write::from(off.when(as_read));
        let entry = audit::entry(&self.context, None, "disableWebhook", subject(id), Some(detail));
        self.context
            .retry(async |attempt| {
                attempt
                    .commit()
                    .to(self.ops(), "webhook", off.clone())
                    .with("audit", entry.clone())
                    .finish_or(true, |_| Ok(AttemptOutcome::Done(false)))
                    .await
            })
            .await
    }

    async fn webhook(&self, id: &WebhookId) -> Result<Webhook, WebhookError> {
        let found = self.context.ops().webhook(id).get().await?;
        found.ok_or(WebhookError::NoSuchWebhook)
    }

    fn ops(&self) -> &Table {
        self.context.ops().table()
    }
}

fn without_secret(webhook: Webhook) -> Webhook {
    Webhook { secret: Secret::new(""), ..webhook }
}

fn subject(id: &WebhookId) -> roundtable_model::SubjectId {
    id.recast()
}

/// Removes duplicates and refuses unknown types.
fn checked(types: &[String]) -> Result<Vec<String>, ServiceError> {
    const FIELD: &str = "eventTypes";
    check_count(FIELD, types.len(), WEBHOOK_EVENT_TYPES_MAX)?;
    let mut unique = types.to_vec();
    unique.sort_unstable();
    unique.dedup();
    if unique.is_empty() {
        return Err(ServiceError::bad_input(
            FIELD,
            InvalidValue::new("at least one event type, or *", "none"),
        ));
    }
    let is_known = |name: &str| name == ALL_EVENTS || EventType::named(name).is_some();
    match unique.iter().find(|name| !is_known(name)) {
        None => Ok(unique),
        Some(other) => {
            let found = format!("{:?}", other.chars().take(100).collect::<String>());
            Err(ServiceError::bad_input(
                FIELD,
                InvalidValue::new("event types from docs/EVENTS.md, or *", found),
            ))
        }
    }
}
