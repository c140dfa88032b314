//! Attribute values as owned data, and the scalars allowed in keys.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use bytes::Bytes;

use crate::Number;

/// The attributes of an item or of a nested map, by name.
pub type Attributes = BTreeMap<String, Value>;

/// Bytes DynamoDB counts for a list or a map, besides one byte for each element.
pub(crate) const CONTAINER_BYTES: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    S(String),
    N(Number),
    B(Bytes),
    Bool(bool),
    Null,
    L(Vec<Value>),
    M(Attributes),
    /// Never empty in a stored item.
    Ss(BTreeSet<String>),
    /// Never empty in a stored item.
    Ns(BTreeSet<Number>),
    /// Never empty in a stored item.
    Bs(BTreeSet<Bytes>),
}

/// The type of a value, as `attribute_type` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    S,
    N,
    B,
    Bool,
    Null,
    L,
    M,
    Ss,
    Ns,
    Bs,
}

impl ValueKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::N => "N",
            Self::B => "B",
            Self::Bool => "BOOL",
            Self::Null => "NULL",
            Self::L => "L",
            Self::M => "M",
            Self::Ss => "SS",
            Self::Ns => "NS",
            Self::Bs => "BS",
        }
    }
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Value {
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

    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::Ss(texts.into_iter().map(Into::into).collect())
    }

    pub fn numbers<T: Into<Number>>(numbers: impl IntoIterator<Item = T>) -> Self {
        Self::Ns(numbers.into_iter().map(Into::into).collect())
    }

    pub fn list<T: Into<Value>>(values: impl IntoIterator<Item = T>) -> Self {
        Self::L(values.into_iter().map(Into::into).collect())
    }

    pub fn map<N: Into<String>, T: Into<Value>>(entries: impl IntoIterator<Item = (N, T)>) -> Self {
        Self::M(entries.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::S(text) => Some(text),
            _ => None,
        }
    }

    pub const fn as_number(&self) -> Option<Number> {
        match self {
            Self::N(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the size DynamoDB counts for this value, in bytes.
    pub fn stored_bytes(&self) -> usize {
        match self {
            Self::S(text) => text.len(),
            Self::N(number) => number.stored_bytes(),
            Self::B(bytes) => bytes.len(),
            Self::Bool(_) | Self::Null => 1,
            Self::L(values) => {
                CONTAINER_BYTES + values.iter().map(|value| 1 + value.stored_bytes()).sum::<usize>()
            }
            Self::M(entries) => {
                CONTAINER_BYTES
                    + entries
                        .iter()
                        .map(|(name, value)| 1 + name.len() + value.stored_bytes())
                        .sum::<usize>()
            }
            Self::Ss(texts) => texts.iter().map(String::len).sum(),
            Self::Ns(numbers) => numbers.iter().map(|number| number.stored_bytes()).sum(),
            Self::Bs(blobs) => blobs.iter().map(Bytes::len).sum(),
        }
    }
}

/// A value allowed in a key: text, number or bytes. Within one type the order is DynamoDB's: text by
/// UTF-8 bytes, numbers by value, bytes unsigned.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    S(String),
    N(Number),
    B(Bytes),
}

impl Scalar {
    pub const fn kind(&self) -> ValueKind {
        match self {
            Self::S(_) => ValueKind::S,
            Self::N(_) => ValueKind::N,
            Self::B(_) => ValueKind::B,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::S(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the size DynamoDB counts for this value, in bytes.
    pub fn stored_bytes(&self) -> usize {
        match self {
            Self::S(text) => text.len(),
            Self::N(number) => number.stored_bytes(),
            Self::B(bytes) => bytes.len(),
        }
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Errors quote keys; a hostile two-kilobyte key should not fill the log.
        const SHOWN_CHARS_MAX: usize = 128;
        match self {
            Self::S(text) if text.chars().count() > SHOWN_CHARS_MAX => {
                let start: String = text.chars().take(SHOWN_CHARS_MAX).collect();
                write!(f, "{start:?}… ({} bytes)", text.len())
            }
            Self::S(text) => write!(f, "{text:?}"),
            Self::N(number) => write!(f, "{number}"),
            Self::B(bytes) => {
                f.write_str("0x")?;
                bytes
                    .iter()
                    .take(SHOWN_CHARS_MAX / 2)
                    .try_for_each(|byte| write!(f, "{byte:02x}"))?;
                if bytes.len() > SHOWN_CHARS_MAX / 2 {
                    write!(f, "… ({} bytes)", bytes.len())?;
                }
                Ok(())
            }
        }
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::S(text) => Self::S(text),
            Scalar::N(number) => Self::N(number),
            Scalar::B(bytes) => Self::B(bytes),
        }
    }
}

impl From<Attributes> for Value {
    fn from(entries: Attributes) -> Self {
        Self::M(entries)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Self {
        Self::L(values)
    }
}

macro_rules! from_scalars {
    ($($from:ty => $variant:ident with $convert:expr;)*) => {$(
        impl From<$from> for Value {
            fn from(plain: $from) -> Self {
                Self::$variant($convert(plain))
            }
        }
        impl From<$from> for Scalar {
            fn from(plain: $from) -> Self {
                Self::$variant($convert(plain))
            }
        }
    )*};
}

from_scalars! {
    &str    => S with str::to_owned;
    &String => S with String::clone;
    String  => S with std::convert::identity;
    Number  => N with std::convert::identity;
    i32     => N with Number::from;
    u32     => N with Number::from;
    i64     => N with Number::from;
    u64     => N with Number::from;
    Bytes   => B with std::convert::identity;
    Vec<u8> => B with Bytes::from;
    &[u8]   => B with Bytes::copy_from_slice;
}
