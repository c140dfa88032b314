//! A change as stored in a dead letter: a readable envelope with the processor and the item, and
//! both images for another attempt.

use data_encoding::BASE64;
use roundtable_model::entities::DeadLetter;
use roundtable_model::table::{Change, ChangeKind, Item, Key, Sequence};
use roundtable_model::{Json, ProcessorName, StreamShard};
use serde::{Deserialize, Serialize};

use crate::processor::entity_type;
use crate::{ProcessingError, Result};

/// Bytes of both images as text. An item holds 400 KiB, and the rest of the dead letter is small.
const IMAGES_BYTES_MAX: usize = 380 * 1024;
/// Stands for an absent image.
const ABSENT: &str = "-";

#[derive(Clone, Debug)]
pub struct ParkedChange {
    pub processor: ProcessorName,
    pub shard: StreamShard,
    pub entity: String,
    /// The change, without images if they were too large to keep. It cannot be redriven then.
    pub change: Change,
}

/// The readable part. The images are in the dead letter's cursor.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChangeEnvelope {
    processor: ProcessorName,
    shard: StreamShard,
    sequence: String,
    entity: String,
    kind: String,
    partition: String,
    sort: String,
    at_ms: u64,
    expired: bool,
}

impl ParkedChange {
    pub(super) fn new(processor: &ProcessorName, shard: &StreamShard, change: &Change) -> Self {
        Self {
            processor: processor.clone(),
            shard: shard.clone(),
            entity: entity_type(change).unwrap_or_default().to_owned(),
            change: change.clone(),
        }
    }

    /// Returns whether its images were kept.
    pub fn has_images(&self) -> bool {
        self.change.old.is_some() || self.change.new.is_some()
    }

    pub(super) fn encode(&self) -> Result<(Json, Option<String>)> {
        let Change { sequence, at_ms, key, old, new, expired } = &self.change;
        let kind = match self.change.kind() {
            ChangeKind::Insert => "insert",
            ChangeKind::Modify => "modify",
            ChangeKind::Remove => "remove",
        };
        let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
        let envelope = ChangeEnvelope {
            processor: self.processor.clone(),
            shard: self.shard.clone(),
            sequence: sequence.as_str().to_owned(),
            entity: self.entity.clone(),
            kind: kind.to_owned(),
            partition: text(key.partition.as_text()),
            sort: text(key.sort.as_ref().and_then(|sort| sort.as_text())),
            at_ms: *at_ms,
            expired: *expired,
        };
        let image = |image: &Option<Item>| {
            image.as_ref().map_or_else(|| ABSENT.to_owned(), |item| BASE64.encode(item.as_stored()))
        };
        let images = format!("{} {}", image(old), image(new));
        Ok((Json::encode(&envelope)?, (images.len() <= IMAGES_BYTES_MAX).then_some(images)))
    }

    pub(super) fn decode(letter: &DeadLetter) -> Result<Self> {
        let envelope: ChangeEnvelope = letter.payload.decode()?;
        let (old, new) = match &letter.cursor {
            Some(images) => read_images(images).ok_or_else(|| {
                ProcessingError::unprocessable("the images of a parked change cannot be read")
            })?,
            None => (None, None),
        };
        let sequence = Sequence::parse(&envelope.sequence);
        let change = Change {
            sequence: sequence.map_err(roundtable_model::table::Error::from)?,
            at_ms: envelope.at_ms,
            key: Key::new(envelope.partition, envelope.sort),
            old,
            new,
            expired: envelope.expired,
        };
        let ChangeEnvelope { processor, shard, entity, .. } = envelope;
        Ok(Self { processor, shard, entity, change })
    }
}

fn read_images(text: &str) -> Option<(Option<Item>, Option<Item>)> {
    let (old, new) = text.split_once(' ')?;
    let image = |text: &str| match text {
        ABSENT => Some(None),
        text => {
            let bytes = BASE64.decode(text.as_bytes()).ok()?;
            Item::from_stored(bytes.into()).map(Some)
        }
    };
    Some((image(old)?, image(new)?))
}

#[cfg(test)]
mod tests {
    use roundtable_model::{Entity, JobId, Queue, Time, samples};

    use super::*;

    fn letter(parked: &ParkedChange) -> DeadLetter {
        let (payload, cursor) = parked.encode().unwrap();
        let id: JobId = "1".parse().unwrap();
        let queue = Queue::from_static("stream.counters");
        let (failed_at, created_at) = (Time::EPOCH, Time::EPOCH);
        let (error, attempts) = (String::new(), 1);
        DeadLetter { queue, failed_at, id, payload, cursor, error, attempts, created_at }
    }

    fn parked(new: Item) -> ParkedChange {
        let change = Change {
            sequence: Sequence::from(7),
            at_ms: 5,
            key: samples::like().key().into_key(),
            old: None,
            new: Some(new),
            expired: false,
        };
        ParkedChange::new(&ProcessorName::from_static("counters"), &"log".parse().unwrap(), &change)
    }

    #[test]
    fn a_parked_change_round_trips() {
        let parked = parked(samples::like().item());
        let read = ParkedChange::decode(&letter(&parked)).unwrap();
        assert_eq!(read.change, parked.change);
        assert_eq!((read.entity.as_str(), read.has_images()), ("Like", true));
    }

    #[test]
    fn images_that_are_too_large_are_omitted() {
        let parked = parked(samples::like().item().with("note", "x".repeat(390 * 1024)));
        let read = ParkedChange::decode(&letter(&parked)).unwrap();
        assert!(!read.has_images());
        assert_eq!(read.change.key, parked.change.key);
    }
}
