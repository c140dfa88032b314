//! Types that are text wherever they leave the program: one way in (parsing) and one way out.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use roundtable_table::ValueRef;
use serde::de::{Deserializer, Error, Visitor};

use crate::attribute::Misfit;

/// A type that is a text to everybody else.
pub(crate) trait Text: FromStr<Err = Misfit> {
    /// Calls `read` with the text.
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T;

    /// Reads the text back from where it was stored. What parsing has made sure of, and nothing
    /// depends on for its safety, need not be looked at again.
    fn from_stored(text: &str) -> Result<Self, Misfit> {
        text.parse()
    }
}

/// Reads a text attribute.
pub(crate) fn read_text<T: Text>(
    kind: &'static str,
    value: Option<ValueRef<'_>>,
) -> Result<T, Misfit> {
    match value {
        Some(ValueRef::S(text)) => T::from_stored(text),
        other => Err(Misfit::of_value(kind, other)),
    }
}

/// Reads a text out of whatever serde reads from.
pub(crate) fn deserialize_text<'de, T, D>(kind: &'static str, from: D) -> Result<T, D::Error>
where
    T: Text,
    D: Deserializer<'de>,
{
    from.deserialize_str(Parsed { kind, of: PhantomData })
}

struct Parsed<T> {
    kind: &'static str,
    of: PhantomData<T>,
}

impl<T: Text> Visitor<'_> for Parsed<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the text of a value of kind {}", self.kind)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Makes types that are [`Text`] into text attributes, and into text for people and serde.
macro_rules! text_like {
    ($($name:ty: $kind:expr;)*) => {$(
        impl $crate::attribute::Attribute for $name {
            const KIND: &'static str = $kind;

            fn fill(&self, slot: ::roundtable_table::Slot<'_>) {
                $crate::attribute::Text::with_text(self, |text| slot.text(text));
            }

            fn from_value(
                value: Option<::roundtable_table::ValueRef<'_>>,
            ) -> Result<Self, $crate::attribute::Misfit> {
                $crate::attribute::read_text(Self::KIND, value)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = $crate::attribute::Misfit;

            fn try_from(text: &str) -> Result<Self, $crate::attribute::Misfit> {
                text.parse()
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                $crate::attribute::Text::with_text(self, |text| f.pad(text))
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $crate::attribute::Text::with_text(self, |text| to.serialize_str(text))
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
