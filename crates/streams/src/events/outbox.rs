//! The outbox of an endpoint: batches of events in a queue of its own, and the webhook job that
//! sends them.

use data_encoding::HEXLOWER;
use roundtable_domain::{EventType, WebhookJob, outbox_queue};
use roundtable_model::entities::{Job, Webhook};
use roundtable_model::table::Change;
use roundtable_model::{JobId, Time, WebhookId};
use sha2::{Digest, Sha256};

use super::event_sources::PendingEvent;
use crate::Result;
use crate::jobs::new_job;

const HASH_BYTES: usize = 16;

/// Returns whether an endpoint receives an event: it is enabled, subscribed to the type, and
/// existed at that time. DynamoDB reports times to the second.
pub(super) fn is_wanted_by(webhook: &Webhook, event: &PendingEvent) -> bool {
    webhook.enabled
        && EventType::is_subscribed(&event.kind, &webhook.event_types)
        && event.time >= truncate_to_second(webhook.created_at)
}

/// Truncates a time to the precision of DynamoDB streams.
pub(super) const fn truncate_to_second(time: Time) -> Time {
    Time::from_ms(time.ms() / 1000 * 1000)
}

/// Creates the job that holds a batch of events and the webhook job that sends it. Their ids follow
/// from the first change, the events, and the replay that requested them, if any. Events delivered
/// again in other portions are stored next to the existing batches and never replace them.
pub(super) fn new_batch(
    webhook: &WebhookId,
    first: &Change,
    due: Time,
    events: &[&PendingEvent],
    replay: Option<&JobId>,
) -> Result<(Job, Job)> {
    let (hook, at, replay) =
        (webhook.to_string(), first.at_ms.to_string(), replay.map(JobId::to_string));
    let first = first.sequence.as_str();
    let identity = [hook.as_str(), first, &at, replay.as_deref().unwrap_or_default()];
    let ids = events.iter().map(|event| event.id.as_str());
    let hash = hash(identity.into_iter().chain(ids));
    // Sorted in stream order, also within a millisecond. An id has no room for the whole hash.
    let short = hash.get(..HASH_BYTES).unwrap_or(&hash);
    let id = format!("{first}-{short}").parse()?;
    let webhook_job = WebhookJob::Deliver { webhook: webhook.clone() };
    let events_job = new_job(outbox_queue(webhook)?, id, due, &events)?;
    Ok((events_job, new_job(WebhookJob::QUEUE, hash.parse()?, due, &webhook_job)?))
}

/// Returns a short, stable hash of some texts.
pub(super) fn hash<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let hash = hash.finalize();
    HEXLOWER.encode(hash.get(..HASH_BYTES).unwrap_or(&hash))
}
