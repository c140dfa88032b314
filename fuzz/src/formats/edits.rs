//! Changes of bytes, chosen by the bytes of an input.

use crate::choices::ByteChoices;

/// Changes at most this many places.
const EDITS_MAX: usize = 6;

/// Changes some places of `bytes`; without choices, a single bit.
pub(super) fn edit(bytes: &mut Vec<u8>, choices: &mut ByteChoices<'_>) {
    for _ in 0..=choices.pick(EDITS_MAX) {
        edit_once(bytes, choices);
    }
}

fn edit_once(bytes: &mut Vec<u8>, choices: &mut ByteChoices<'_>) {
    if bytes.is_empty() {
        return;
    }
    // Positions beyond two bytes are reached in steps.
    let at = (choices.pick(1 << 16) + (choices.pick(16) << 16)) % bytes.len();
    let end = (at + 1 + choices.pick(64)).min(bytes.len());
    match choices.pick(7) {
        0 => bytes[at] ^= 1 << choices.pick(8),
        1 => bytes[at] = u8::try_from(choices.pick(256)).unwrap(),
        2 => bytes[at..end].fill(0),
        3 => bytes[at..end].fill(255),
        4 => drop(bytes.drain(at..end)),
        5 => {
            let copy = bytes[at..end].to_vec();
            let to = choices.pick(1 << 16) % bytes.len();
            bytes.splice(to..to, copy);
        }
        _ => bytes.truncate(at),
    }
}
