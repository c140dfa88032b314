//! A batch of changes as a line of JSON; images in their stored form, in Base64.

use bytes::Bytes;
use data_encoding::BASE64;
use roundtable_table::{Change, Item, Key, Sequence};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct WireChange {
    sequence: String,
    at_ms: u64,
    partition: String,
    sort: String,
    old: Option<String>,
    new: Option<String>,
    expired: bool,
}

pub(super) fn write(changes: &[Change]) -> Bytes {
    let image = |item: &Option<Item>| item.as_ref().map(|item| BASE64.encode(item.as_stored()));
    let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
    let wire = |change: &Change| WireChange {
        sequence: change.sequence.as_str().to_owned(),
        at_ms: change.at_ms,
        partition: text(change.key.partition.as_text()),
        sort: text(change.key.sort.as_ref().and_then(|sort| sort.as_text())),
        old: image(&change.old),
        new: image(&change.new),
        expired: change.expired,
    };
    let changes: Vec<WireChange> = changes.iter().map(wire).collect();
    let mut line = serde_json::to_vec(&changes).unwrap_or_default();
    line.push(b'\n');
    line.into()
}

/// Reads a line; an empty one is a keep-alive.
pub(super) fn read(line: &[u8]) -> Option<Vec<Change>> {
    if line.trim_ascii().is_empty() {
        return Some(Vec::new());
    }
    let wires: Vec<WireChange> = serde_json::from_slice(line).ok()?;
    wires.into_iter().map(change).collect()
}

fn change(wire: WireChange) -> Option<Change> {
    let image = |text: Option<String>| match text {
        None => Some(None),
        Some(text) => {
            let bytes = BASE64.decode(text.as_bytes()).ok()?;
            Item::from_stored(bytes.into()).map(Some)
        }
    };
    Some(Change {
        sequence: Sequence::parse(&wire.sequence).ok()?,
        at_ms: wire.at_ms,
        key: Key::new(wire.partition, wire.sort),
        old: image(wire.old)?,
        new: image(wire.new)?,
        expired: wire.expired,
    })
}

#[cfg(test)]
mod tests {
    use roundtable_table::item;

    use super::*;

    #[test]
    fn changes_come_out_as_they_went_in() {
        let change = Change {
            sequence: Sequence::from(7),
            at_ms: 5,
            key: Key::new("USER#a", "PROFILE#a"),
            old: None,
            new: Some(item! { "PK" => "USER#a", "SK" => "PROFILE#a", "n" => 5 }),
            expired: false,
        };
        let line = write(std::slice::from_ref(&change));
        assert_eq!(format!("{:?}", read(&line).unwrap()), format!("{:?}", [change]));
        assert!(read(b"\n").unwrap().is_empty());
        assert!(read(b"nonsense\n").is_none());
    }
}
