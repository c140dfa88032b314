//! What waits for an endpoint: parcels of events, in a queue of its own, and the errand to send them.

use data_encoding::HEXLOWER;
use roundtable_domain::{Errand, EventType};
use roundtable_model::entities::{Job, Webhook};
use roundtable_model::table::Change;
use roundtable_model::{JobId, Queue, Time, WebhookId};
use sha2::{Digest, Sha256};

use super::watch::Happened;
use crate::Failure;
use crate::jobs::job;

/// Bytes of a hash in an id.
const HASH_BYTES: usize = 16;

/// The queue of an endpoint. Nobody works on it but the endpoint's errand.
pub(super) fn queue(webhook: &WebhookId) -> Result<Queue, Failure> {
    Ok(format!("events.{webhook}").parse()?)
}

/// Whether an endpoint is told of an event: it is turned on, asked for it, and was there at that time.
/// DynamoDB tells times to the second.
pub(super) fn is_for(webhook: &Webhook, event: &Happened) -> bool {
    webhook.enabled
        && EventType::is_asked_for(&event.kind, &webhook.event_types)
        && event.time >= to_the_second(webhook.created_at)
}

/// A time as a stream may tell it.
pub(super) const fn to_the_second(time: Time) -> Time {
    Time::from_ms(time.ms() / 1000 * 1000)
}

/// Events that wait together, and the errand to send them. They are known by the first change they follow
/// from, by what they are, and by the replay that asked for them, if one did: what comes again in other
/// portions waits beside what waits already, and never in its place.
pub(super) fn parcel(
    webhook: &WebhookId,
    first: &Change,
    due: Time,
    events: &[&Happened],
    replay: Option<&JobId>,
) -> Result<(Job, Job), Failure> {
    let (hook, at, replay) =
        (webhook.to_string(), first.at_ms.to_string(), replay.map(JobId::to_string));
    let first = first.sequence.as_str();
    let known = [hook.as_str(), first, &at, replay.as_deref().unwrap_or_default()];
    let ids = events.iter().map(|event| event.id.as_str());
    let hash = hash(known.into_iter().chain(ids));
    // In the order of the stream, also within a millisecond; an id has no room for all of the hash.
    let short = hash.get(..HASH_BYTES).unwrap_or(&hash);
    let id = format!("{first}-{short}").parse()?;
    let errand = Errand::Deliver { webhook: webhook.clone() };
    let parcel = job(queue(webhook)?, id, due, &events)?;
    Ok((parcel, job(Errand::QUEUE, hash.parse()?, due, &errand)?))
}

/// A short text for some texts, the same every time.
pub(super) fn hash<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let hash = hash.finalize();
    HEXLOWER.encode(hash.get(..HASH_BYTES).unwrap_or(&hash))
}
