//! The caller of a request, as idempotency records store it.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::{Email, cmp_in_key};
use crate::attribute::{InvalidValue, TextValue, text_like};
use crate::id::{Id, UserId};
use crate::part::KeyPart;

/// The caller of a request. An id has no `@`, so an e-mail address never equals an id.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum RequestCaller {
    /// A signed-in user.
    User(UserId),
    /// The e-mail address of a user who is signing up.
    SignUp(Email),
}

impl From<&UserId> for RequestCaller {
    fn from(user: &UserId) -> Self {
        Self::User(user.clone())
    }
}

impl From<UserId> for RequestCaller {
    fn from(user: UserId) -> Self {
        Self::User(user)
    }
}

impl From<&Email> for RequestCaller {
    fn from(email: &Email) -> Self {
        Self::SignUp(email.clone())
    }
}

impl From<Email> for RequestCaller {
    fn from(email: Email) -> Self {
        Self::SignUp(email)
    }
}

impl FromStr for RequestCaller {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        // E-mail addresses are checked when folded, where other characters become an `@` as well.
        match text.parse() {
            Ok(user) => Ok(Self::User(user)),
            Err(error) => text.parse().map(Self::SignUp).map_err(|_| error),
        }
    }
}

impl TextValue for RequestCaller {
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        match self {
            Self::User(user) => user.with_text(read),
            Self::SignUp(email) => email.with_text(read),
        }
    }
}

impl fmt::Debug for RequestCaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl KeyPart for RequestCaller {
    const BYTES_MAX: usize =
        if Email::BYTES_MAX > Id::BYTES_MAX { Email::BYTES_MAX } else { Id::BYTES_MAX };

    fn write_part(&self, key: &mut String) {
        match self {
            Self::User(user) => user.write_part(key),
            Self::SignUp(email) => email.write_part(key),
        }
    }
}

/// Orders like keys, and by the text as given if the keys are equal.
impl Ord for RequestCaller {
    fn cmp(&self, other: &Self) -> Ordering {
        cmp_in_key(self, other).then_with(|| match (self, other) {
            (Self::SignUp(one), Self::SignUp(other)) => one.cmp(other),
            _ => Ordering::Equal,
        })
    }
}

impl PartialOrd for RequestCaller {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

text_like! { RequestCaller: "RequestCaller"; }
