//! Types that are text wherever they leave the program: one way in (parsing) and one way out.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use roundtable_table::ValueRef;
use serde::de::{Deserializer, Error, Visitor};

use crate::attribute::Misfit;

/// Reads a text attribute.
pub(crate) fn read_text<T: FromStr<Err = Misfit>>(
    kind: &'static str,
    value: Option<ValueRef<'_>>,
) -> Result<T, Misfit> {
    match value {
        Some(ValueRef::S(text)) => text.parse(),
        other => Err(Misfit::of_value(kind, other)),
    }
}

/// Reads a text out of whatever serde reads from.
pub(crate) fn deserialize_text<'de, T, D>(kind: &'static str, from: D) -> Result<T, D::Error>
where
    T: FromStr<Err = Misfit>,
    D: Deserializer<'de>,
{
    from.deserialize_str(Parsed { kind, of: PhantomData })
}

struct Parsed<T> {
    kind: &'static str,
    of: PhantomData<T>,
}

impl<T: FromStr<Err = Misfit>> Visitor<'_> for Parsed<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the text of a value of kind {}", self.kind)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Makes types that parse (with [`Misfit`]s) and display into text attributes, for serde too.
macro_rules! text_like {
    ($($name:ty: $kind:expr;)*) => {$(
        impl $crate::attribute::Attribute for $name {
            const KIND: &'static str = $kind;

            fn to_value(&self) -> Option<::roundtable_table::Value> {
                Some(::roundtable_table::Value::S(self.to_string()))
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

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
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
