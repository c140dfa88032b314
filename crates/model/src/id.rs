//! Ids: their characters, one type for each kind of object, and the generator of new ones. Every id
//! fits into a key.

mod generator;
mod typed;

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use ulid::{ULID_LEN, Ulid};

pub use self::generator::IdGenerator;
pub use self::typed::{
    ActivityId, ActorId, ApiKeyId, AuditId, CaseId, CommentId, CompanyId, DeviceId, GoalId,
    GroupId, JobId, MessageId, MilestoneId, NotificationId, OfferId, PostId, QuestId, RankingId,
    RoomId, SessionId, SubjectId, TaskId, ThreadId, UserId, WebhookId,
};
use crate::attribute::{InvalidValue, TextValue, text_like};
use crate::part::KeyPart;
use crate::time::Time;

/// An id of 1 to 64 letters, digits, `-` and `_`, usually a ULID.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Id(IdRepr);

/// The representation of an id. Each text has exactly one, so that equal ids compare equal.
#[derive(Clone, PartialEq, Eq, Hash)]
enum IdRepr {
    /// The bytes of a ULID in its canonical spelling: they need no allocation and order like the
    /// text.
    Ulid([u8; 16]),
    Text(Box<str>),
}

impl Id {
    const EXPECTED: &'static str = "an id of 1 to 64 letters, digits, `-` or `_`";

    fn of_ulid(ulid: Ulid) -> Self {
        Self(IdRepr::Ulid(ulid.to_bytes()))
    }

    /// Returns the id of a ULID, given its bytes.
    pub const fn from_ulid_bytes(bytes: [u8; 16]) -> Self {
        Self(IdRepr::Ulid(bytes))
    }

    /// Returns its bytes, if it is a ULID. They order like the text.
    pub const fn ulid_bytes(&self) -> Option<[u8; 16]> {
        match self.0 {
            IdRepr::Ulid(bytes) => Some(bytes),
            IdRepr::Text(_) => None,
        }
    }

    /// Returns the time in it, if it is a ULID.
    pub fn time(&self) -> Option<Time> {
        match self.0 {
            IdRepr::Ulid(bytes) => {
                let ms = Ulid::from_bytes(bytes).timestamp_ms();
                (ms <= Time::MAX.ms()).then(|| Time::from_ms(ms))
            }
            IdRepr::Text(_) => None,
        }
    }
}

impl TextValue for Id {
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        match &self.0 {
            IdRepr::Ulid(bytes) => read(Ulid::from_bytes(*bytes).array_to_str(&mut [0; ULID_LEN])),
            IdRepr::Text(text) => read(text),
        }
    }
}

impl FromStr for Id {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        if let Some(ulid) = canonical_ulid(text.as_bytes()) {
            return Ok(Self(IdRepr::Ulid(ulid)));
        }
        let invalid = |char: &char| !(char.is_ascii_alphanumeric() || matches!(char, '-' | '_'));
        match text.chars().find(invalid) {
            Some(char) if char.is_control() => {
                let wrong = format_args!("the control character U+{:04X}", u32::from(char));
                return Err(InvalidValue::in_text(Self::EXPECTED, wrong, text));
            }
            Some(char) => {
                return Err(InvalidValue::in_text(Self::EXPECTED, format_args!("`{char}`"), text));
            }
            None if text.is_empty() => {
                return Err(InvalidValue::new(Self::EXPECTED, "an empty text"));
            }
            None if text.len() > Self::BYTES_MAX => {
                let found = format_args!("{} characters", text.len());
                return Err(InvalidValue::new(Self::EXPECTED, found));
            }
            None => {}
        }
        Ok(Self(IdRepr::Text(text.into())))
    }
}

/// Parses a ULID in its canonical spelling: 26 digits of Crockford's base 32. Any other spelling,
/// such as lower case, must be returned unchanged and is therefore stored as text.
pub(crate) fn canonical_ulid(text: &[u8]) -> Option<[u8; 16]> {
    let digits: &[u8; ULID_LEN] = text.try_into().ok()?;
    // The first two of the 130 bits are zero.
    if *digits.first()? > b'7' {
        return None;
    }
    // Parsed as three numbers, each of which fits into 64 bits.
    let (time, random) = digits.split_at_checked(10)?;
    let (upper, lower) = random.split_at_checked(8)?;
    let ulid = u128::from(base_32(time)?) << 80
        | u128::from(base_32(upper)?) << 40
        | u128::from(base_32(lower)?);
    Some(ulid.to_be_bytes())
}

/// Parses a number of up to twelve digits.
fn base_32(digits: &[u8]) -> Option<u64> {
    let value = |digit: &u8| BASE_32.get(usize::from(*digit)).copied().unwrap_or(NO_DIGIT);
    let (number, seen) = digits
        .iter()
        .map(value)
        .fold((0, 0), |(number, seen), value| (number << 5 | u64::from(value), seen | value));
    (seen & NO_DIGIT == 0).then_some(number)
}

/// Marks bytes that are not digits: no digit has this bit.
const NO_DIGIT: u8 = 0x80;

/// The value of each byte in base 32.
const BASE_32: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
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

/// Orders by the bytes of the text, like keys.
impl Ord for Id {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (IdRepr::Ulid(one), IdRepr::Ulid(other)) => one.cmp(other),
            (IdRepr::Text(one), IdRepr::Text(other)) => one.cmp(other),
            _ => self.with_text(|one| other.with_text(|other| one.cmp(other))),
        }
    }
}

impl PartialOrd for Id {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

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
