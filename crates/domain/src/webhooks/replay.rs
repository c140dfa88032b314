//! Telling an endpoint again what it has missed, as far as the stream still knows it.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Job, Webhook};
use roundtable_model::table::{Sequence, StreamRead, StreamStart};
use roundtable_model::{Entity, JobId, Json, Shard, Time, WebhookId};

use super::{Errand, WebhookError, Webhooks, shown, subject};
use crate::access::Act;
use crate::accounts::staff::Official;
use crate::once::Tried;
use crate::{Caller, Failure, audit};

#[boxed]
impl Webhooks {
    /// Tells an endpoint again what happened since then, in the background; one that was given up is
    /// told from now on again. Refused when the stream does not reach back that far.
    pub async fn replay(
        &self,
        caller: &Caller,
        id: &WebhookId,
        from: Time,
    ) -> Result<Webhook, WebhookError> {
        let me = self.ground.account(caller).await?;
        let official = Official::new(caller, me);
        official.may(Act::ManageWebhooks)?;
        let webhook = self.webhook(id).await?;
        if !self.reaches_back_to(from).await? {
            return Err(WebhookError::Forgotten);
        }
        let errand = self.errand(&Errand::Replay { webhook: id.clone(), from })?;
        let detail = Json::of(&serde_json::json!({ "from": from }));
        let detail = detail.map_err(|misfit| Failure::Internal(misfit.to_string()))?;
        let entry =
            audit::entry(&self.ground, Some(caller), "replayWebhook", subject(id), Some(detail));
        let on = webhook.key().patch().set(Webhook::ENABLED, &true).add(Webhook::GENERATION, 1);
        let commit = self.ground.commit().to(self.ops(), "webhook", on);
        let commit = commit.to(self.ops(), "errand", errand.put());
        let commit = commit.with("official", official.check_office()).with("audit", entry);
        match commit.done(shown(on_again(webhook))).await? {
            Tried::Done(webhook) => Ok(webhook),
            Tried::Again => Err(WebhookError::NoSuchWebhook),
        }
    }

    /// Whether the stream holds everything that happened since then: it begins before, or nothing of
    /// it has been forgotten.
    async fn reaches_back_to(&self, from: Time) -> Result<bool, Failure> {
        let table = self.ground.core().table();
        let mut oldest: Option<(Time, bool)> = None;
        let shards = table.stream_shards().await?;
        // A parent that is not listed has been forgotten.
        let is_listed = |id: &String| shards.iter().any(|known| known.id == *id);
        for shard in shards.iter().filter(|each| !each.parent.as_ref().is_some_and(is_listed)) {
            let (shard, start) = (shard.id.clone(), StreamStart::Oldest);
            let read = StreamRead::new(shard, start).limit(1);
            let page = table.stream_read(read).await?;
            if let Some(change) = page.changes.first() {
                let whole = change.sequence <= Sequence::from(1);
                let found = (Time::from_ms(change.at_ms), whole);
                oldest = Some(oldest.map_or(found, |known| known.min(found)));
            }
        }
        Ok(oldest.is_none_or(|(at, whole)| whole || at <= from))
    }

    /// The job of an errand.
    pub(super) fn errand(&self, errand: &Errand) -> Result<Job, Failure> {
        let payload = Json::of(errand).map_err(|misfit| Failure::Internal(misfit.to_string()))?;
        let now = self.ground.now();
        Ok(Job {
            queue: Errand::QUEUE,
            shard: Shard::ZERO,
            due_at: now,
            id: self.ground.ids().next::<JobId>(),
            payload,
            cursor: None,
            attempts: 0,
            created_at: now,
        })
    }
}

/// An endpoint that somebody has turned on.
fn on_again(webhook: Webhook) -> Webhook {
    Webhook { enabled: true, generation: webhook.generation + 1, ..webhook }
}
