//! Ids: which characters they have, one type for each thing that is known by one, and where new ones
//! come from. An id that would not fit into a key is no id.

mod source;
mod typed;

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use ulid::{ULID_LEN, Ulid};

pub use self::source::Ids;
pub use self::typed::{
    ActivityId, ActorId, ApiKeyId, AuditId, CaseId, CommentId, CompanyId, GoalId, GroupId, JobId,
    MessageId, MilestoneId, NotificationId, OfferId, PostId, QuestId, RoomId, SessionId, SubjectId,
    TaskId, ThreadId, UserId, WebhookId,
};
use crate::attribute::{Misfit, Text, text_like};
use crate::part::KeyPart;
use crate::time::Time;

/// 1 to 64 letters, digits, `-` and `_`: most often a ULID.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Id(Inner);

/// A text has one of these only, so that equal ids are equal here.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Inner {
    /// A ULID in its canonical spelling, as its bytes: they take no allocation, and order as the text
    /// does.
    Ulid([u8; 16]),
    /// Any other id.
    Text(Box<str>),
}

impl Id {
    const EXPECTED: &'static str = "an id of 1 to 64 letters, digits, `-` or `_`";

    fn of_ulid(ulid: Ulid) -> Self {
        Self(Inner::Ulid(ulid.to_bytes()))
    }

    /// The time in it, if it is a ULID.
    pub fn time(&self) -> Option<Time> {
        match self.0 {
            Inner::Ulid(bytes) => {
                let ms = Ulid::from_bytes(bytes).timestamp_ms();
                (ms <= Time::MAX.ms()).then(|| Time::from_ms(ms))
            }
            Inner::Text(_) => None,
        }
    }
}

impl Text for Id {
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        match &self.0 {
            Inner::Ulid(bytes) => read(Ulid::from_bytes(*bytes).array_to_str(&mut [0; ULID_LEN])),
            Inner::Text(text) => read(text),
        }
    }
}

impl FromStr for Id {
    type Err = Misfit;

    fn from_str(text: &str) -> Result<Self, Misfit> {
        if let Some(ulid) = canonical_ulid(text.as_bytes()) {
            return Ok(Self(Inner::Ulid(ulid)));
        }
        let foreign = |char: &char| !(char.is_ascii_alphanumeric() || matches!(char, '-' | '_'));
        match text.chars().find(foreign) {
            Some(char) if char.is_control() => {
                let wrong = format_args!("the control character U+{:04X}", u32::from(char));
                return Err(Misfit::in_text(Self::EXPECTED, wrong, text));
            }
            Some(char) => {
                return Err(Misfit::in_text(Self::EXPECTED, format_args!("`{char}`"), text));
            }
            None if text.is_empty() => return Err(Misfit::new(Self::EXPECTED, "an empty text")),
            None if text.len() > Self::BYTES_MAX => {
                let found = format_args!("{} characters", text.len());
                return Err(Misfit::new(Self::EXPECTED, found));
            }
            None => {}
        }
        Ok(Self(Inner::Text(text.into())))
    }
}

/// The bytes of a ULID in its canonical spelling: 26 digits of Crockford's base 32. Spelled otherwise,
/// such as in lower case, it must come back as it was, and is a text.
fn canonical_ulid(text: &[u8]) -> Option<[u8; 16]> {
    let digits: &[u8; ULID_LEN] = text.try_into().ok()?;
    // Of 130 bits, the first two are zero.
    if *digits.first()? > b'7' {
        return None;
    }
    // In three numbers, each of which fits into 64 bits.
    let (time, chance) = digits.split_at_checked(10)?;
    let (upper, lower) = chance.split_at_checked(8)?;
    let ulid = u128::from(base_32(time)?) << 80
        | u128::from(base_32(upper)?) << 40
        | u128::from(base_32(lower)?);
    Some(ulid.to_be_bytes())
}

/// The number that up to twelve digits spell.
fn base_32(digits: &[u8]) -> Option<u64> {
    let value = |digit: &u8| BASE_32.get(usize::from(*digit)).copied().unwrap_or(FOREIGN);
    let (number, seen) = digits
        .iter()
        .map(value)
        .fold((0, 0), |(number, seen), value| (number << 5 | u64::from(value), seen | value));
    (seen & FOREIGN == 0).then_some(number)
}

/// Marks what is no digit: no digit has this bit.
const FOREIGN: u8 = 0x80;

/// What each byte stands for in base 32.
const BASE_32: [u8; 256] = {
    let mut values = [FOREIGN; 256];
    let mut value = 0;
    let mut digits = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ".as_slice();
    while let Some((digit, rest)) = digits.split_first() {
        #[expect(clippy::indexing_slicing, reason = "out of bounds, it would not compile")]
        {
            values[*digit as usize] = value;
        }
        value += 1;
        digits = rest;
    }
    values
};

/// By the bytes of the text, as keys are ordered.
impl Ord for Id {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Inner::Ulid(one), Inner::Ulid(other)) => one.cmp(other),
            (Inner::Text(one), Inner::Text(other)) => one.cmp(other),
            _ => self.with_text(|one| other.with_text(|other| one.cmp(other))),
        }
    }
}

impl PartialOrd for Id {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// As [`Display`](fmt::Display).
impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl KeyPart for Id {
    const BYTES_MAX: usize = 64;

    fn write_part(&self, key: &mut String) {
        self.with_text(|text| key.push_str(text));
    }
}

text_like! { Id: "id"; }

#[cfg(test)]
mod tests;
