//! What waits for an endpoint: parcels of events, in a queue of its own, and the errand to send them.

use data_encoding::HEXLOWER;
use roundtable_domain::{Errand, EventType};
use roundtable_model::entities::{Job, Webhook};
use roundtable_model::table::Change;
use roundtable_model::{Queue, Time, WebhookId};
use sha2::{Digest, Sha256};

use super::watch::Happened;
use crate::Failure;
use crate::jobs::job;

/// Bytes of a hash in an id.
pub(super) const HASH_BYTES: usize = 16;

/// The queue of an endpoint. Nobody works on it but the endpoint's errand.
pub(super) fn queue(webhook: &WebhookId) -> Result<Queue, Failure> {
    Ok(format!("events.{webhook}").parse()?)
}

/// Whether an endpoint is told of an event: it is turned on, asked for it, and was there at that time.
/// DynamoDB tells times to the second.
pub(super) fn is_for(webhook: &Webhook, event: &Happened) -> bool {
    let second = |time: Time| time.ms() / 1000;
    webhook.enabled
        && EventType::is_among(event.kind, &webhook.event_types)
        && second(event.time) >= second(webhook.created_at)
}

/// Events that wait together, known by the first change they follow from, and the errand to send them.
pub(super) fn parcel(
    webhook: &WebhookId,
    first: &Change,
    due: Time,
    events: &[&Happened],
) -> Result<(Job, Job), Failure> {
    let hash = hash([&webhook.to_string(), &first.sequence.to_string(), &first.at_ms.to_string()]);
    // In the order of the stream, also within a millisecond.
    let (digits, short) = (first.sequence.as_str(), hash.get(..HASH_BYTES).unwrap_or(&hash));
    let parcel = job(queue(webhook)?, format!("{digits}-{short}").parse()?, due, &events)?;
    let errand = Errand::Deliver { webhook: webhook.clone() };
    Ok((parcel, job(Errand::QUEUE, hash.parse()?, due, &errand)?))
}

/// A short text for some texts, the same every time.
pub(super) fn hash<const N: usize>(parts: [&str; N]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let hash = hash.finalize();
    HEXLOWER.encode(hash.get(..HASH_BYTES).unwrap_or(&hash))
}
