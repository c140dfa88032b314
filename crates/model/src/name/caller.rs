//! Whose request it is.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::{Email, by_key};
use crate::attribute::{Misfit, Text, text_like};
use crate::id::{Id, UserId};
use crate::part::KeyPart;

/// Who makes a request. An id has no `@`, so nobody can pass for somebody else.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Caller {
    /// Somebody who is signed in.
    User(UserId),
    /// Somebody who is about to sign up.
    SignUp(Email),
}

impl From<&UserId> for Caller {
    fn from(user: &UserId) -> Self {
        Self::User(user.clone())
    }
}

impl From<UserId> for Caller {
    fn from(user: UserId) -> Self {
        Self::User(user)
    }
}

impl From<&Email> for Caller {
    fn from(email: &Email) -> Self {
        Self::SignUp(email.clone())
    }
}

impl From<Email> for Caller {
    fn from(email: Email) -> Self {
        Self::SignUp(email)
    }
}

impl FromStr for Caller {
    type Err = Misfit;

    fn from_str(text: &str) -> Result<Self, Misfit> {
        // Emails are checked folded, where other characters become an `@` as well.
        match text.parse() {
            Ok(user) => Ok(Self::User(user)),
            Err(misfit) => text.parse().map(Self::SignUp).map_err(|_| misfit),
        }
    }
}

impl Text for Caller {
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        match self {
            Self::User(user) => user.with_text(read),
            Self::SignUp(email) => email.with_text(read),
        }
    }
}

/// As [`Display`](fmt::Display).
impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl KeyPart for Caller {
    const BYTES_MAX: usize =
        if Email::BYTES_MAX > Id::BYTES_MAX { Email::BYTES_MAX } else { Id::BYTES_MAX };

    fn write_part(&self, key: &mut String) {
        match self {
            Self::User(user) => user.write_part(key),
            Self::SignUp(email) => email.write_part(key),
        }
    }
}

/// As keys are ordered, and by the text as given where that is the same.
impl Ord for Caller {
    fn cmp(&self, other: &Self) -> Ordering {
        by_key(self, other).then_with(|| match (self, other) {
            (Self::SignUp(one), Self::SignUp(other)) => one.cmp(other),
            _ => Ordering::Equal,
        })
    }
}

impl PartialOrd for Caller {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

text_like! { Caller: "Caller"; }
