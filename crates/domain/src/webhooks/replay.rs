//! Replays of missed events, as far back as the stream reaches.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Job, Webhook};
use roundtable_model::table::{Sequence, StreamRead, StreamStart};
use roundtable_model::{Entity, JobId, Json, Patch, RequestId, Shard, Time, WebhookId};

use super::{WebhookError, WebhookJob, Webhooks, subject, without_secret};
use crate::access::Permission;
use crate::{Caller, ServiceError, audit};

#[boxed]
impl Webhooks {
    /// Sends all events since `from` again, in the background, and enables a disabled endpoint.
    /// Refused when the stream does not reach back that far.
    pub async fn replay(
        &self,
        caller: &Caller,
        id: &WebhookId,
        from: Time,
        request: Option<&RequestId>,
    ) -> Result<Webhook, WebhookError> {
        let mutation = self.context.mutation(caller).await?;
        let staff = mutation.staff(Permission::ManageWebhooks)?;
        let job = self.job(&WebhookJob::Replay { webhook: id.clone(), from })?;
        let detail = Json::encode(&serde_json::json!({ "from": from }));
        let detail = detail.map_err(|invalid| ServiceError::Internal(invalid.to_string()))?;
        let (action, what) = ("replayWebhook", subject(id));
        let entry = audit::entry(&self.context, Some(caller), action, what, Some(detail));
        mutation
            .once(action, &(id, from), request)?
            .replay(async |(): ()| Ok(without_secret(self.webhook(id).await?)))
            .run(async |_, attempt| {
                let webhook = self.webhook(id).await?;
                if !self.stream_covers(from).await? {
                    return Err(WebhookError::StreamTrimmed);
                }
                attempt
                    .commit()
                    .to(self.ops(), "webhook", enabling(&webhook))
                    .to(self.ops(), "job", job.put())
                    .with("staff", staff.role_check())
                    .with("audit", entry.clone())
                    .finish((), without_secret(enabled(webhook)))
                    .await
            })
            .await
    }

    /// Enables a disabled endpoint, which then receives events from now on. What waited for it when it was
    /// disabled is among the dead letters. Repeating it has no effect.
    pub async fn enable(
        &self,
        caller: &Caller,
        id: &WebhookId,
        request: Option<&RequestId>,
    ) -> Result<Webhook, WebhookError> {
        let mutation = self.context.mutation(caller).await?;
        let staff = mutation.staff(Permission::ManageWebhooks)?;
        let action = "enableWebhook";
        let entry = audit::entry(&self.context, Some(caller), action, subject(id), None);
        mutation
            .once(action, id, request)?
            .replay(async |(): ()| Ok(without_secret(self.webhook(id).await?)))
            .run(async |_, attempt| {
                let webhook = self.webhook(id).await?;
                if webhook.enabled {
                    return attempt.unchanged((), without_secret(webhook)).await;
                }
                attempt
                    .commit()
                    .to(self.ops(), "webhook", enabling(&webhook))
                    .with("staff", staff.role_check())
                    .with("audit", entry.clone())
                    .finish((), without_secret(enabled(webhook)))
                    .await
            })
            .await
    }

    /// Returns whether the stream contains all changes since `from`: it begins earlier, or nothing
    /// has been trimmed.
    async fn stream_covers(&self, from: Time) -> Result<bool, ServiceError> {
        let table = self.context.core().table();
        let mut oldest: Option<(Time, bool)> = None;
        let shards = table.stream_shards().await?;
        // A parent that is not listed has been trimmed.
        let is_listed = |id: &String| shards.iter().any(|existing| existing.id == *id);
        for shard in shards.iter().filter(|each| !each.parent.as_ref().is_some_and(is_listed)) {
            let (shard, start) = (shard.id.clone(), StreamStart::Oldest);
            let read = StreamRead::new(shard, start).limit(1);
            let page = table.stream_read(read).await?;
            if let Some(change) = page.changes.first() {
                let is_complete = change.sequence <= Sequence::from(1);
                let found = (Time::from_ms(change.at_ms), is_complete);
                oldest = Some(oldest.map_or(found, |existing| existing.min(found)));
            }
        }
        Ok(oldest.is_none_or(|(at, is_complete)| is_complete || at <= from))
    }

    pub(super) fn job(&self, job: &WebhookJob) -> Result<Job, ServiceError> {
        let payload =
            Json::encode(job).map_err(|invalid| ServiceError::Internal(invalid.to_string()))?;
        let now = self.context.now();
        Ok(Job {
            queue: WebhookJob::QUEUE,
            shard: Shard::ZERO,
            due_at: now,
            id: self.context.ids().next::<JobId>(),
            payload,
            cursor: None,
            attempts: 0,
            created_at: now,
        })
    }
}

fn enabled(webhook: Webhook) -> Webhook {
    Webhook { enabled: true, generation: webhook.generation + 1, ..webhook }
}

fn enabling(webhook: &Webhook) -> Patch<Webhook> {
    webhook.key().patch().set(Webhook::ENABLED, &true).add(Webhook::GENERATION, 1)
}
