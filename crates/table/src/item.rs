//! Items in their stored encoding: attributes can be read one by one without building a map.
//!
//! ```text
//! item   := size:u32le  count:u32le  names:u64le  entry*   entries rise by name
//! entry  := len:varint name  value
//! value  := 'S' len:varint utf8   | 'N' len:u8 number  | 'B' len:varint bytes
//!         | 't' | 'f' | '0'                            true, false, null
//!         | 'L' body:u32le count:u32le value*          | 'M' body:u32le count:u32le entry*
//!         | 's' body:u32le count:u32le (len:varint utf8)*
//!         | 'n' body:u32le count:u32le (len:u8 number)*
//!         | 'b' body:u32le count:u32le (len:varint bytes)*
//! ```
//! `size` is the size DynamoDB counts for the item, so that capacity needs no pass over the item. `names`
//! is a small Bloom filter over the attribute names, so that most lookups of absent attributes need none
//! either. The encoding is canonical (names and sets sorted, numbers normalised): two items are equal
//! when their bytes are. Reading never panics; bytes that are not an item read as absent attributes.

mod borrowed;
mod builder;
mod changes;
mod encoding;
mod template;

use std::fmt;

use bytes::Bytes;

pub use self::borrowed::{Blobs, Entries, Numbers, Texts, ValueRef, Values};
pub use self::builder::{AttributeName, ItemBuilder, ValueSlot};
pub use self::changes::Changes;
pub use self::template::ItemTemplate;
use crate::{Attributes, Number, Path, PathStep, Value};

const HEADER: usize = 16;

/// A stored item: immutable and cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Item(Bytes);

impl Item {
    /// Reads an item from its stored bytes; `None` if they are too short to be one.
    pub fn from_stored(bytes: Bytes) -> Option<Self> {
        (bytes.len() >= HEADER).then_some(Self(bytes))
    }

    pub const fn as_stored(&self) -> &Bytes {
        &self.0
    }

    /// Returns the size DynamoDB counts for this item, in bytes.
    pub fn size(&self) -> usize {
        self.0.first_chunk().map_or(0, |size: &[u8; 4]| u32::from_le_bytes(*size) as usize)
    }

    /// Returns the number of attributes.
    pub fn len(&self) -> usize {
        let count = self.0.get(4..).and_then(|rest| rest.first_chunk::<4>());
        count.map_or(0, |count| u32::from_le_bytes(*count) as usize)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the attributes, sorted by name.
    pub fn iter(&self) -> Entries<'_> {
        Entries::of(self.0.get(HEADER..).unwrap_or_default(), self.len())
    }

    pub fn get(&self, name: &str) -> Option<ValueRef<'_>> {
        if self.names() & AttributeName::new(name).bit() == 0 {
            return None;
        }
        self.iter().get(name)
    }

    fn names(&self) -> u64 {
        let names = self.0.get(8..).and_then(|rest| rest.first_chunk::<8>());
        names.map_or(0, |names| u64::from_le_bytes(*names))
    }

    /// Returns the attribute `name` if it is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            ValueRef::S(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the attribute `name` if it is a number.
    pub fn number(&self, name: &str) -> Option<Number> {
        match self.get(name)? {
            ValueRef::N(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the value at a document path.
    pub fn at(&self, path: &Path) -> Option<ValueRef<'_>> {
        path.steps().iter().try_fold(self.get(path.name())?, |value, step| match (value, step) {
            (ValueRef::M(map), PathStep::Field(name)) => map.get(name),
            (ValueRef::L(list), PathStep::Index(index)) => list.get(*index),
            _ => None,
        })
    }

    /// Copies all attributes into owned values.
    pub fn to_attributes(&self) -> Attributes {
        self.iter().map(|(name, value)| (name.to_owned(), value.to_value())).collect()
    }

    /// Returns a copy with one attribute set.
    pub fn with(&self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let mut attributes = self.to_attributes();
        attributes.insert(name.into(), value.into());
        Self::from(&attributes)
    }

    /// Returns the changes from this item to `after`, sorted by name: attributes to set, or (`None`) remove.
    pub fn changes<'a>(&'a self, after: &'a Self) -> Changes<'a> {
        Changes::new(self.iter(), after.iter())
    }

    /// Returns a copy with only the values at `paths`. Gaps in lists close up, as in DynamoDB.
    pub fn project(&self, paths: &[Path]) -> Self {
        let mut projected = Projection::default();
        for path in paths {
            if self.at(path).is_some() {
                projected.add(path.steps(), path.name());
            }
        }
        let kept = self.iter().filter_map(|(name, value)| {
            let node = projected.fields.iter().find(|(field, _)| field == name)?;
            Some((name.to_owned(), node.1.take(value)))
        });
        Self::from(&kept.collect::<Attributes>())
    }
}

/// The parts of a value that a projection keeps; a `whole` node keeps all of it.
#[derive(Default)]
struct Projection {
    whole: bool,
    fields: Vec<(String, Projection)>,
    elements: Vec<(usize, Projection)>,
}

impl Projection {
    fn add(&mut self, steps: &[PathStep], name: &str) {
        child(&mut self.fields, &name.to_owned()).descend(steps);
    }

    fn descend(&mut self, steps: &[PathStep]) {
        match steps.split_first() {
            None => self.whole = true,
            Some((PathStep::Field(name), rest)) => child(&mut self.fields, name).descend(rest),
            Some((PathStep::Index(index), rest)) => child(&mut self.elements, index).descend(rest),
        }
    }

    fn take(&self, value: ValueRef<'_>) -> Value {
        match value {
            _ if self.whole => value.to_value(),
            ValueRef::M(map) => Value::M(
                map.iter()
                    .filter_map(|(name, value)| {
                        let node = self.fields.iter().find(|(field, _)| field == name)?;
                        Some((name.to_owned(), node.1.take(value)))
                    })
                    .collect(),
            ),
            ValueRef::L(list) => Value::L(
                list.iter()
                    .enumerate()
                    .filter_map(|(at, value)| {
                        let node = self.elements.iter().find(|(index, _)| *index == at)?;
                        Some(node.1.take(value))
                    })
                    .collect(),
            ),
            other => other.to_value(),
        }
    }
}

fn child<'a, K: PartialEq + Clone>(
    children: &'a mut Vec<(K, Projection)>,
    key: &K,
) -> &'a mut Projection {
    let at = children.iter().position(|(existing, _)| existing == key).unwrap_or_else(|| {
        children.push((key.clone(), Projection::default()));
        children.len() - 1
    });
    #[expect(clippy::indexing_slicing, reason = "position() or the push above made it valid")]
    &mut children[at].1
}

impl From<&Attributes> for Item {
    fn from(attributes: &Attributes) -> Self {
        ItemBuilder::build_map(attributes)
    }
}

impl From<Attributes> for Item {
    fn from(attributes: Attributes) -> Self {
        Self::from(&attributes)
    }
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Item {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(entries: I) -> Self {
        entries.into_iter().map(|(n, v)| (n.into(), v.into())).collect::<Attributes>().into()
    }
}

impl<'a> IntoIterator for &'a Item {
    type Item = (&'a str, ValueRef<'a>);
    type IntoIter = Entries<'a>;

    fn into_iter(self) -> Entries<'a> {
        self.iter()
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Builds an [`Item`] from `name => value` pairs.
#[macro_export]
macro_rules! item {
    ($($name:expr => $value:expr),* $(,)?) => {
        $crate::Item::from($crate::Attributes::from([
            $((::std::string::String::from($name), $crate::Value::from($value))),*
        ]))
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn any_value() -> impl Strategy<Value = Value> {
        let number = (any::<i64>(), -60..60i16)
            .prop_map(|(n, e)| format!("{n}e{e}").parse::<Number>().unwrap());
        let scalar = prop_oneof![
            ".{0,40}".prop_map(Value::S),
            number.clone().prop_map(Value::N),
            prop::collection::vec(any::<u8>(), 0..200).prop_map(|b| Value::B(b.into())),
            any::<bool>().prop_map(Value::Bool),
            Just(Value::Null),
            prop::collection::btree_set(".{1,9}", 1..5).prop_map(Value::Ss),
            prop::collection::btree_set(number, 1..5).prop_map(Value::Ns),
            prop::collection::btree_set(
                prop::collection::vec(any::<u8>(), 1..9).prop_map(Bytes::from),
                1..5
            )
            .prop_map(Value::Bs),
        ];
        scalar.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::L),
                prop::collection::btree_map(".{1,9}", inner, 0..6).prop_map(Value::M),
            ]
        })
    }

    proptest! {
        #[test]
        fn an_item_reads_back_as_it_was_written(
            attributes in prop::collection::btree_map(".{1,20}", any_value(), 0..12)
        ) {
            let item = Item::from(&attributes);
            prop_assert_eq!(item.to_attributes(), attributes.clone());
            prop_assert_eq!(item.len(), attributes.len());
            let size: usize = attributes.iter().map(|(n, v)| n.len() + v.stored_bytes()).sum();
            prop_assert_eq!(item.size(), size);
            for (name, value) in &attributes {
                prop_assert_eq!(item.get(name).map(ValueRef::to_value), Some(value.clone()));
            }
            prop_assert!(item.get("no such attribute, as it is too long to be made").is_none());
        }

        #[test]
        fn several_attributes_are_found_in_one_pass(
            attributes in prop::collection::btree_map("[a-d]{1,2}", any_value(), 0..8),
            names in prop::collection::btree_set("[a-d]{1,2}", 0..8),
        ) {
            let item = Item::from(&attributes);
            let mut entries = item.iter();
            for name in &names {
                let found = entries.seek(name).map(ValueRef::to_value);
                prop_assert_eq!(found.as_ref(), attributes.get(name));
            }
        }

        #[test]
        fn the_size_hint_of_a_list_is_an_upper_bound(values in prop::collection::vec(any_value(), 0..6)) {
            let item = item! { "l" => Value::L(values.clone()) };
            let Some(ValueRef::L(list)) = item.get("l") else { panic!("it is a list") };
            prop_assert_eq!(list.size_hint(), (0, Some(values.len())));
            prop_assert_eq!(list.count(), values.len());
        }

        #[test]
        fn reading_arbitrary_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Some(item) = Item::from_stored(bytes.into()) {
                let _ = (item.to_attributes(), item.get("a").is_some(), format!("{item:?}"));
            }
        }
    }

    #[test]
    fn the_encoding_is_the_documented_one() {
        let item = item! {
            "m" => Value::map([("k", Value::Bool(true))]),
            "a" => Value::L(vec!["é".into(), Value::Null, 12.into()]),
            "s" => Value::texts(["y", "x"]),
        };
        let mut expected = Vec::new();
        // Names, then containers with their elements, as DynamoDB counts them.
        let size = 3_u32 + (3 + 3 + 2 + 1 + 2) + (3 + 1 + 1 + 1) + 2;
        expected.extend(size.to_le_bytes());
        expected.extend(3_u32.to_le_bytes());
        expected.extend(0x0410_0000_0100_0000_u64.to_le_bytes());
        expected.extend(b"\x01aL\x0d\0\0\0\x03\0\0\0S\x02\xc3\xa90N\x02\xc1\x18");
        expected.extend(b"\x01mM\x07\0\0\0\x01\0\0\0\x01kt");
        expected.extend(b"\x01ss\x08\0\0\0\x02\0\0\0\x01x\x01y");
        assert_eq!(item.as_stored(), &expected);
        assert_eq!(AttributeName::new("authorId").bit(), 1 << 22);
    }

    #[test]
    fn a_projection_keeps_nested_parts_and_closes_lists_up() {
        let item = item! {
            "a" => Value::map([("x", Value::from(1)), ("y", Value::from(2))]),
            "l" => Value::list([1, 2, 3]),
            "z" => "kept out",
        };
        let paths = [
            Path::new("a").field("y"),
            Path::new("l").index(0),
            Path::new("l").index(2),
            "q".into(),
        ];
        let expected = item! { "a" => Value::map([("y", 2)]), "l" => Value::list([1, 3]) };
        assert_eq!(item.project(&paths), expected);
    }
}
