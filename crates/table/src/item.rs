//! An item as the bytes it is stored in: attributes can be read one by one without building a map.
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
//! `size` is what DynamoDB counts for the item, so that capacity needs no walk. `names` has a bit for
//! each attribute's name, so that most attributes that are absent need none either. The encoding is
//! canonical (names and sets sorted, numbers normalised): two items are equal when their bytes are.
//! Reading never panics; bytes that are not an item read as absent attributes.

mod encoding;

use std::cmp::Ordering;
use std::fmt;

use bytes::Bytes;

use self::encoding::{
    read_blob, read_number, read_text, read_value, skip_value, write_blob, write_value,
};
use crate::{Attributes, Kind, Number, Path, Scalar, Step, Value};

const HEADER: usize = 16;

/// A stored item: immutable and cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Item(Bytes);

impl Item {
    /// Reads an item out of stored bytes; `None` when they are too short to be one.
    pub fn from_stored(bytes: Bytes) -> Option<Self> {
        (bytes.len() >= HEADER).then_some(Self(bytes))
    }

    /// The stored bytes.
    pub const fn as_stored(&self) -> &Bytes {
        &self.0
    }

    /// What DynamoDB counts for this item, in bytes.
    pub fn size(&self) -> usize {
        self.0.first_chunk().map_or(0, |size: &[u8; 4]| u32::from_le_bytes(*size) as usize)
    }

    /// How many attributes it has.
    pub fn len(&self) -> usize {
        let count = self.0.get(4..).and_then(|rest| rest.first_chunk::<4>());
        count.map_or(0, |count| u32::from_le_bytes(*count) as usize)
    }

    /// Whether it has no attributes at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The attributes in the order of their names.
    pub fn iter(&self) -> Entries<'_> {
        Entries { rest: self.0.get(HEADER..).unwrap_or_default() }
    }

    /// The attribute `name`.
    pub fn get(&self, name: &str) -> Option<ValueRef<'_>> {
        if self.names() & name_bit(name) == 0 {
            return None;
        }
        self.iter().get(name)
    }

    fn names(&self) -> u64 {
        let names = self.0.get(8..).and_then(|rest| rest.first_chunk::<8>());
        names.map_or(0, |names| u64::from_le_bytes(*names))
    }

    /// The text attribute `name`.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            ValueRef::S(text) => Some(text),
            _ => None,
        }
    }

    /// The number attribute `name`.
    pub fn number(&self, name: &str) -> Option<Number> {
        match self.get(name)? {
            ValueRef::N(number) => Some(number),
            _ => None,
        }
    }

    /// The value at a document path.
    pub fn at(&self, path: &Path) -> Option<ValueRef<'_>> {
        path.steps().iter().try_fold(self.get(path.name())?, |value, step| match (value, step) {
            (ValueRef::M(map), Step::Field(name)) => map.get(name),
            (ValueRef::L(list), Step::Index(index)) => list.get(*index),
            _ => None,
        })
    }

    /// All attributes as owned values.
    pub fn to_attributes(&self) -> Attributes {
        self.iter().map(|(name, value)| (name.to_owned(), value.to_value())).collect()
    }

    /// This item with one attribute set.
    pub fn with(&self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let mut attributes = self.to_attributes();
        attributes.insert(name.into(), value.into());
        Self::from(&attributes)
    }

    /// This item with only the attributes at `paths`. List elements close up, as in DynamoDB.
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

/// The bit that stands for a name, of 64.
fn name_bit(name: &str) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, mix);
    1 << (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

/// Which parts of a value a projection keeps; a node without children keeps all of it.
#[derive(Default)]
struct Projection {
    whole: bool,
    fields: Vec<(String, Projection)>,
    elements: Vec<(usize, Projection)>,
}

impl Projection {
    fn add(&mut self, steps: &[Step], name: &str) {
        child(&mut self.fields, &name.to_owned()).descend(steps);
    }

    fn descend(&mut self, steps: &[Step]) {
        match steps.split_first() {
            None => self.whole = true,
            Some((Step::Field(name), rest)) => child(&mut self.fields, name).descend(rest),
            Some((Step::Index(index), rest)) => child(&mut self.elements, index).descend(rest),
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
        let size: usize =
            attributes.iter().map(|(name, value)| name.len() + value.stored_bytes()).sum();
        let mut out = Vec::with_capacity(HEADER + size + attributes.len() * 4);
        out.extend_from_slice(&u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes());
        out.extend_from_slice(&u32::try_from(attributes.len()).unwrap_or(u32::MAX).to_le_bytes());
        let names = attributes.keys().fold(0, |names, name| names | name_bit(name));
        out.extend_from_slice(&names.to_le_bytes());
        for (name, value) in attributes {
            write_blob(&mut out, name.as_bytes());
            write_value(&mut out, value);
        }
        Self(out.into())
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

/// A value inside a stored item, borrowed.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the variants mirror Value's")]
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
        #[derive(Clone, Copy)]
        pub struct $name<'a> {
            rest: &'a [u8],
        }

        impl<'a> $name<'a> {
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
    pub fn get(self, name: &str) -> Option<ValueRef<'a>> {
        let mut rest = self.rest;
        let wanted = name.as_bytes();
        loop {
            let found = read_blob(&mut rest)?;
            // Most names differ in their first byte; only the others are worth a call to compare.
            match found.first().cmp(&wanted.first()).then_with(|| found.cmp(wanted)) {
                Ordering::Less => skip_value(&mut rest)?,
                Ordering::Equal => return read_value(&mut rest),
                Ordering::Greater => return None,
            }
        }
    }
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
        fn nonsense_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Some(item) = Item::from_stored(bytes.into()) {
                let _ = (item.to_attributes(), item.get("a").is_some(), format!("{item:?}"));
            }
        }
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
