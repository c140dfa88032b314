//! Values inside stored items, read in place: nothing is copied until it is asked for.

use std::cmp::Ordering;
use std::fmt;

use bytes::Bytes;

use super::encoding::{read_blob, read_number, read_text, read_value, skip_value};
use crate::{Kind, Number, Scalar, Value};

/// A value inside a stored item, borrowed.
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
    /// The type of this value.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::S(_) => Kind::S,
            Self::N(_) => Kind::N,
            Self::B(_) => Kind::B,
            Self::Bool(_) => Kind::Bool,
            Self::Null => Kind::Null,
            Self::L(_) => Kind::L,
            Self::M(_) => Kind::M,
            Self::Ss(_) => Kind::Ss,
            Self::Ns(_) => Kind::Ns,
            Self::Bs(_) => Kind::Bs,
        }
    }

    /// An owned copy.
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

    /// An owned copy, if this value may stand in a key.
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
            /// How many there were before the first was read.
            count: usize,
        }

        impl<'a> $name<'a> {
            pub(super) const fn of(rest: &'a [u8], count: usize) -> Self {
                Self { rest, count }
            }

            /// Goes through the elements again.
            pub const fn iter(&self) -> Self {
                *self
            }
        }

        impl<'a> Iterator for $name<'a> {
            type Item = $item;

            fn next(&mut self) -> Option<Self::Item> {
                ($read)(&mut self.rest)
            }

            /// Never more than the bytes could hold, whatever they say.
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
    /// Names and values of an item or a map, by rising name.
    Entries of (&'a str, ValueRef<'a>), |rest: &mut &'a [u8]| Some((read_text(rest)?, read_value(rest)?));
    /// The members of a set of texts.
    Texts of &'a str, read_text;
    /// The members of a set of numbers.
    Numbers of Number, read_number;
    /// The members of a set of byte strings.
    Blobs of &'a [u8], read_blob;
}

impl<'a> Values<'a> {
    /// The element at `index`.
    pub fn get(self, index: usize) -> Option<ValueRef<'a>> {
        let mut rest = self.rest;
        for _ in 0..index {
            skip_value(&mut rest)?;
        }
        read_value(&mut rest)
    }
}

impl<'a> Entries<'a> {
    /// The entry called `name`.
    pub fn get(mut self, name: &str) -> Option<ValueRef<'a>> {
        self.seek(name)
    }

    /// The entry called `name`, which is then behind; those with lower names are passed over unread.
    /// So several entries are found in one pass, by rising name.
    pub fn seek(&mut self, name: &str) -> Option<ValueRef<'a>> {
        let wanted = name.as_bytes();
        loop {
            let mut rest = self.rest;
            let found = read_blob(&mut rest)?;
            // Most names differ in their first byte; only the others are worth a call to compare.
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

    /// The next entry as bytes: its name, and all of it.
    pub(super) fn next_raw(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let mut rest = self.rest;
        let name = read_blob(&mut rest)?;
        skip_value(&mut rest)?;
        let entry = self.rest.get(..self.rest.len() - rest.len())?;
        self.rest = rest;
        Some((name, entry))
    }

    /// Goes behind the next entry if these are its bytes.
    pub(super) fn pass(&mut self, entry: &[u8]) -> bool {
        self.rest.strip_prefix(entry).map(|rest| self.rest = rest).is_some()
    }
}
