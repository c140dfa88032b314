//! Attributes of Rust's own types: strings, booleans, integers, options and lists.

use roundtable_table::{Number, ValueRef, ValueSlot};

use crate::attribute::{Attribute, InvalidValue};

impl Attribute for String {
    const KIND: &'static str = "text";

    fn fill(&self, slot: ValueSlot<'_>) {
        slot.text(self);
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, InvalidValue> {
        match value {
            Some(ValueRef::S(text)) => Ok(text.to_owned()),
            other => Err(InvalidValue::of_value(Self::KIND, other)),
        }
    }
}

impl Attribute for bool {
    const KIND: &'static str = "true or false";

    fn fill(&self, slot: ValueSlot<'_>) {
        slot.boolean(*self);
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, InvalidValue> {
        match value {
            Some(ValueRef::Bool(truth)) => Ok(truth),
            other => Err(InvalidValue::of_value(Self::KIND, other)),
        }
    }
}

macro_rules! whole_numbers {
    ($($name:ty, $wide:ty, $read:expr, $expected:literal;)*) => {$(
        impl Attribute for $name {
            const KIND: &'static str = "number";

            fn fill(&self, slot: ValueSlot<'_>) {
                slot.number(<$wide>::from(*self));
            }

            fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, InvalidValue> {
                let whole = match value {
                    Some(ValueRef::N(number)) => $read(number),
                    _ => None,
                };
                whole
                    .and_then(|whole| Self::try_from(whole).ok())
                    .ok_or_else(|| InvalidValue::of_value($expected, value))
            }
        }
    )*};
}

whole_numbers! {
    u16, u64, Number::to_u64, "a whole number up to 65535";
    u32, u64, Number::to_u64, "a whole number up to 4294967295";
    u64, u64, Number::to_u64, "a whole number up to 18446744073709551615";
    i64, i64, Number::to_i64, "a whole number of 64 bits";
}

/// Absent is `None`; so is null, which other programs write for absent values.
impl<T: Attribute> Attribute for Option<T> {
    const KIND: &'static str = T::KIND;
    const OPTIONAL: bool = true;

    fn fill(&self, slot: ValueSlot<'_>) {
        if let Some(value) = self {
            value.fill(slot);
        }
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, InvalidValue> {
        match value {
            None | Some(ValueRef::Null) => Ok(None),
            Some(value) => T::from_value(Some(value)).map(Some),
        }
    }
}

/// A list, which may be empty but not absent.
impl<T: Attribute> Attribute for Vec<T> {
    const KIND: &'static str = ListKind::<T>::KIND;

    fn fill(&self, slot: ValueSlot<'_>) {
        // A list has no gaps: an element that would be absent is null.
        slot.list(self, T::fill);
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, InvalidValue> {
        let Some(ValueRef::L(values)) = value else {
            return Err(InvalidValue::of_value(Self::KIND, value));
        };
        let mut list = Self::with_capacity(values.size_hint().1.unwrap_or_default());
        for (at, each) in values.enumerate() {
            list.push(T::from_value(Some(each)).map_err(|error| {
                let found = format_args!("{} at {at} of a list", error.found);
                InvalidValue::new(error.expected, found)
            })?);
        }
        Ok(list)
    }
}

/// Builds `list of …` at compile time, where there is no `format!`.
struct ListKind<T>(T);

impl<T: Attribute> ListKind<T> {
    const PREFIX: &'static str = "list of ";

    /// The text, padded with zeros; a kind that is too long does not compile.
    const BYTES: [u8; 64] = {
        let mut bytes = [0; 64];
        let (prefix, rest) = bytes.split_at_mut(Self::PREFIX.len());
        prefix.copy_from_slice(Self::PREFIX.as_bytes());
        rest.split_at_mut(T::KIND.len()).0.copy_from_slice(T::KIND.as_bytes());
        bytes
    };

    const KIND: &'static str = {
        let bytes: &'static [u8; 64] = &Self::BYTES;
        match str::from_utf8(bytes.split_at(Self::PREFIX.len() + T::KIND.len()).0) {
            Ok(text) => text,
            Err(_) => "list",
        }
    };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use roundtable_table::{Item, Value, item};

    use super::*;
    use crate::attribute::sample::round_trips;
    use crate::attribute::seeded;

    fn read<T: Attribute>(item: &Item) -> Result<T, String> {
        T::from_value(item.get("x")).map_err(|error| error.to_string())
    }

    #[test]
    fn each_number_has_its_bounds() {
        assert_eq!(read::<u16>(&item! { "x" => 65_535 }), Ok(65_535));
        let refused = read::<u16>(&item! { "x" => 65_536 });
        assert_eq!(refused, Err("expected a whole number up to 65535, found 65536".into()));
        assert_eq!(read::<u64>(&item! { "x" => u64::MAX }), Ok(u64::MAX));
        assert_eq!(read::<i64>(&item! { "x" => i64::MIN }), Ok(i64::MIN));
        let refused = read::<u32>(&item! { "x" => -1 });
        assert_eq!(refused, Err("expected a whole number up to 4294967295, found -1".into()));
        let half: Number = "0.5".parse().unwrap();
        assert!(read::<i64>(&item! { "x" => half }).is_err());
    }

    #[test]
    fn other_kinds_of_values_are_refused() {
        let refused = read::<u64>(&item! { "x" => "5" });
        let message = "expected a whole number up to 18446744073709551615, found the text \"5\"";
        assert_eq!(refused, Err(message.into()));
        assert_eq!(read::<String>(&item! {}), Err("expected text, found nothing".into()));
        let refused = read::<bool>(&item! { "x" => 1 });
        assert_eq!(refused, Err("expected true or false, found 1".into()));
        assert!(read::<String>(&item! { "x" => Value::Null }).is_err());
    }

    #[test]
    fn absent_and_null_are_none() {
        assert_eq!(read::<Option<u64>>(&item! {}), Ok(None));
        assert_eq!(read::<Option<u64>>(&item! { "x" => Value::Null }), Ok(None));
        assert_eq!(read::<Option<u64>>(&item! { "x" => 1 }), Ok(Some(1)));
        assert!(read::<Option<u64>>(&item! { "x" => "1" }).is_err());
        assert_eq!(None::<u64>.to_value(), None);
        const { assert!(Option::<u64>::OPTIONAL && !u64::OPTIONAL && !Vec::<u64>::OPTIONAL) };
    }

    #[test]
    fn a_list_error_names_the_invalid_element() {
        let list = Value::L(vec!["a".into(), 7.into()]);
        let refused = read::<Vec<String>>(&item! { "x" => list });
        assert_eq!(refused, Err("expected text, found 7 at 1 of a list".into()));
        let refused = read::<Vec<String>>(&item! {});
        assert_eq!(refused, Err("expected list of text, found nothing".into()));
        assert_eq!(read(&item! { "x" => Value::L(vec![]) }), Ok(Vec::<String>::new()));
    }

    #[test]
    fn kinds_are_readable() {
        assert_eq!(<Vec<String>>::KIND, "list of text");
        assert_eq!(<Option<Vec<u64>>>::KIND, "list of number");
        assert_eq!(<Vec<Vec<bool>>>::KIND, "list of list of true or false");
    }

    proptest! {
        #[test]
        fn stored_values_read_back(seed: u64) {
            let random = &mut seeded(seed);
            round_trips::<String>(random)?;
            round_trips::<bool>(random)?;
            round_trips::<u16>(random)?;
            round_trips::<u32>(random)?;
            round_trips::<u64>(random)?;
            round_trips::<i64>(random)?;
            round_trips::<Option<String>>(random)?;
            round_trips::<Vec<u64>>(random)?;
            round_trips::<Vec<Option<String>>>(random)?;
            round_trips::<Option<Vec<bool>>>(random)?;
        }
    }
}
