//! Conversion between entities and items: attributes, type and keys.

use std::marker::PhantomData;

use roundtable_table::{
    AttributeName, Check, Condition, Delete, Entries, Item, ItemBuilder, Key, Put, Scalar,
    ValueRef, exists, not_exists,
};

use crate::error::display_key;
use crate::shape::{EntityShape, FieldShape, Index};
use crate::upgrade::SHAPE;
use crate::{Attribute, Error, InvalidField, InvalidValue, Patch, Result};

pub const TYPE: &str = "type";

/// A struct whose fields are stored as attributes; derived.
pub trait Fields: Sized {
    /// The fields, in declaration order.
    const FIELDS: &'static [FieldShape];

    /// Adds the attributes, and the type of an entity, by ascending name.
    fn write(&self, item: &mut ItemBuilder);

    /// Reads the attributes, in one pass by ascending name.
    fn read(from: &mut ItemReader<'_>) -> Result<Self, InvalidField>;
}

/// A reader of an item, or of a map in one.
#[derive(Debug)]
pub struct ItemReader<'a> {
    entries: Entries<'a>,
    entity: Option<ValueRef<'a>>,
    shape: Option<ValueRef<'a>>,
}

impl<'a> ItemReader<'a> {
    pub(crate) const fn new(entries: Entries<'a>) -> Self {
        Self { entries, entity: None, shape: None }
    }

    /// Returns the attribute `name`. Names must be passed in ascending order; attributes in between
    /// are skipped unread.
    pub fn find(&mut self, name: &str) -> Option<ValueRef<'a>> {
        self.entries.seek(name)
    }

    /// Reads the number of the shape, in its alphabetical position among the fields.
    pub fn find_shape(&mut self) {
        self.shape = self.entries.seek(SHAPE);
    }

    /// Reads the type, in its alphabetical position among the fields.
    pub fn find_type(&mut self) {
        self.entity = self.entries.seek(TYPE);
    }
}

/// A type that can be read from an item: an entity, or a view of one.
pub trait FromItem: Fields {
    const ENTITY: &'static EntityShape;
    const IS_VIEW: bool;

    /// Reads an item, of this shape or an older one. An error names the entity, key and field.
    fn from_item(item: &Item) -> Result<Self> {
        let entity = Self::ENTITY.name;
        let mut reader = ItemReader::new(item.iter());
        let read = Self::read(&mut reader);
        let found = match reader.entity {
            Some(ValueRef::S(found)) if found == entity => {
                let read = match Self::ENTITY.upgraded(item, reader.shape)? {
                    None => read,
                    Some(upgraded) => Self::read(&mut ItemReader::new(upgraded.iter())),
                };
                return read.map_err(|error| error.of(entity, &key_of(item)));
            }
            Some(ValueRef::S(found)) => InvalidValue::new("", found).found,
            Some(value) => format!("a type that is {}", value.kind()),
            None => String::from("an item without a type"),
        };
        Err(Error::UnexpectedType { entity, key: display_key(&key_of(item)), found })
    }
}

type KeyAttributeNames = (AttributeName<'static>, AttributeName<'static>);

const fn key_names(index: Index) -> KeyAttributeNames {
    (AttributeName::new(index.partition_attribute()), AttributeName::new(index.sort_attribute()))
}

const MAIN_KEY: KeyAttributeNames = key_names(Index::Main);
const INDEX_KEYS: [KeyAttributeNames; 3] = {
    let [first, second, third] = Index::SECONDARY;
    [key_names(first), key_names(second), key_names(third)]
};

/// The keys of an item in the three indexes; `None` for an index that does not contain it.
pub type IndexKeys = [Option<(String, String)>; 3];

/// A kind of item, with its keys as the schema defines them.
pub trait Entity: FromItem {
    const SHAPE: &'static EntityShape;

    /// The constant text that its partition keys begin with.
    const PARTITION_PREFIX: &'static str = Self::SHAPE.main().partition.prefix();

    /// Returns its primary key.
    fn key(&self) -> EntityKey<Self>;

    fn index_keys(&self) -> IndexKeys;

    /// Returns its version, if its index keys can change.
    fn version(&self) -> Option<u64>;

    /// Returns all attributes: fields, type, and keys of the table and the indexes.
    fn item(&self) -> Item {
        let mut item = ItemBuilder::new();
        // In ascending order, which the fields continue.
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

    /// Writes the item, replacing an existing one.
    fn put(&self) -> Put {
        Put::new(self.item())
    }

    /// Writes the item if it does not exist yet.
    fn create(&self) -> Put {
        self.put().when(not_exists(Index::Main.partition_attribute()))
    }
}

/// The primary key of an item of the entity `E`.
pub struct EntityKey<E> {
    key: Key,
    entity: PhantomData<fn() -> E>,
}

impl<E> EntityKey<E> {
    #[doc(hidden)]
    pub fn new(partition: String, sort: String) -> Self {
        Self { key: Key::new(partition, sort), entity: PhantomData }
    }

    pub fn into_key(self) -> Key {
        self.key
    }

    /// Deletes the item, which must exist.
    pub fn delete(self) -> Delete {
        Delete::new(self.key).when(exists(Index::Main.partition_attribute()))
    }

    /// Checks a condition; it fails if the item does not exist.
    pub fn check(self, condition: Condition) -> Check {
        let exists = exists(Index::Main.partition_attribute());
        Check::new(self.key, exists.and(condition))
    }

    /// Checks that the item exists.
    pub fn exists(self) -> Check {
        Check::new(self.key, exists(Index::Main.partition_attribute()))
    }

    /// Checks that the item does not exist.
    pub fn absent(self) -> Check {
        Check::new(self.key, not_exists(Index::Main.partition_attribute()))
    }
}

impl<E: Entity> EntityKey<E> {
    /// Changes fields that no key depends on; the item must exist.
    pub fn patch(self) -> Patch<E> {
        Patch::new(self)
    }
}

impl<E> Clone for EntityKey<E> {
    fn clone(&self) -> Self {
        Self { key: self.key.clone(), entity: PhantomData }
    }
}

impl<E> std::fmt::Debug for EntityKey<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&display_key(&self.key))
    }
}

impl<E> From<EntityKey<E>> for Key {
    fn from(at: EntityKey<E>) -> Self {
        at.key
    }
}

/// Returns the primary key of an item, for messages.
pub(crate) fn key_of(item: &Item) -> Key {
    let part = |name| item.text(name).unwrap_or("?").to_owned();
    Key::new(part(Index::Main.partition_attribute()), part(Index::Main.sort_attribute()))
}

#[doc(hidden)]
pub fn read_field<T: Attribute>(
    field: &'static str,
    value: Option<ValueRef<'_>>,
) -> Result<T, InvalidField> {
    T::from_value(value).map_err(|reason| InvalidField { field, reason })
}

/// Compiles if a key part has the type of a pattern's argument.
#[doc(hidden)]
pub const fn part_is<T>(_: &T) {}

/// Implements [`Attribute`] for a struct with [`Fields`], so that it can be nested in an item.
#[macro_export]
macro_rules! nested {
    ($name:ident) => {
        impl $crate::Attribute for $name {
            const KIND: &'static str = stringify!($name);

            fn fill(&self, slot: $crate::table::ValueSlot<'_>) {
                slot.map(|map| $crate::Fields::write(self, map));
            }

            fn from_value(
                value: Option<$crate::table::ValueRef<'_>>,
            ) -> Result<Self, $crate::InvalidValue> {
                $crate::nested_from_value(concat!("a map: ", stringify!($name)), value)
            }
        }
    };
}

#[doc(hidden)]
pub fn nested_from_value<T: Fields>(
    expected: &'static str,
    value: Option<ValueRef<'_>>,
) -> Result<T, InvalidValue> {
    match value {
        Some(ValueRef::M(entries)) => {
            T::read(&mut ItemReader::new(entries)).map_err(|InvalidField { field, reason }| {
                InvalidValue::new(reason.expected, format_args!("{} in `{field}`", reason.found))
            })
        }
        other => Err(InvalidValue::of_value(expected, other)),
    }
}
