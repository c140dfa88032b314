//! The record format of the log, which the stream serves and recovery replays.
//!
//! ```text
//! record  := len:u32le crc:u32le payload               len counts the payload
//! payload := group:u64le first:u64le at_ms:u64le flags:u8 changes:u32le rows:u32le change* row*
//! change  := table:u16le flags:u8 [old] [new]          image := len:u32le stored item
//! new     := image, or a delta against the new image of the previous change
//! row     := key value                                 blob := len:u32le bytes; u32::MAX: absent
//! ```
//! The n-th change has sequence `first + n`; a record without changes still takes one sequence. Rows
//! are the engine's metadata (table definitions, transaction tokens, stream holds): durable with the
//! record, invisible in the stream. The checksum covers the length, too.

mod image_delta;

use bytes::Bytes;
use roundtable_table::{Item, limits};

use self::image_delta::ImageDelta;

/// Bytes of the length and the checksum.
pub(crate) const HEADER_BYTES: usize = 8;
/// No record is longer: a transaction's old and new images, with room to spare.
pub(crate) const RECORD_BYTES_MAX: usize = 1 << 30;

/// An item's stored form is at most this many times the size DynamoDB counts (a list of one-letter
/// sets counts two bytes for eleven stored).
const STORED_FACTOR_MAX: usize = 6;
const _: () = assert!(
    limits::TRANSACTION_ITEMS_MAX * 2 * STORED_FACTOR_MAX * limits::ITEM_BYTES_MAX
        < RECORD_BYTES_MAX
);

const PAYLOAD_BYTES_MIN: usize = 8 + 8 + 8 + 1 + 4 + 4;
/// Offset of a payload's flags: after group, first sequence and time.
const RECORD_FLAGS_AT: usize = 8 + 8 + 8;
const ENDS_GROUP: u8 = 1;
const HAS_OLD: u8 = 1;
const HAS_NEW: u8 = 2;
const EXPIRED: u8 = 4;
const NEW_IS_DELTA: u8 = 8;
const FLAGS_KNOWN: u8 = HAS_OLD | HAS_NEW | EXPIRED | NEW_IS_DELTA;
const ABSENT: u32 = u32::MAX;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ItemChange {
    pub(crate) table: u16,
    pub(crate) old: Option<Item>,
    pub(crate) new: Option<Item>,
    pub(crate) expired: bool,
}

/// A row of the engine's metadata; a value of `None` deletes it.
pub(crate) type EngineRow = (Bytes, Option<Bytes>);

/// The changes and rows of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) group: u64,
    pub(crate) first: u64,
    pub(crate) at_ms: u64,
    pub(crate) ends_group: bool,
    pub(crate) changes: Vec<ItemChange>,
    pub(crate) rows: Vec<EngineRow>,
}

impl Record {
    /// Returns the last sequence it takes.
    pub(crate) fn last(&self) -> u64 {
        self.first + (self.changes.len() as u64).max(1) - 1
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; HEADER_BYTES]);
        out.extend_from_slice(&self.group.to_le_bytes());
        out.extend_from_slice(&self.first.to_le_bytes());
        out.extend_from_slice(&self.at_ms.to_le_bytes());
        out.push(if self.ends_group { ENDS_GROUP } else { 0 });
        out.extend_from_slice(&length(self.changes.len()).to_le_bytes());
        out.extend_from_slice(&length(self.rows.len()).to_le_bytes());
        let mut previous: Option<&Item> = None;
        for change in &self.changes {
            push_change(out, change, previous);
            previous = change.new.as_ref();
        }
        for (key, value) in &self.rows {
            push_blob(out, key);
            match value {
                Some(value) => push_blob(out, value),
                None => out.extend_from_slice(&ABSENT.to_le_bytes()),
            }
        }
        if let Some((header, payload)) =
            out.get_mut(start..).and_then(|record| record.split_at_mut_checked(HEADER_BYTES))
        {
            seal(header, payload);
        }
    }

    /// Decodes a payload; images share its memory.
    pub(crate) fn decode(payload: &Bytes) -> Option<Self> {
        let mut reader = PayloadReader { payload, at: 0 };
        let group = reader.u64()?;
        let first = reader.u64()?;
        let at_ms = reader.u64()?;
        let ends_group = reader.u8()? & ENDS_GROUP != 0;
        let (changes, rows) = (reader.u32()?, reader.u32()?);
        let changes = reader.changes(changes)?;
        let rows = (0..rows)
            .map(|_| Some((reader.blob()?, reader.optional_blob()?)))
            .collect::<Option<Vec<_>>>()?;
        (reader.at == payload.len()).then_some(Self {
            group,
            first,
            at_ms,
            ends_group,
            changes,
            rows,
        })
    }
}

fn seal(header: &mut [u8], payload: &[u8]) {
    let len = length(payload.len()).to_le_bytes();
    let (len_slot, crc_slot) = header.split_at_mut(len.len());
    len_slot.copy_from_slice(&len);
    crc_slot.copy_from_slice(&checksum(len, payload).to_le_bytes());
}

fn length(len: usize) -> u32 {
    // Limits keep every record far below this.
    u32::try_from(len).unwrap_or(u32::MAX)
}

fn push_blob(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&length(bytes.len()).to_le_bytes());
    out.extend_from_slice(bytes);
}

fn push_change(out: &mut Vec<u8>, change: &ItemChange, previous: Option<&Item>) {
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    let delta = previous.zip(change.new.as_ref());
    let delta = delta
        .and_then(|(previous, new)| ImageDelta::between(previous.as_stored(), new.as_stored()));
    out.extend_from_slice(&change.table.to_le_bytes());
    out.push(
        flag(change.old.is_some(), HAS_OLD)
            | flag(change.new.is_some(), HAS_NEW)
            | flag(change.expired, EXPIRED)
            | flag(delta.is_some(), NEW_IS_DELTA),
    );
    if let Some(old) = &change.old {
        push_blob(out, old.as_stored());
    }
    match (delta, &change.new) {
        (Some(delta), _) => delta.encode(out),
        (None, Some(new)) => push_blob(out, new.as_stored()),
        (None, None) => {}
    }
}

fn checksum(len: [u8; 4], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&len);
    hasher.update(payload);
    hasher.finalize()
}

/// The content at the start of some bytes of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A record whose payload has this length.
    Record(usize),
    /// Possibly a record, but this many bytes are needed to tell.
    Short(usize),
    /// Zeros instead of a length: unwritten space.
    Blank,
    /// Torn or damaged bytes.
    Bad,
}

/// Classifies the start of `bytes`.
pub(crate) fn frame(bytes: &[u8]) -> Frame {
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Frame::Short(HEADER_BYTES);
    };
    let [l0, l1, l2, l3, c0, c1, c2, c3] = *header;
    let len_bytes = [l0, l1, l2, l3];
    let len = u32::from_le_bytes(len_bytes) as usize;
    match len {
        0 if *header == [0; HEADER_BYTES] => return Frame::Blank,
        PAYLOAD_BYTES_MIN..=RECORD_BYTES_MAX => {}
        _ => return Frame::Bad,
    }
    let Some(payload) = rest.get(..len) else { return Frame::Short(HEADER_BYTES + len) };
    if checksum(len_bytes, payload) == u32::from_le_bytes([c0, c1, c2, c3]) {
        Frame::Record(len)
    } else {
        Frame::Bad
    }
}

/// Marks the last record of a group that has lost its end as the group's end. Works in place, since an
/// older program may have encoded the records differently.
pub(crate) fn end_group(mut bytes: Vec<u8>) -> Vec<u8> {
    let (mut start, mut end) = (0, 0);
    while let Frame::Record(len) = frame(bytes.get(end..).unwrap_or_default()) {
        start = end;
        end += HEADER_BYTES + len;
    }
    bytes.truncate(end);
    if let Some((header, payload)) =
        bytes.get_mut(start..).and_then(|record| record.split_at_mut_checked(HEADER_BYTES))
    {
        if let Some(flags) = payload.get_mut(RECORD_FLAGS_AT) {
            *flags |= ENDS_GROUP;
        }
        seal(header, payload);
    }
    bytes
}

struct PayloadReader<'a> {
    payload: &'a Bytes,
    at: usize,
}

impl PayloadReader<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let array = *self.payload.get(self.at..)?.first_chunk()?;
        self.at += N;
        Some(array)
    }

    fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn blob(&mut self) -> Option<Bytes> {
        let len = self.u32()?;
        let end = self.at.checked_add(len as usize).filter(|end| *end <= self.payload.len())?;
        let bytes = self.payload.slice(self.at..end);
        self.at = end;
        Some(bytes)
    }

    /// Reads a blob that may be absent; the outer `None` means that the payload ends too soon.
    #[expect(clippy::option_option, reason = "distinguishes absent from unreadable")]
    fn optional_blob(&mut self) -> Option<Option<Bytes>> {
        let absent = self.payload.get(self.at..)?.starts_with(&ABSENT.to_le_bytes());
        if absent {
            self.at += size_of::<u32>();
            return Some(None);
        }
        self.blob().map(Some)
    }

    fn changes(&mut self, count: u32) -> Option<Vec<ItemChange>> {
        let mut changes: Vec<ItemChange> = Vec::new();
        for _ in 0..count {
            let previous = changes.last().and_then(|change| change.new.as_ref());
            let change = self.change(previous.map(Item::as_stored))?;
            changes.push(change);
        }
        Some(changes)
    }

    fn change(&mut self, previous: Option<&Bytes>) -> Option<ItemChange> {
        let table = self.array().map(u16::from_le_bytes)?;
        let flags = self.u8()?;
        let has = |flag: u8| flags & flag != 0;
        if flags & !FLAGS_KNOWN != 0 || has(NEW_IS_DELTA) && !has(HAS_NEW) {
            return None;
        }
        let old = if has(HAS_OLD) { Some(Item::from_stored(self.blob()?)?) } else { None };
        let new = match (has(HAS_NEW), has(NEW_IS_DELTA)) {
            (true, true) => Some(self.delta(previous?)?),
            (true, false) => Some(self.blob()?),
            (false, _) => None,
        };
        let new = match new {
            Some(new) => Some(Item::from_stored(new)?),
            None => None,
        };
        Some(ItemChange { table, old, new, expired: has(EXPIRED) })
    }

    fn delta(&mut self, previous: &[u8]) -> Option<Bytes> {
        let (image, len) = image_delta::decode(previous, self.payload.get(self.at..)?)?;
        self.at += len;
        Some(image)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use roundtable_table::item;

    fn sample() -> Record {
        Record {
            group: 7,
            first: 40,
            at_ms: 1_700_000_000_000,
            ends_group: true,
            changes: vec![
                ItemChange { table: 1, old: None, new: Some(item! {"a" => 1}), expired: false },
                ItemChange { table: 2, old: Some(item! {"b" => "x"}), new: None, expired: true },
            ],
            rows: vec![("k".into(), Some("v".into())), ("gone".into(), None)],
        }
    }

    #[test]
    fn a_record_reads_back_as_it_was_written() {
        let mut bytes = Vec::new();
        sample().encode(&mut bytes);
        let Frame::Record(len) = frame(&bytes) else { panic!("{:?}", frame(&bytes)) };
        let payload = Bytes::from(bytes).slice(HEADER_BYTES..HEADER_BYTES + len);
        assert_eq!(Record::decode(&payload), Some(sample()));
        assert_eq!(sample().last(), 41);
    }

    #[test]
    fn a_group_that_lost_its_end_is_ended_in_place() {
        let open = Record { ends_group: false, ..sample() };
        let mut bytes = Vec::new();
        open.encode(&mut bytes);
        let start = bytes.len();
        open.encode(&mut bytes);
        let ended = end_group(bytes.clone());
        assert_eq!(ended.len(), bytes.len());
        assert_eq!(ended[..start], bytes[..start]);
        let payload = Bytes::copy_from_slice(&ended[start + HEADER_BYTES..]);
        assert_eq!(Record::decode(&payload), Some(sample()));
        assert!(matches!(frame(&ended[start..]), Frame::Record(_)));
    }

    /// Similar items for many readers, as a fan-out writes them, take a fraction of their full size.
    #[test]
    fn similar_images_are_written_as_deltas() {
        let copy = |reader: usize| {
            let partition = format!("FEED#01K0000000000000000000{reader:03}");
            let text = "What happened is told to all of them in the same words, every time.";
            item! { "PK" => partition, "SK" => "TS#0001", "text" => text, "type" => "FeedItem" }
        };
        let change = |reader| ItemChange {
            table: 1,
            old: (reader == 7).then(|| copy(reader)),
            new: Some(copy(reader)),
            expired: false,
        };
        let record = Record { changes: (0..25).map(change).collect(), ..sample() };
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        let payload = Bytes::from(bytes).slice(HEADER_BYTES..);
        assert_eq!(Record::decode(&payload), Some(record.clone()));
        let whole: usize =
            record.changes.iter().flat_map(|each| &each.new).map(|new| new.as_stored().len()).sum();
        assert!(payload.len() < whole / 2, "{} bytes of {whole}", payload.len());
    }

    #[test]
    fn a_delta_in_the_first_change_is_rejected() {
        let mut bytes = Vec::new();
        sample().encode(&mut bytes);
        let mut payload = bytes.split_off(HEADER_BYTES);
        payload[PAYLOAD_BYTES_MIN + 2] |= NEW_IS_DELTA;
        assert_eq!(Record::decode(&payload.into()), None);
    }

    /// An older program wrote whole images; ending such a group must not move its bytes.
    #[test]
    fn a_group_of_whole_images_keeps_its_length() {
        let image = |reader: usize| item! { "PK" => format!("FEED#{reader:026}"), "SK" => "TS#1" };
        let change =
            |reader| ItemChange { table: 1, old: None, new: Some(image(reader)), expired: false };
        let record = Record { ends_group: false, ..sample() };
        let mut bytes = vec![0; HEADER_BYTES];
        bytes.extend_from_slice(&record.group.to_le_bytes());
        bytes.extend_from_slice(&record.first.to_le_bytes());
        bytes.extend_from_slice(&record.at_ms.to_le_bytes());
        bytes.push(0);
        bytes.extend_from_slice(&[2, 0, 0, 0, 0, 0, 0, 0]);
        for reader in 1..=2 {
            push_change(&mut bytes, &change(reader), None);
        }
        let (header, payload) = bytes.split_at_mut(HEADER_BYTES);
        seal(header, payload);
        let ended = end_group(bytes.clone());
        assert_eq!(ended.len(), bytes.len());
        let whole = Record::decode(&Bytes::copy_from_slice(&ended[HEADER_BYTES..])).unwrap();
        assert_eq!(whole.changes, [change(1), change(2)]);
        assert!(whole.ends_group && matches!(frame(&ended), Frame::Record(_)));
    }

    proptest! {
        #[test]
        fn any_flipped_bit_is_detected(bit in 0..1000usize) {
            let mut bytes = Vec::new();
            sample().encode(&mut bytes);
            let bit = bit % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(!matches!(frame(&bytes), Frame::Record(_) | Frame::Blank));
        }
    }
}
