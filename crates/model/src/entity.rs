//! Between a struct and its item: attributes, type and keys, written and read in one place.

use std::marker::PhantomData;

use roundtable_table::{
    AttributeName, Check, Condition, Delete, Entries, Item, ItemBuilder, Key, Put, Scalar,
    ValueRef, exists, not_exists,
};

use crate::error::shown;
use crate::shape::{EntityShape, FieldShape, Index};
use crate::{Attribute, Error, FieldMisfit, Misfit, Patch, Result};

/// The attribute that names an item's entity.
pub const TYPE: &str = "type";

/// A struct whose fields are attributes; derived.
pub trait Fields: Sized {
    /// Its fields, in the order they are written down.
    const FIELDS: &'static [FieldShape];

    /// Adds the attributes, and of an entity its type, by rising name.
    fn write(&self, item: &mut ItemBuilder);

    /// Reads the attributes, in one pass by rising name.
    fn read(from: &mut Reader<'_>) -> Result<Self, FieldMisfit>;
}

/// An item, or a map in one, that is being read.
#[derive(Debug)]
pub struct Reader<'a> {
    entries: Entries<'a>,
    entity: Option<ValueRef<'a>>,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(entries: Entries<'a>) -> Self {
        Self { entries, entity: None }
    }

    /// The next attribute, by rising name. Those before it are no fields and passed over, unread.
    pub fn find(&mut self, name: &str) -> Option<ValueRef<'a>> {
        self.entries.seek(name)
    }

    /// Notes the type, which has its place among the fields.
    pub fn find_type(&mut self) {
        self.entity = self.entries.seek(TYPE);
    }
}

/// What a question is answered with: an entity, or a view of one.
pub trait Answer: Fields {
    /// The entity.
    const ENTITY: &'static EntityShape;
    /// Whether it is only a part of it.
    const IS_VIEW: bool;

    /// Reads an item; an error names entity, key and field.
    fn from_item(item: &Item) -> Result<Self> {
        let entity = Self::ENTITY.name;
        let mut reader = Reader::new(item.iter());
        let read = Self::read(&mut reader);
        let found = match reader.entity {
            Some(ValueRef::S(found)) if found == entity => {
                return read.map_err(|misfit| misfit.of(entity, &key_of(item)));
            }
            Some(ValueRef::S(found)) => Misfit::new("", found).found,
            Some(value) => format!("a type that is {}", value.kind()),
            None => String::from("an item without a type"),
        };
        Err(Error::OtherType { entity, key: shown(&key_of(item)), found })
    }
}

type Names = (AttributeName<'static>, AttributeName<'static>);

const fn key_names(index: Index) -> Names {
    (AttributeName::new(index.partition_attribute()), AttributeName::new(index.sort_attribute()))
}

const MAIN_KEY: Names = key_names(Index::Main);
const INDEX_KEYS: [Names; 3] = {
    let [first, second, third] = Index::SECONDARY;
    [key_names(first), key_names(second), key_names(third)]
};

/// The keys of an item in the three indexes; `None` where it is in none.
pub type IndexKeys = [Option<(String, String)>; 3];

/// One kind of item; what it says about keys comes from the page.
pub trait Entity: Answer {
    /// What the page says about it.
    const SHAPE: &'static EntityShape;

    /// Its place in the table.
    fn key(&self) -> At<Self>;

    /// Its places in the indexes.
    fn index_keys(&self) -> IndexKeys;

    /// Its version, if its index keys can change.
    fn version(&self) -> Option<u64>;

    /// All its attributes: fields, type, and keys of the table and the indexes.
    fn item(&self) -> Item {
        let mut item = ItemBuilder::new();
        // By rising name, which the fields then go on with.
        for (names, key) in INDEX_KEYS.into_iter().zip(self.index_keys()) {
            if let Some((partition, sort)) = key {
                item.slot(names.0).text(&partition);
                item.slot(names.1).text(&sort);
            }
        }
        let Key { partition, sort } = self.key().into_key();
        item.slot(MAIN_KEY.0).text(partition.as_text().unwrap_or_default());
        item.slot(MAIN_KEY.1).text(sort.as_ref().and_then(Scalar::as_text).unwrap_or_default());
        self.write(&mut item);
        item.build()
    }

    /// Writes it, whatever was there.
    fn put(&self) -> Put {
        Put::new(self.item())
    }

    /// Writes it where nothing is yet.
    fn create(&self) -> Put {
        self.put().when(not_exists(Index::Main.partition_attribute()))
    }
}

/// The place of one item of an entity.
pub struct At<E> {
    key: Key,
    entity: PhantomData<fn() -> E>,
}

impl<E> At<E> {
    #[doc(hidden)]
    pub fn new(partition: String, sort: String) -> Self {
        Self { key: Key::new(partition, sort), entity: PhantomData }
    }

    /// The key itself.
    pub fn into_key(self) -> Key {
        self.key
    }

    /// Takes the item away; it must be there.
    pub fn delete(self) -> Delete {
        Delete::new(self.key).when(exists(Index::Main.partition_attribute()))
    }

    /// Demands something of the item; nothing holds for one that is not there.
    pub fn check(self, condition: Condition) -> Check {
        let there = exists(Index::Main.partition_attribute());
        Check::new(self.key, there.and(condition))
    }

    /// Demands that the item is there.
    pub fn exists(self) -> Check {
        Check::new(self.key, exists(Index::Main.partition_attribute()))
    }

    /// Demands that the item is not there.
    pub fn absent(self) -> Check {
        Check::new(self.key, not_exists(Index::Main.partition_attribute()))
    }
}

impl<E: Entity> At<E> {
    /// Changes fields that no key depends on; the item must be there.
    pub fn patch(self) -> Patch<E> {
        Patch::new(self)
    }
}

impl<E> Clone for At<E> {
    fn clone(&self) -> Self {
        Self { key: self.key.clone(), entity: PhantomData }
    }
}

impl<E> std::fmt::Debug for At<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&shown(&self.key))
    }
}

impl<E> From<At<E>> for Key {
    fn from(at: At<E>) -> Self {
        at.key
    }
}

/// The primary key an item carries, for messages.
pub(crate) fn key_of(item: &Item) -> Key {
    let part = |name| item.text(name).unwrap_or("?").to_owned();
    Key::new(part(Index::Main.partition_attribute()), part(Index::Main.sort_attribute()))
}

#[doc(hidden)]
pub fn read_field<T: Attribute>(
    field: &'static str,
    value: Option<ValueRef<'_>>,
) -> Result<T, FieldMisfit> {
    T::from_value(value).map_err(|misfit| FieldMisfit { field, misfit })
}

/// Compiles when a part has the type that an argument of a pattern has.
#[doc(hidden)]
pub const fn part_is<T>(_: &T) {}

/// Makes a struct with [`Fields`] a value that can stand inside an item.
#[macro_export]
macro_rules! nested {
    ($name:ident) => {
        impl $crate::Attribute for $name {
            const KIND: &'static str = stringify!($name);

            fn fill(&self, slot: $crate::table::Slot<'_>) {
                slot.map(|map| $crate::Fields::write(self, map));
            }

            fn from_value(
                value: Option<$crate::table::ValueRef<'_>>,
            ) -> Result<Self, $crate::Misfit> {
                $crate::nested_from_value(concat!("a map: ", stringify!($name)), value)
            }
        }
    };
}

#[doc(hidden)]
pub fn nested_from_value<T: Fields>(
    expected: &'static str,
    value: Option<ValueRef<'_>>,
) -> Result<T, Misfit> {
    match value {
        Some(ValueRef::M(entries)) => {
            T::read(&mut Reader::new(entries)).map_err(|FieldMisfit { field, misfit }| {
                Misfit::new(misfit.expected, format_args!("{} in `{field}`", misfit.found))
            })
        }
        other => Err(Misfit::of_value(expected, other)),
    }
}
