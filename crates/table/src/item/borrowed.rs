//! Values inside stored items, read in place without copying.

use std::cmp::Ordering;
use std::fmt;

use bytes::Bytes;

use super::encoding::{read_blob, read_number, read_text, read_value, skip_value};
use crate::{Number, Scalar, Value, ValueKind};

/// A borrowed value inside a stored item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueRef<'a> {
    S(&'a str),
    N(Number),
    B(&'a [u8]),
    Bool(bool),
    Null,
    L(Values<'a>),
    M(Entries<'a>),
    Ss(Texts<'a>),
    Ns(Numbers<'a>),
    Bs(Blobs<'a>),
}

impl ValueRef<'_> {
    pub const fn kind(&self) -> ValueKind {
        match self {
            Self::S(_) => ValueKind::S,
            Self::N(_) => ValueKind::N,
            Self::B(_) => ValueKind::B,
            Self::Bool(_) => ValueKind::Bool,
            Self::Null => ValueKind::Null,
            Self::L(_) => ValueKind::L,
            Self::M(_) => ValueKind::M,
            Self::Ss(_) => ValueKind::Ss,
            Self::Ns(_) => ValueKind::Ns,
            Self::Bs(_) => ValueKind::Bs,
        }
    }

    pub fn to_value(self) -> Value {
        match self {
            Self::S(text) => Value::S(text.to_owned()),
            Self::N(number) => Value::N(number),
            Self::B(bytes) => Value::B(Bytes::copy_from_slice(bytes)),
            Self::Bool(truth) => Value::Bool(truth),
            Self::Null => Value::Null,
            Self::L(values) => Value::L(values.iter().map(ValueRef::to_value).collect()),
            Self::M(entries) => Value::M(
                entries.iter().map(|(name, value)| (name.to_owned(), value.to_value())).collect(),
            ),
            Self::Ss(texts) => Value::Ss(texts.iter().map(str::to_owned).collect()),
            Self::Ns(numbers) => Value::Ns(numbers.iter().collect()),
            Self::Bs(blobs) => Value::Bs(blobs.iter().map(Bytes::copy_from_slice).collect()),
        }
    }

    /// Returns an owned copy if this value may be a key part.
    pub fn to_scalar(self) -> Option<Scalar> {
        match self {
            Self::S(text) => Some(Scalar::S(text.to_owned())),
            Self::N(number) => Some(Scalar::N(number)),
            Self::B(bytes) => Some(Scalar::B(Bytes::copy_from_slice(bytes))),
            _ => None,
        }
    }
}

macro_rules! sequences {
    ($($(#[$doc:meta])* $name:ident of $item:ty, $read:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub struct $name<'a> {
            rest: &'a [u8],
            /// Number of elements before the first was read.
            count: usize,
        }

        impl<'a> $name<'a> {
            pub(super) const fn of(rest: &'a [u8], count: usize) -> Self {
                Self { rest, count }
            }

            /// Iterates over the elements again.
            pub const fn iter(&self) -> Self {
                *self
            }
        }

        impl<'a> Iterator for $name<'a> {
            type Item = $item;

            fn next(&mut self) -> Option<Self::Item> {
                ($read)(&mut self.rest)
            }

            /// The stored count is not trusted beyond what the bytes could hold.
            fn size_hint(&self) -> (usize, Option<usize>) {
                (0, Some(self.count.min(self.rest.len())))
            }
        }

        impl fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(*self).finish()
            }
        }
    )*};
}

sequences! {
    /// The values of a list.
    Values of ValueRef<'a>, read_value;
    /// The names and values of an item or a map, sorted by name.
    Entries of (&'a str, ValueRef<'a>), |rest: &mut &'a [u8]| Some((read_text(rest)?, read_value(rest)?));
    /// The members of a set of texts.
    Texts of &'a str, read_text;
    /// The members of a set of numbers.
    Numbers of Number, read_number;
    /// The members of a set of byte strings.
    Blobs of &'a [u8], read_blob;
}

impl<'a> Values<'a> {
    pub fn get(self, index: usize) -> Option<ValueRef<'a>> {
        let mut rest = self.rest;
        for _ in 0..index {
            skip_value(&mut rest)?;
        }
        read_value(&mut rest)
    }
}

impl<'a> Entries<'a> {
    pub fn get(mut self, name: &str) -> Option<ValueRef<'a>> {
        self.seek(name)
    }

    /// Returns the entry called `name` and advances past it, skipping entries with lower names. Seeking
    /// sorted names finds several entries in one pass.
    pub fn seek(&mut self, name: &str) -> Option<ValueRef<'a>> {
        let wanted = name.as_bytes();
        loop {
            let mut rest = self.rest;
            let found = read_blob(&mut rest)?;
            // Most names differ in their first byte; only the others need a full comparison.
            match found.first().cmp(&wanted.first()).then_with(|| found.cmp(wanted)) {
                Ordering::Less => skip_value(&mut rest)?,
                Ordering::Equal => {
                    let value = read_value(&mut rest);
                    self.rest = rest;
                    return value;
                }
                Ordering::Greater => return None,
            }
            self.rest = rest;
        }
    }

    /// Returns the next entry as bytes: its name, and the whole entry.
    pub(super) fn next_raw(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let mut rest = self.rest;
        let name = read_blob(&mut rest)?;
        skip_value(&mut rest)?;
        let entry = self.rest.get(..self.rest.len() - rest.len())?;
        self.rest = rest;
        Some((name, entry))
    }

    /// Skips the next entry if its bytes equal `entry`.
    pub(super) fn skip_if_equal(&mut self, entry: &[u8]) -> bool {
        self.rest.strip_prefix(entry).map(|rest| self.rest = rest).is_some()
    }
}
