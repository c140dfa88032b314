//! Types that are text outside the program: in attributes, messages and serde formats.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use roundtable_table::ValueRef;
use serde::de::{Deserializer, Error, Visitor};

use crate::attribute::InvalidValue;

/// A type that is represented as text outside the program.
pub(crate) trait TextValue: FromStr<Err = InvalidValue> {
    /// Calls `read` with the text.
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T;

    /// Reads the text from a stored attribute. Checks that parsing made before it was stored, and
    /// that no safety depends on, can be skipped.
    fn from_stored(text: &str) -> Result<Self, InvalidValue> {
        text.parse()
    }
}

pub(crate) fn read_text<T: TextValue>(
    kind: &'static str,
    value: Option<ValueRef<'_>>,
) -> Result<T, InvalidValue> {
    match value {
        Some(ValueRef::S(text)) => T::from_stored(text),
        other => Err(InvalidValue::of_value(kind, other)),
    }
}

/// Reads a text from a deserializer.
pub(crate) fn deserialize_text<'de, T, D>(kind: &'static str, from: D) -> Result<T, D::Error>
where
    T: TextValue,
    D: Deserializer<'de>,
{
    from.deserialize_str(TextVisitor { kind, of: PhantomData })
}

struct TextVisitor<T> {
    kind: &'static str,
    of: PhantomData<T>,
}

impl<T: TextValue> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the text of a value of kind {}", self.kind)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Implements [`Attribute`](crate::Attribute), `Display` and serde's traits for types that are
/// [`TextValue`].
macro_rules! text_like {
    ($($name:ty: $kind:expr;)*) => {$(
        impl $crate::attribute::Attribute for $name {
            const KIND: &'static str = $kind;

            fn fill(&self, slot: ::roundtable_table::ValueSlot<'_>) {
                $crate::attribute::TextValue::with_text(self, |text| slot.text(text));
            }

            fn from_value(
                value: Option<::roundtable_table::ValueRef<'_>>,
            ) -> Result<Self, $crate::attribute::InvalidValue> {
                $crate::attribute::read_text(Self::KIND, value)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = $crate::attribute::InvalidValue;

            fn try_from(text: &str) -> Result<Self, $crate::attribute::InvalidValue> {
                text.parse()
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                $crate::attribute::TextValue::with_text(self, |text| f.pad(text))
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $crate::attribute::TextValue::with_text(self, |text| to.serialize_str(text))
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::attribute::deserialize_text(
                    <Self as $crate::attribute::Attribute>::KIND,
                    from,
                )
            }
        }
    )*};
}

pub(crate) use text_like;
