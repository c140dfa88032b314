//! Sends an endpoint its pending events in order, one at a time.

use std::time::Duration;

use roundtable_domain::{DeliveryError, DeliveryProgress};
use roundtable_model::entities::{Job, Webhook};
use roundtable_model::{Time, WebhookId};
use tokio::time::Instant;

use super::EventDelivery;
use super::endpoint_locks::EndpointLock;
use super::event_batch::ENQUEUED;
use super::event_sources::PendingEvent;
use crate::Result;
use crate::error::ErrorClass;
use crate::jobs::PageOutcome;

const PAGE_EVENTS_MAX: usize = 20;
/// No event is started later than this in a page, so that a slow endpoint does not delay shutdown.
const PAGE_TIME_MAX: Duration = Duration::from_secs(10);
/// The duration of a claim on a batch. A page ends before: its last event takes at most a minute.
const CLAIM_MS: u64 = 75_000;
/// A failing endpoint is retried with growing delays: 1 s, 4 s, … 17 min, an hour.
const FIRST_WAIT_MS: u64 = 1_000;
const WAIT_MS_MAX: u64 = 60 * 60 * 1000;
/// An endpoint is disabled after failing for this long, and after at least this many attempts: a
/// stopped server does not count against it.
const FAILING_MS_MAX: u64 = 24 * 60 * 60 * 1000;
const ATTEMPTS_MIN: u64 = 8;

enum SendOutcome {
    /// The number of events of the batch that the endpoint has accepted.
    Sent(usize),
    /// The endpoint did not accept the next event.
    Failed(usize, String),
    /// The endpoint reported that it is gone.
    Gone(usize),
    /// The body of the next event cannot be built.
    Undeliverable(usize, String),
}

impl EventDelivery {
    /// Sends one page of an endpoint's outbox.
    pub(super) async fn send_page(&self, id: &WebhookId, job: &Job) -> Result<PageOutcome> {
        let webhook = match self.context.ops().webhook(id).get().await? {
            Some(webhook) if webhook.enabled => webhook,
            other => return self.clear_outbox(id, other.is_some()).await,
        };
        let Some(mut lock) = self.locks.try_lock(id) else { return Ok(PageOutcome::Done) };
        let Some(batch) = self.oldest_batches(id, 1).await?.into_iter().next() else {
            return Ok(if lock.try_release() { PageOutcome::Done } else { check_again() });
        };
        if let Some((until, delay)) =
            DeliveryProgress::read(&batch).remaining_wait(self.context.now())
        {
            return Ok(self.wait_until(job, &lock, until, delay));
        }
        self.send_batch(&webhook, &batch, job, &lock).await
    }

    /// Sends a batch or part of it.
    async fn send_batch(
        &self,
        webhook: &Webhook,
        batch: &Job,
        job: &Job,
        lock: &EndpointLock,
    ) -> Result<PageOutcome> {
        let events: Vec<PendingEvent> = match batch.payload.decode() {
            Ok(events) => events,
            Err(error) => return self.park_batch(&webhook.id, batch, &error.to_string()).await,
        };
        let before = DeliveryProgress::read(batch);
        let claimed = Some(self.context.now().plus_ms(CLAIM_MS));
        let claim = DeliveryProgress { not_before: claimed, ..before };
        let Some(batch) = self.save_progress(batch, claim, batch.attempts).await? else {
            return Ok(check_again());
        };
        match self.send_events(webhook, &events, before.sent).await? {
            SendOutcome::Sent(sent) if sent >= events.len() => self.remove_batch(&batch).await?,
            SendOutcome::Sent(sent) => {
                self.save_progress(&batch, DeliveryProgress { sent, ..Default::default() }, 0)
                    .await?;
            }
            SendOutcome::Failed(sent, reason) => {
                let since = before.failing_since.filter(|_| sent == before.sent);
                let failing_since = Some(since.unwrap_or_else(|| self.context.now()));
                let failing = DeliveryProgress { sent, failing_since, ..Default::default() };
                let attempts = if since.is_some() { batch.attempts + 1 } else { 1 };
                return self
                    .retry_later(webhook, &batch, (failing, attempts, reason), job, lock)
                    .await;
            }
            SendOutcome::Gone(sent) => {
                self.save_progress(&batch, DeliveryProgress { sent, ..Default::default() }, 0)
                    .await?;
                return self
                    .disable_endpoint(webhook, "the endpoint answered that it is gone")
                    .await;
            }
            SendOutcome::Undeliverable(sent, reason) => {
                let stuck = DeliveryProgress { sent, ..Default::default() };
                return match self.save_progress(&batch, stuck, 0).await? {
                    Some(batch) => self.park_batch(&webhook.id, &batch, &reason).await,
                    None => Ok(check_again()),
                };
            }
        }
        Ok(check_again())
    }

    async fn send_events(
        &self,
        webhook: &Webhook,
        events: &[PendingEvent],
        before: usize,
    ) -> Result<SendOutcome> {
        let mut sent = before;
        let started = Instant::now();
        for event in events.iter().skip(before).take(PAGE_EVENTS_MAX) {
            if started.elapsed() >= PAGE_TIME_MAX {
                break;
            }
            let message = match self.bodies.build(event).await {
                Ok(message) => message,
                Err(error) if error.class() == ErrorClass::Other => {
                    return Ok(SendOutcome::Undeliverable(sent, error.to_string()));
                }
                // Save the progress first: the next page meets the error again.
                Err(_) if sent > before => break,
                Err(error) => return Err(error),
            };
            match self.sender.send(webhook, &message).await {
                Ok(()) => sent += 1,
                Err(DeliveryError::Gone) => return Ok(SendOutcome::Gone(sent)),
                Err(DeliveryError::Failed(reason)) => return Ok(SendOutcome::Failed(sent, reason)),
            }
        }
        Ok(SendOutcome::Sent(sent))
    }

    /// Schedules the next attempt at a failing endpoint, or disables it.
    async fn retry_later(
        &self,
        webhook: &Webhook,
        batch: &Job,
        (failing, attempts, reason): (DeliveryProgress, u64, String),
        job: &Job,
        lock: &EndpointLock,
    ) -> Result<PageOutcome> {
        tracing::warn!(
            webhook = %webhook.id, attempts, reason,
            "a webhook endpoint failed; retrying later"
        );
        let now = self.context.now();
        let for_a_day =
            failing.failing_since.is_some_and(|since| since.plus_ms(FAILING_MS_MAX) <= now);
        let delay_ms = retry_delay_ms(attempts);
        let until = now.plus_ms(delay_ms);
        let failing = DeliveryProgress { not_before: Some(until), ..failing }.failed(&reason);
        if self.save_progress(batch, failing, attempts).await?.is_none() {
            return Ok(check_again());
        }
        if for_a_day && attempts >= ATTEMPTS_MIN {
            return self.disable_endpoint(webhook, "the endpoint has failed for a day").await;
        }
        Ok(self.wait_until(job, lock, until, Duration::from_millis(delay_ms)))
    }

    /// Waits until `until`. One webhook job waits on behalf of all.
    fn wait_until(
        &self,
        job: &Job,
        lock: &EndpointLock,
        until: Time,
        delay: Duration,
    ) -> PageOutcome {
        if lock.claim_wait(&job.id, self.context.now(), until) {
            PageOutcome::ContinueLater(ENQUEUED.to_owned(), delay)
        } else {
            PageOutcome::Done
        }
    }

    async fn disable_endpoint(&self, webhook: &Webhook, reason: &str) -> Result<PageOutcome> {
        tracing::error!(
            webhook = %webhook.id, reason,
            "a webhook endpoint was disabled; enable it again once it works"
        );
        self.webhooks.disable_if_unchanged(webhook, reason).await?;
        Ok(check_again())
    }
}

/// Continues with the next batch of the outbox.
fn check_again() -> PageOutcome {
    PageOutcome::Continue(ENQUEUED.to_owned())
}

/// Returns the delay after `attempts` failures.
fn retry_delay_ms(attempts: u64) -> u64 {
    let exponent = u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST_WAIT_MS.saturating_mul(4u64.saturating_pow(exponent)).min(WAIT_MS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_an_hour() {
        let delays: Vec<u64> =
            [0, 1, 2, 3, 6, 7, 8, u64::MAX].map(|attempts| retry_delay_ms(attempts) / 1000).into();
        assert_eq!(delays, [1, 1, 4, 16, 1_024, 3_600, 3_600, 3_600]);
    }
}
