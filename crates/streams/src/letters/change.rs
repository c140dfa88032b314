//! A change as a dead letter holds it: who could not process it and which item it is of, to read; and
//! both images, to try again.

use data_encoding::BASE64;
use roundtable_model::entities::DeadLetter;
use roundtable_model::table::{Change, ChangeKind, Item, Key, Sequence};
use roundtable_model::{Json, Processor as Name, StreamShard};
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::processor::entity;

/// Bytes of both images as text: an item holds 400 KiB, and the rest of the letter is small.
const IMAGES_BYTES_MAX: usize = 380 * 1024;
/// Stands for an image that is not there.
const ABSENT: &str = "-";

/// A change that a processor could not process.
#[derive(Clone, Debug)]
pub struct ParkedChange {
    /// The processor.
    pub processor: Name,
    /// The shard of the stream it was read from.
    pub shard: StreamShard,
    /// The type of the entity that changed.
    pub entity: String,
    /// The change. Without images where they were too large to keep; it cannot be redriven then.
    pub change: Change,
}

/// What of it is to be read by people. The images follow in the letter's cursor.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    processor: Name,
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
    pub(super) fn of(processor: &Name, shard: &StreamShard, change: &Change) -> Self {
        Self {
            processor: processor.clone(),
            shard: shard.clone(),
            entity: entity(change).unwrap_or_default().to_owned(),
            change: change.clone(),
        }
    }

    /// Whether its images were kept.
    pub fn is_whole(&self) -> bool {
        self.change.old.is_some() || self.change.new.is_some()
    }

    pub(super) fn write(&self) -> Result<(Json, Option<String>), Failure> {
        let Change { sequence, at_ms, key, old, new, expired } = &self.change;
        let kind = match self.change.kind() {
            ChangeKind::Insert => "insert",
            ChangeKind::Modify => "modify",
            ChangeKind::Remove => "remove",
        };
        let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
        let envelope = Envelope {
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
        Ok((Json::of(&envelope)?, (images.len() <= IMAGES_BYTES_MAX).then_some(images)))
    }

    pub(super) fn read(letter: &DeadLetter) -> Result<Self, Failure> {
        let envelope: Envelope = letter.payload.to()?;
        let (old, new) = match &letter.cursor {
            Some(images) => read_images(images)
                .ok_or_else(|| Failure::broken("the images of a parked change cannot be read"))?,
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
        let Envelope { processor, shard, entity, .. } = envelope;
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
        let (payload, cursor) = parked.write().unwrap();
        let id: JobId = "1".parse().unwrap();
        let queue = Queue::named("stream.counters");
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
        ParkedChange::of(&Name::named("counters"), &"log".parse().unwrap(), &change)
    }

    #[test]
    fn a_change_reads_back_as_it_was_parked() {
        let parked = parked(samples::like().item());
        let read = ParkedChange::read(&letter(&parked)).unwrap();
        assert_eq!(read.change, parked.change);
        assert_eq!((read.entity.as_str(), read.is_whole()), ("Like", true));
    }

    #[test]
    fn images_that_would_not_fit_are_left_out() {
        let parked = parked(samples::like().item().with("note", "x".repeat(390 * 1024)));
        let read = ParkedChange::read(&letter(&parked)).unwrap();
        assert!(!read.is_whole());
        assert_eq!(read.change.key, parked.change.key);
    }
}
