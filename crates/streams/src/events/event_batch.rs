//! The delivery progress of a batch of events, saved on the batch itself so that the next webhook
//! job, in any process, continues from there; and the handling of batches that cannot be sent.

use roundtable_domain::{DeliveryProgress, WebhookJob, outbox_queue};
use roundtable_model::entities::{DeadLetter, Job, Webhook};
use roundtable_model::table::{CancelReason, Condition, Error, Transaction};
use roundtable_model::{Entity, Json, Shard, Span, WebhookId};

use super::EventDelivery;
use crate::Result;
use crate::jobs::PageOutcome;

/// Batches removed in one page when their endpoint is disabled or deleted.
const PAGE_CLEARED_MAX: usize = 25;
/// The cursor of a webhook job whose events are in the outbox.
pub(super) const ENQUEUED: &str = "waits";

impl EventDelivery {
    /// Returns the oldest batches of an endpoint's outbox.
    pub(super) async fn oldest_batches(
        &self,
        webhook: &WebhookId,
        limit: usize,
    ) -> Result<Vec<Job>> {
        let queue = outbox_queue(webhook)?;
        let now = self.context.now();
        // The webhook job may be visible a moment before an eventually consistent read shows its
        // batch.
        let due = Span::until(now.plus_ms(1));
        let batches = self.context.ops().jobs_in_shard(&queue, &Shard::ZERO, due);
        Ok(batches.limit(limit).page().await?.items)
    }

    /// Saves the progress of a batch. Returns `None` if the batch has changed since it was read.
    pub(super) async fn save_progress(
        &self,
        batch: &Job,
        progress: DeliveryProgress,
        attempts: u64,
    ) -> Result<Option<Job>> {
        let updated = Job { cursor: Some(progress.to_string()), attempts, ..batch.clone() };
        let patch = batch.key().patch().set(Job::CURSOR, &updated.cursor);
        let patch = patch.set(Job::ATTEMPTS, &attempts).when(is_unchanged(batch));
        match self.context.ops().table().update(patch.into()).await {
            Ok(_) => Ok(Some(updated)),
            Err(Error::ConditionFailed { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a batch that was sent, unless it has changed since it was read.
    pub(super) async fn remove_batch(&self, batch: &Job) -> Result<()> {
        let delete = batch.key().delete().when(is_unchanged(batch));
        match self.context.ops().table().delete(delete).await {
            Ok(_) | Err(Error::ConditionFailed { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Moves a batch that cannot be sent to the dead letters, so that the batches after it
    /// continue.
    pub(super) async fn park_batch(
        &self,
        webhook: &WebhookId,
        batch: &Job,
        reason: &str,
    ) -> Result<PageOutcome> {
        tracing::error!(
            %webhook, batch = %batch.id, reason,
            "events cannot be sent; they were moved to the dead letters"
        );
        let ops = self.context.ops().table();
        let dead_letter = self.dead_letter(webhook, batch, reason)?;
        let delete = batch.key().delete().when(is_unchanged(batch));
        let parked = Transaction::new().with(ops, dead_letter.put()).with(ops, delete);
        self.transact_if_unchanged(parked).await?;
        Ok(PageOutcome::Continue(ENQUEUED.to_owned()))
    }

    /// Empties the outbox of an endpoint: into the dead letters if the endpoint is only disabled.
    /// Each removal requires the endpoint to be still disabled or deleted, so that an endpoint
    /// enabled again keeps its events.
    pub(super) async fn clear_outbox(&self, id: &WebhookId, exists: bool) -> Result<PageOutcome> {
        let ops = self.context.ops().table();
        let batches = self.oldest_batches(id, PAGE_CLEARED_MAX).await?;
        for batch in &batches {
            let delete = batch.key().delete().when(is_unchanged(batch));
            let cleared = Transaction::new().with(ops, delete);
            let cleared = if exists {
                let off = Webhook::at(id).check(Webhook::ENABLED.is(&false));
                let letter = self.dead_letter(id, batch, "the endpoint was disabled")?;
                cleared.with(ops, off).with(ops, letter.put())
            } else {
                cleared.with(ops, Webhook::at(id).absent())
            };
            if !self.transact_if_unchanged(cleared).await? {
                return Ok(PageOutcome::Continue(ENQUEUED.to_owned()));
            }
        }
        Ok(if batches.is_empty() {
            PageOutcome::Done
        } else {
            PageOutcome::Continue(ENQUEUED.to_owned())
        })
    }

    /// Puts a batch that was a dead letter back into the outbox and sends it.
    pub(super) async fn resend(
        &self,
        webhook: &WebhookId,
        batch: &Job,
        job: &Job,
    ) -> Result<PageOutcome> {
        if job.cursor.as_deref() == Some(ENQUEUED) {
            return self.send_page(webhook, job).await;
        }
        if self.context.ops().webhook(webhook).get().await?.is_none() {
            return Ok(PageOutcome::Done);
        }
        self.context.ops().table().put(batch.put()).await?;
        Ok(PageOutcome::Continue(ENQUEUED.to_owned()))
    }

    /// Builds the dead letter of a batch: a webhook job, so that it can be redriven like any job.
    fn dead_letter(&self, webhook: &WebhookId, batch: &Job, reason: &str) -> Result<DeadLetter> {
        let payload = Json::encode(&WebhookJob::Resend {
            webhook: webhook.clone(),
            batch: batch.id.clone(),
            happened: batch.due_at,
            events: batch.payload.decode()?,
        })?;
        let sent =
            DeliveryProgress { sent: DeliveryProgress::read(batch).sent, ..Default::default() };
        Ok(DeadLetter {
            queue: WebhookJob::QUEUE,
            failed_at: self.context.now(),
            id: batch.id.clone(),
            payload,
            cursor: Some(sent.to_string()),
            error: reason.to_owned(),
            attempts: batch.attempts,
            created_at: batch.created_at,
        })
    }

    /// Runs a transaction. Returns `false` if one of its conditions failed.
    async fn transact_if_unchanged(&self, transaction: Transaction) -> Result<bool> {
        let has_failed = |reason: &Option<CancelReason>| {
            matches!(reason, Some(CancelReason::ConditionFailed { .. }))
        };
        match self.context.store().transact(transaction).await {
            Ok(_) => Ok(true),
            Err(Error::Cancelled { reasons }) if reasons.iter().any(has_failed) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn is_unchanged(batch: &Job) -> Condition {
    Job::CURSOR.is(&batch.cursor).and(Job::ATTEMPTS.is(&batch.attempts))
}
