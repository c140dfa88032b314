//! Converts items and values to and from the SDK's types. The two clients have different types.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_dynamodbstreams::types::AttributeValue as StreamValue;
use roundtable_table::{
    Attributes, Error, Item, Key, KeyDefinition, Position, Result, Scalar, TableDefinition, Value,
    ValueRef,
};

/// An item in the SDK's types.
pub(crate) type WireItem = HashMap<String, AttributeValue>;

pub(crate) fn to_wire(item: &Item) -> WireItem {
    item.iter().map(|(name, value)| (name.to_owned(), stored_to_wire(value))).collect()
}

pub(crate) fn key_to_wire(definition: &KeyDefinition, key: &Key) -> WireItem {
    to_wire(&definition.item(key))
}

pub(crate) fn position_to_wire(
    table: &TableDefinition,
    index: Option<&str>,
    position: &Position,
) -> Result<WireItem> {
    let mut wire = key_to_wire(&table.key, &position.base);
    if let Some(key) = &position.index {
        wire.extend(key_to_wire(table.key_of(index)?, key));
    }
    Ok(wire)
}

pub(crate) fn position_from_wire(
    table: &TableDefinition,
    index: Option<&str>,
    wire: WireItem,
) -> Result<Position> {
    let item = from_wire(wire)?;
    Position::of(table, index, &item)
        .ok_or_else(|| unexpected(format!("a page ended at {item:?}, which is not a key")))
}

fn stored_to_wire(value: ValueRef<'_>) -> AttributeValue {
    match value {
        ValueRef::S(text) => AttributeValue::S(text.to_owned()),
        ValueRef::N(number) => AttributeValue::N(number.to_string()),
        ValueRef::B(bytes) => AttributeValue::B(Blob::new(bytes)),
        ValueRef::Bool(truth) => AttributeValue::Bool(truth),
        ValueRef::Null => AttributeValue::Null(true),
        ValueRef::L(values) => AttributeValue::L(values.map(stored_to_wire).collect()),
        ValueRef::M(entries) => AttributeValue::M(
            entries.map(|(name, value)| (name.to_owned(), stored_to_wire(value))).collect(),
        ),
        ValueRef::Ss(texts) => AttributeValue::Ss(texts.map(str::to_owned).collect()),
        ValueRef::Ns(numbers) => AttributeValue::Ns(numbers.map(|n| n.to_string()).collect()),
        ValueRef::Bs(blobs) => AttributeValue::Bs(blobs.map(Blob::new).collect()),
    }
}

pub(crate) fn value_to_wire(value: &Value) -> AttributeValue {
    match value {
        Value::S(text) => AttributeValue::S(text.clone()),
        Value::N(number) => AttributeValue::N(number.to_string()),
        Value::B(bytes) => AttributeValue::B(Blob::new(bytes.as_ref())),
        Value::Bool(truth) => AttributeValue::Bool(*truth),
        Value::Null => AttributeValue::Null(true),
        Value::L(values) => AttributeValue::L(values.iter().map(value_to_wire).collect()),
        Value::M(entries) => AttributeValue::M(
            entries.iter().map(|(name, value)| (name.clone(), value_to_wire(value))).collect(),
        ),
        Value::Ss(texts) => AttributeValue::Ss(texts.iter().cloned().collect()),
        Value::Ns(numbers) => AttributeValue::Ns(numbers.iter().map(ToString::to_string).collect()),
        Value::Bs(blobs) => {
            AttributeValue::Bs(blobs.iter().map(|blob| Blob::new(blob.as_ref())).collect())
        }
    }
}

pub(crate) fn scalar_to_value(scalar: &Scalar) -> Value {
    Value::from(scalar.clone())
}

fn unexpected(detail: String) -> Error {
    Error::Unexpected { detail }
}

fn number(text: &str) -> Result<roundtable_table::Number> {
    text.parse().map_err(|error| unexpected(format!("number {text:?}: {error}")))
}

macro_rules! reading {
    ($item:ident, $value:ident, $wire:ident) => {
        pub(crate) fn $item(wire: HashMap<String, $wire>) -> Result<Item> {
            let attributes = wire.into_iter().map(|(name, wire)| Ok((name, $value(wire)?)));
            Ok(Item::from(attributes.collect::<Result<Attributes>>()?))
        }

        fn $value(wire: $wire) -> Result<Value> {
            Ok(match wire {
                $wire::S(text) => Value::S(text),
                $wire::N(text) => Value::N(number(&text)?),
                $wire::B(blob) => Value::B(blob.into_inner().into()),
                $wire::Bool(truth) => Value::Bool(truth),
                $wire::Null(_) => Value::Null,
                $wire::L(values) => {
                    Value::L(values.into_iter().map($value).collect::<Result<_>>()?)
                }
                $wire::M(entries) => Value::M(
                    entries
                        .into_iter()
                        .map(|(name, wire)| Ok((name, $value(wire)?)))
                        .collect::<Result<_>>()?,
                ),
                $wire::Ss(texts) => Value::Ss(texts.into_iter().collect()),
                $wire::Ns(texts) => {
                    Value::Ns(texts.iter().map(|text| number(text)).collect::<Result<_>>()?)
                }
                $wire::Bs(blobs) => {
                    Value::Bs(blobs.into_iter().map(|blob| blob.into_inner().into()).collect())
                }
                other => return Err(unexpected(format!("a value of unknown type: {other:?}"))),
            })
        }
    };
}

reading!(from_wire, value_from_wire, AttributeValue);
reading!(from_stream, value_from_stream, StreamValue);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use roundtable_table::{Number, item};

    fn any_value() -> impl Strategy<Value = Value> {
        let number = (any::<i64>(), -60..60i16).prop_map(|(digits, exponent)| {
            format!("{digits}e{exponent}").parse::<Number>().unwrap()
        });
        let bytes = |least| prop::collection::vec(any::<u8>(), least..9);
        let scalar = prop_oneof![
            ".{0,20}".prop_map(Value::S),
            number.clone().prop_map(Value::N),
            bytes(0).prop_map(|bytes| Value::B(bytes.into())),
            any::<bool>().prop_map(Value::Bool),
            Just(Value::Null),
            prop::collection::btree_set(".{1,9}", 1..5).prop_map(Value::Ss),
            prop::collection::btree_set(number, 1..5).prop_map(Value::Ns),
            prop::collection::btree_set(bytes(1).prop_map(Into::into), 1..5).prop_map(Value::Bs),
        ];
        scalar.prop_recursive(3, 20, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::L),
                prop::collection::btree_map(".{1,9}", inner, 0..5).prop_map(Value::M),
            ]
        })
    }

    proptest! {
        #[test]
        fn items_survive_a_round_trip(
            attributes in prop::collection::btree_map(".{1,9}", any_value(), 0..6)
        ) {
            let item = Item::from(&attributes);
            prop_assert_eq!(from_wire(to_wire(&item)).unwrap(), item);
        }

        #[test]
        fn constants_and_stored_values_convert_alike(value in any_value()) {
            let item = item! { "a" => value.clone() };
            prop_assert_eq!(to_wire(&item).remove("a"), Some(value_to_wire(&value)));
        }
    }

    #[test]
    fn an_invalid_number_is_rejected() {
        let wire = WireItem::from([(String::from("a"), AttributeValue::N(String::from("twelve")))]);
        assert!(matches!(from_wire(wire), Err(Error::Unexpected { .. })));
    }
}
