//! Values before their type is known: those of a file are typed, those of variables and flags are text
//! that is parsed as its key requires.

use std::collections::BTreeMap;

use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Visitor};

#[derive(Clone, Debug)]
pub(super) enum RawValue {
    /// From a variable, a flag or a secret's file.
    Text(String),
    /// From a file; its tables become [`RawValue::Table`].
    Typed(toml::Value),
    Table(BTreeMap<String, RawValue>),
}

impl RawValue {
    /// Returns whether it is the number zero.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().parse::<u64>() == Ok(0),
            Self::Typed(value) => value.as_integer() == Some(0),
            Self::Table(_) => false,
        }
    }
}

impl IntoDeserializer<'_, Error> for RawValue {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn custom_error(error: &toml::de::Error) -> Error {
    Error::custom(error.message())
}

/// Parses text as a number or a boolean. Text that does not parse is passed on as it is, so that the
/// error names what was expected.
macro_rules! parse_text_as {
    ($($method:ident: $type:ty => $visit:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self {
                Self::Text(text) => match text.trim().parse::<$type>() {
                    Ok(value) => visitor.$visit(value),
                    Err(_) => visitor.visit_string(text),
                },
                other => other.deserialize_any(visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for RawValue {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Text(text) => visitor.visit_string(text),
            Self::Typed(value) => {
                value.deserialize_any(visitor).map_err(|error| custom_error(&error))
            }
            Self::Table(table) => visitor.visit_map(MapDeserializer::new(table.into_iter())),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    /// Splits text at commas.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Text(text) => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                let items: Vec<Self> = items.map(|item| Self::Text(item.to_owned())).collect();
                visitor.visit_seq(SeqDeserializer::new(items.into_iter()))
            }
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Self::Text(text) | Self::Typed(toml::Value::String(text)) => {
                let text: serde::de::value::StringDeserializer<Error> = text.into_deserializer();
                text.deserialize_enum(name, variants, visitor)
            }
            _ => Err(Error::custom(format!("expected one of {}", variants.join(", ")))),
        }
    }

    parse_text_as! {
        deserialize_bool: bool => visit_bool,
        deserialize_i8: i64 => visit_i64,
        deserialize_i16: i64 => visit_i64,
        deserialize_i32: i64 => visit_i64,
        deserialize_i64: i64 => visit_i64,
        deserialize_u8: u64 => visit_u64,
        deserialize_u16: u64 => visit_u64,
        deserialize_u32: u64 => visit_u64,
        deserialize_u64: u64 => visit_u64,
        deserialize_f32: f64 => visit_f64,
        deserialize_f64: f64 => visit_f64,
    }

    serde::forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct tuple tuple_struct map struct identifier
        ignored_any
    }
}
