//! The events that wait for an endpoint, in batches, and the progress of their delivery.

use std::fmt;
use std::time::Duration;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Job;
use roundtable_model::{InvalidValue, JobId, Queue, Shard, Span, Time, WebhookId};
use serde::Deserialize;

use super::{WebhookError, Webhooks};
use crate::access::Permission;
use crate::pages::fill_page;
use crate::{Caller, Page, PageInput, ServiceError};

/// The longest text that is kept of a failure.
const REASON_CHARS_MAX: usize = 300;

/// The progress of a batch, stored in its cursor. Consecutive failures are counted in its attempts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryProgress {
    /// The number of events that the endpoint has accepted.
    pub sent: usize,
    /// The first failure since the endpoint last accepted an event.
    pub failing_since: Option<Time>,
    /// No delivery is attempted before this time: the endpoint is backing off, or another job is
    /// sending.
    pub not_before: Option<Time>,
    /// The last failure since the endpoint last accepted an event.
    pub reason: Option<String>,
}

/// A batch of events that an endpoint has not accepted yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDelivery {
    pub id: JobId,
    /// The type of each event, in the order in which they are sent.
    pub event_types: Vec<String>,
    pub progress: DeliveryProgress,
    /// Failed attempts since the endpoint last accepted an event.
    pub attempts: u64,
    /// The time of the first event.
    pub happened_at: Time,
}

/// The part of an event that is shown.
#[derive(Deserialize)]
struct WaitingEvent {
    #[serde(rename = "type")]
    kind: String,
}

/// Returns the queue of an endpoint's events. Only the endpoint's webhook jobs work on it.
pub fn outbox_queue(webhook: &WebhookId) -> Result<Queue, InvalidValue> {
    format!("events.{webhook}").parse()
}

#[boxed]
impl Webhooks {
    /// Lists the batches of events that wait for an endpoint, oldest first.
    pub async fn deliveries(
        &self,
        caller: &Caller,
        id: &WebhookId,
        page: &PageInput,
    ) -> Result<Page<WebhookDelivery>, WebhookError> {
        self.context.authorize_staff(caller, Permission::ManageWebhooks).await?;
        self.webhook(id).await?;
        let queue = outbox_queue(id).map_err(|invalid| ServiceError::bad_input("id", invalid))?;
        fill_page(
            page,
            async |limit, after| {
                let ops = self.context.ops();
                let batches = ops.jobs_in_shard(&queue, &Shard::ZERO, Span::ALL);
                batches.limit(limit).after(after).page().await
            },
            async |batches: Vec<Job>| Ok(batches.iter().map(WebhookDelivery::of).collect()),
        )
        .await
    }
}

impl WebhookDelivery {
    /// Returns nothing for a batch that another version has written in another form.
    fn of(batch: &Job) -> Option<Self> {
        let events: Vec<WaitingEvent> = batch.payload.decode().ok()?;
        Some(Self {
            id: batch.id.clone(),
            event_types: events.into_iter().map(|event| event.kind).collect(),
            progress: DeliveryProgress::read(batch),
            attempts: batch.attempts,
            happened_at: batch.due_at,
        })
    }
}

impl DeliveryProgress {
    /// An unreadable cursor counts as no progress: events are then sent again.
    pub fn read(batch: &Job) -> Self {
        let mut parts = batch.cursor.as_deref().unwrap_or_default().splitn(4, '/');
        let mut part = || parts.next().unwrap_or_default();
        let sent = part().parse().unwrap_or_default();
        let mut time = || part().parse().ok().map(Time::from_ms);
        let (failing_since, not_before) = (time(), time());
        let reason = Some(part()).filter(|reason| !reason.is_empty()).map(str::to_owned);
        Self { sent, failing_since, not_before, reason }
    }

    /// Records a failure.
    #[must_use]
    pub fn failed(self, reason: &str) -> Self {
        Self { reason: Some(reason.chars().take(REASON_CHARS_MAX).collect()), ..self }
    }

    /// Returns the end of the wait and its remaining duration, if there is one.
    pub fn remaining_wait(&self, now: Time) -> Option<(Time, Duration)> {
        let until = self.not_before.filter(|until| *until > now)?;
        Some((until, Duration::from_millis(until.ms() - now.ms())))
    }
}

impl fmt::Display for DeliveryProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |time: Option<Time>| time.map(|time| time.ms().to_string()).unwrap_or_default();
        let Self { sent, failing_since, not_before, reason } = self;
        write!(f, "{sent}/{}/{}", ms(*failing_since), ms(*not_before))?;
        reason.iter().try_for_each(|reason| write!(f, "/{reason}"))
    }
}

#[cfg(test)]
mod tests {
    use roundtable_model::samples;

    use super::*;

    #[test]
    fn progress_round_trips_through_its_cursor() {
        let time = |ms| Some(Time::from_ms(ms));
        let read = |cursor: String| {
            DeliveryProgress::read(&Job { cursor: Some(cursor), ..samples::job() })
        };
        let failing =
            DeliveryProgress { sent: 3, failing_since: time(5), not_before: time(9), reason: None };
        for progress in [
            DeliveryProgress::default(),
            DeliveryProgress { sent: 20, ..Default::default() },
            failing.clone(),
            failing.failed("HTTP/1.1 answered 503 / try later"),
            DeliveryProgress { not_before: time(9), ..Default::default() },
        ] {
            assert_eq!(read(progress.to_string()), progress);
        }
        assert_eq!(read(String::from("nonsense")), DeliveryProgress::default());
    }
}
