//! Reads and writes the bytes of items and values.

use super::borrowed::{Blobs, Entries, Numbers, Texts, ValueRef, Values};
use crate::{Number, Value};

#[expect(clippy::cast_possible_truncation, reason = "masked to seven bits")]
fn write_varint(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push((number & 0x7f) as u8);
}

pub(super) fn write_blob(out: &mut Vec<u8>, bytes: &[u8]) {
    match u8::try_from(bytes.len()) {
        Ok(len @ ..0x80) => out.push(len),
        _ => write_varint(out, bytes.len()),
    }
    out.extend_from_slice(bytes);
}

/// Returns the encoded size of a blob of this length.
pub(super) const fn blob_bytes(len: usize) -> usize {
    let bits = (usize::BITS - len.leading_zeros()) as usize;
    let varint = if bits == 0 { 1 } else { bits.div_ceil(7) };
    varint + len
}

pub(super) fn write_number(out: &mut Vec<u8>, number: Number) {
    let at = out.len();
    out.push(0);
    number.encode(out);
    // A number takes at most 22 bytes encoded.
    let len = u8::try_from(out.len() - at - 1).unwrap_or(u8::MAX);
    if let Some(slot) = out.get_mut(at) {
        *slot = len;
    }
}

fn write_container(out: &mut Vec<u8>, tag: u8, count: usize, body: impl FnOnce(&mut Vec<u8>)) {
    let at = open_container(out, tag);
    body(out);
    close_container(out, at, count);
}

/// Begins a container and returns the offset of its length and count, which are filled in at its end.
pub(super) fn open_container(out: &mut Vec<u8>, tag: u8) -> usize {
    out.push(tag);
    out.extend_from_slice(&[0; 8]);
    out.len() - 8
}

/// Ends a container: writes its length and count at `at`.
pub(super) fn close_container(out: &mut [u8], at: usize, count: usize) {
    let len = u32::try_from(out.len() - at - 4).unwrap_or(u32::MAX);
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    if let Some(room) = out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<8>()) {
        *room = (u64::from(len) | u64::from(count) << 32).to_le_bytes();
    }
}

pub(super) fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::S(text) => {
            out.push(b'S');
            write_blob(out, text.as_bytes());
        }
        Value::N(number) => {
            out.push(b'N');
            write_number(out, *number);
        }
        Value::B(bytes) => {
            out.push(b'B');
            write_blob(out, bytes);
        }
        Value::Bool(true) => out.push(b't'),
        Value::Bool(false) => out.push(b'f'),
        Value::Null => out.push(b'0'),
        Value::L(values) => write_container(out, b'L', values.len(), |out| {
            values.iter().for_each(|value| write_value(out, value));
        }),
        Value::M(entries) => write_container(out, b'M', entries.len(), |out| {
            for (name, value) in entries {
                write_blob(out, name.as_bytes());
                write_value(out, value);
            }
        }),
        Value::Ss(texts) => write_container(out, b's', texts.len(), |out| {
            texts.iter().for_each(|text| write_blob(out, text.as_bytes()));
        }),
        Value::Ns(numbers) => write_container(out, b'n', numbers.len(), |out| {
            numbers.iter().for_each(|number| write_number(out, *number));
        }),
        Value::Bs(blobs) => write_container(out, b'b', blobs.len(), |out| {
            blobs.iter().for_each(|blob| write_blob(out, blob));
        }),
    }
}

fn read_varint(rest: &mut &[u8]) -> Option<usize> {
    let (byte, after) = rest.split_first()?;
    // Nearly all lengths are below 128.
    if *byte < 0x80 {
        *rest = after;
        return Some(usize::from(*byte));
    }
    read_long_varint(rest)
}

#[cold]
fn read_long_varint<'a>(rest: &mut &'a [u8]) -> Option<usize> {
    let mut number = 0usize;
    for shift in (0..35).step_by(7) {
        let (byte, after): (&'a u8, &'a [u8]) = rest.split_first()?;
        *rest = after;
        number |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn read_bytes<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (bytes, after) = rest.split_at_checked(len)?;
    *rest = after;
    Some(bytes)
}

pub(super) fn read_blob<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = read_varint(rest)?;
    read_bytes(rest, len)
}

pub(super) fn read_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    std::str::from_utf8(read_blob(rest)?).ok()
}

pub(super) fn read_number(rest: &mut &[u8]) -> Option<Number> {
    let (len, after) = rest.split_first()?;
    *rest = after;
    let bytes = read_bytes(rest, usize::from(*len))?;
    Number::decode(bytes).map(|(number, _)| number)
}

/// Reads the elements of a container and their stored count; readers stop at the body's end.
fn read_body<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], usize)> {
    let len = u32::from_le_bytes(*read_bytes(rest, 4)?.first_chunk()?) as usize;
    let (count, body) = read_bytes(rest, len)?.split_first_chunk()?;
    Some((body, u32::from_le_bytes(*count) as usize))
}

pub(super) fn read_value<'a>(rest: &mut &'a [u8]) -> Option<ValueRef<'a>> {
    let (tag, after) = rest.split_first()?;
    *rest = after;
    Some(match tag {
        b'S' => ValueRef::S(read_text(rest)?),
        b'N' => ValueRef::N(read_number(rest)?),
        b'B' => ValueRef::B(read_blob(rest)?),
        b't' => ValueRef::Bool(true),
        b'f' => ValueRef::Bool(false),
        b'0' => ValueRef::Null,
        b'L' | b'M' | b's' | b'n' | b'b' => {
            let (body, count) = read_body(rest)?;
            match tag {
                b'L' => ValueRef::L(Values::of(body, count)),
                b'M' => ValueRef::M(Entries::of(body, count)),
                b's' => ValueRef::Ss(Texts::of(body, count)),
                b'n' => ValueRef::Ns(Numbers::of(body, count)),
                _ => ValueRef::Bs(Blobs::of(body, count)),
            }
        }
        _ => return None,
    })
}

/// Skips a value without reading it.
pub(super) fn skip_value(rest: &mut &[u8]) -> Option<()> {
    let (tag, after) = rest.split_first()?;
    *rest = after;
    let len = match tag {
        b't' | b'f' | b'0' => 0,
        b'N' => {
            let (len, after) = rest.split_first()?;
            *rest = after;
            usize::from(*len)
        }
        b'S' | b'B' => read_varint(rest)?,
        _ => u32::from_le_bytes(*read_bytes(rest, 4)?.first_chunk()?) as usize,
    };
    read_bytes(rest, len).map(|_| ())
}
