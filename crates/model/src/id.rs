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
use crate::attribute::{Misfit, text_like};
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

    /// Calls `read` with the text, without an allocation.
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
        if let Ok(ulid) = Ulid::from_string(text) {
            // Spelled otherwise, such as in lower case, it must come back as it was.
            if ulid.array_to_str(&mut [0; ULID_LEN]) == text {
                return Ok(Self::of_ulid(ulid));
            }
        }
        Ok(Self(Inner::Text(text.into())))
    }
}

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

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| f.pad(text))
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
