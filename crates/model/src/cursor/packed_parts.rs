//! The parts of keys in a packed cursor. Each part has a kind of four bits, and most kinds are
//! followed by bytes; all kinds come first. Parts that a list's name or its viewer contain cost
//! nothing more than their kind.

use data_encoding::HEXLOWER;
use ulid::Ulid;

use super::packing::PackingScope;
use crate::id::canonical_ulid;
use crate::part::digits;
use crate::{KeyPart, Score, Time};

const TEXT: u8 = 0;
const ULID: u8 = 1;
const UUID: u8 = 2;
const TIME: u8 = 3;
/// The time in the ULID that is the part with the number that follows.
const TIME_OF: u8 = 4;
/// A decimal number of one byte.
const BYTE: u8 = 5;
/// A decimal number.
const NUMBER: u8 = 6;
const SCORE: u8 = 7;
/// The id of a room of two users: `dm-` and twenty bytes.
const DIRECT_ROOM: u8 = 8;
/// A word of the scope, whose number follows in two kinds.
const SEED: u8 = 9;
/// The first of the kinds that are the first words of the scope.
const FIRST_SEED: u8 = 10;
const KINDS: u8 = 16;

const DIRECT_ROOM_PREFIX: &str = "dm-";
const UUID_DASHES: [usize; 4] = [8, 13, 18, 23];
const TIME_BYTES: usize = 6;

/// Appends parts.
pub(super) fn write_parts(scope: &PackingScope, parts: &[&str], out: &mut Vec<u8>) {
    let mut kinds = KindWriter { bytes: out, half: false };
    let mut values = Vec::new();
    for part in parts {
        write_part(scope, parts, part, &mut kinds, &mut values);
    }
    out.extend_from_slice(&values);
}

fn write_part(
    scope: &PackingScope,
    parts: &[&str],
    part: &str,
    kinds: &mut KindWriter<'_>,
    values: &mut Vec<u8>,
) {
    if let Some(seed) = scope.number_of(part) {
        match FIRST_SEED.checked_add(seed).filter(|kind| *kind < KINDS) {
            Some(kind) => kinds.push(kind),
            None => [SEED, seed >> 4, seed & 0xF].into_iter().for_each(|kind| kinds.push(kind)),
        }
    } else if let Some(ulid) = canonical_ulid(part.as_bytes()) {
        kinds.push(ULID);
        values.extend_from_slice(&ulid);
    } else if let Some(time) = read_time(part) {
        let holder = parts.iter().take(KINDS.into()).position(|part| time_in(part) == Some(time));
        if let Some(holder) = holder.and_then(|holder| u8::try_from(holder).ok()) {
            kinds.push(TIME_OF);
            kinds.push(holder);
        } else {
            kinds.push(TIME);
            values.extend(time.ms().to_be_bytes().into_iter().skip(size_of::<u64>() - TIME_BYTES));
        }
    } else if let Some(uuid) = read_uuid(part) {
        kinds.push(UUID);
        values.extend_from_slice(&uuid);
    } else if let Some(hash) = read_direct_room(part) {
        kinds.push(DIRECT_ROOM);
        values.extend_from_slice(&hash);
    } else if let Some(number) = read_number(part) {
        if let Ok(byte) = u8::try_from(number) {
            kinds.push(BYTE);
            values.push(byte);
        } else {
            kinds.push(NUMBER);
            write_varint(number, values);
        }
    } else if let Some(score) = read_score(part) {
        kinds.push(SCORE);
        write_varint(score, values);
    } else {
        kinds.push(TEXT);
        write_varint(u64::try_from(part.len()).unwrap_or(u64::MAX), values);
        values.extend_from_slice(part.as_bytes());
    }
}

/// A part as it is packed: times may refer to a later part.
enum PackedPart {
    Text(String),
    TimeOf(usize),
}

/// Reads `count` parts, and returns the bytes after them.
pub(super) fn read_parts<'b>(
    scope: &PackingScope,
    count: usize,
    bytes: &'b [u8],
) -> Option<(Vec<String>, &'b [u8])> {
    let mut kinds = KindReader { bytes, position: 0 };
    let mut described = Vec::with_capacity(count);
    for _ in 0..count {
        let kind = kinds.next()?;
        let detail = match kind {
            TIME_OF => kinds.next()?,
            SEED => kinds.next()? << 4 | kinds.next()?,
            _ => 0,
        };
        described.push((kind, detail));
    }
    let mut values = bytes.get(kinds.position.div_ceil(2)..)?;
    let parts = described.into_iter().map(|kind| read_part(scope, kind, &mut values));
    let parts: Vec<PackedPart> = parts.collect::<Option<_>>()?;
    let text = |part: &PackedPart| match part {
        PackedPart::Text(text) => Some(text.clone()),
        PackedPart::TimeOf(holder) => match parts.get(*holder)? {
            PackedPart::Text(text) => time_in(text).map(|time| time.to_string()),
            PackedPart::TimeOf(_) => None,
        },
    };
    let texts = parts.iter().map(text).collect::<Option<_>>()?;
    Some((texts, values))
}

fn read_part(
    scope: &PackingScope,
    (kind, detail): (u8, u8),
    values: &mut &[u8],
) -> Option<PackedPart> {
    let text = match kind {
        TEXT => {
            let length = usize::try_from(read_varint(values)?).ok()?;
            String::from_utf8(values.split_off(..length)?.to_vec()).ok()?
        }
        ULID => Ulid::from_bytes(take(values)?).to_string(),
        UUID => write_uuid(take(values)?),
        TIME => {
            let bytes = take::<TIME_BYTES>(values)?;
            let ms = bytes.iter().fold(0, |ms, byte| ms << 8 | u64::from(*byte));
            Some(ms).filter(|ms| *ms <= Time::MAX.ms()).map(Time::from_ms)?.to_string()
        }
        TIME_OF => return Some(PackedPart::TimeOf(detail.into())),
        BYTE => take::<1>(values).map(|[byte]| byte)?.to_string(),
        NUMBER => read_varint(values)?.to_string(),
        SCORE => {
            let score = read_varint(values).filter(|score| *score <= Score::MAX.value())?;
            let mut text = String::new();
            Score::new(score).write_part(&mut text);
            text
        }
        DIRECT_ROOM => {
            format!("{DIRECT_ROOM_PREFIX}{}", HEXLOWER.encode(&take::<20>(values)?))
        }
        SEED => scope.seed(detail)?.to_owned(),
        first => scope.seed(first.checked_sub(FIRST_SEED)?)?.to_owned(),
    };
    Some(PackedPart::Text(text))
}

/// Appends kinds, two to a byte.
struct KindWriter<'o> {
    bytes: &'o mut Vec<u8>,
    /// The last byte has one kind.
    half: bool,
}

impl KindWriter<'_> {
    fn push(&mut self, kind: u8) {
        match self.bytes.last_mut().filter(|_| self.half) {
            Some(last) => *last |= kind,
            None => self.bytes.push(kind << 4),
        }
        self.half = !self.half;
    }
}

struct KindReader<'b> {
    bytes: &'b [u8],
    /// The number of kinds read.
    position: usize,
}

impl KindReader<'_> {
    fn next(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.position / 2)?;
        let kind = if self.position.is_multiple_of(2) { byte >> 4 } else { byte & 0xF };
        self.position += 1;
        Some(kind)
    }
}

fn take<const N: usize>(values: &mut &[u8]) -> Option<[u8; N]> {
    values.split_off(..N)?.try_into().ok()
}

/// Appends a number in groups of seven bits, the lowest first.
fn write_varint(mut number: u64, out: &mut Vec<u8>) {
    loop {
        let low = u8::try_from(number & 0x7F).unwrap_or(0);
        number >>= 7;
        if number == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

fn read_varint(values: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = *values.split_off_first()?;
        let low = u64::from(byte & 0x7F);
        number |= low << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn read_time(part: &str) -> Option<Time> {
    // A text that is no time costs a message otherwise.
    let likely = part.len() == Time::BYTES_MAX && part.ends_with('Z');
    likely.then(|| part.parse().ok())?
}

/// Returns the time in a part that is a ULID.
fn time_in(part: &str) -> Option<Time> {
    let ms = Ulid::from_bytes(canonical_ulid(part.as_bytes())?).timestamp_ms();
    (ms <= Time::MAX.ms()).then(|| Time::from_ms(ms))
}

/// Parses a UUID in lower case.
fn read_uuid(part: &str) -> Option<[u8; 16]> {
    let is_dash = |(position, byte): (usize, u8)| (byte == b'-') == UUID_DASHES.contains(&position);
    if part.len() != 36 || !part.bytes().enumerate().all(is_dash) {
        return None;
    }
    let digits: Vec<u8> = part.bytes().filter(|byte| *byte != b'-').collect();
    HEXLOWER.decode(&digits).ok()?.try_into().ok()
}

fn write_uuid(uuid: [u8; 16]) -> String {
    let mut text = HEXLOWER.encode(&uuid);
    for dash in UUID_DASHES {
        text.insert(dash, '-');
    }
    text
}

fn read_direct_room(part: &str) -> Option<[u8; 20]> {
    let digits = part.strip_prefix(DIRECT_ROOM_PREFIX)?;
    HEXLOWER.decode(digits.as_bytes()).ok()?.try_into().ok()
}

/// Parses a decimal number without leading zeros.
fn read_number(part: &str) -> Option<u64> {
    let is_decimal = part.bytes().all(|byte| byte.is_ascii_digit());
    let is_short = part == "0" || !part.starts_with('0');
    (is_decimal && is_short).then(|| part.parse().ok())?
}

fn read_score(part: &str) -> Option<u64> {
    let score = part.parse::<u64>().ok().filter(|_| part.len() == Score::BYTES_MAX)?;
    (digits::<{ Score::BYTES_MAX }>(score) == part.as_bytes()).then_some(score)
}
