//! Between a struct and its item: attributes, type and keys, written and read in one place.

use std::marker::PhantomData;

use roundtable_table::{
    Attributes, Check, Condition, Delete, Entries, Item, Key, Put, Value, ValueRef, exists,
    not_exists,
};

use crate::error::shown;
use crate::shape::{EntityShape, FieldShape, Index};
use crate::{Attribute, Error, FieldMisfit, Misfit, Patch, Result};

/// The attribute that names an item's entity.
pub(crate) const TYPE: &str = "type";

/// A struct whose fields are attributes; derived.
pub trait Fields: Sized {
    /// Its fields, in the order they are written down.
    const FIELDS: &'static [FieldShape];

    /// Adds the attributes.
    fn write(&self, attributes: &mut Attributes);

    /// Reads the attributes in one pass.
    fn read(entries: Entries<'_>) -> Result<Self, FieldMisfit>;
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
        match item.get(TYPE) {
            Some(ValueRef::S(found)) if found == entity => {}
            other => {
                let found = match other {
                    Some(ValueRef::S(found)) => Misfit::new("", found).found,
                    Some(value) => format!("a type that is {}", value.kind()),
                    None => String::from("an item without a type"),
                };
                return Err(Error::OtherType { entity, key: shown(&key_of(item)), found });
            }
        }
        Self::read(item.iter()).map_err(|misfit| misfit.of(entity, &key_of(item)))
    }
}

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
        let mut attributes = Attributes::new();
        self.write(&mut attributes);
        attributes.insert(TYPE.to_owned(), Self::SHAPE.name.into());
        let Key { partition, sort } = self.key().into_key();
        attributes.insert(Index::Main.partition_attribute().to_owned(), partition.into());
        if let Some(sort) = sort {
            attributes.insert(Index::Main.sort_attribute().to_owned(), sort.into());
        }
        for (index, key) in Index::SECONDARY.into_iter().zip(self.index_keys()) {
            if let Some((partition, sort)) = key {
                attributes.insert(index.partition_attribute().to_owned(), partition.into());
                attributes.insert(index.sort_attribute().to_owned(), sort.into());
            }
        }
        attributes.into()
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
pub fn write_field(attributes: &mut Attributes, name: &str, field: &impl Attribute) {
    if let Some(value) = field.to_value() {
        attributes.insert(name.to_owned(), value);
    }
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

            fn to_value(&self) -> Option<$crate::table::Value> {
                let mut attributes = $crate::table::Attributes::new();
                $crate::Fields::write(self, &mut attributes);
                Some($crate::table::Value::M(attributes))
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
        Some(ValueRef::M(entries)) => T::read(entries).map_err(|FieldMisfit { field, misfit }| {
            Misfit::new(misfit.expected, format_args!("{} in `{field}`", misfit.found))
        }),
        other => Err(Misfit::of_value(expected, other)),
    }
}

/// The attributes that differ between two items: what to set, and what to remove.
pub(crate) fn difference(before: &Item, after: &Item) -> (Vec<(String, Value)>, Vec<String>) {
    let changed = after
        .iter()
        .filter(|(name, value)| before.get(name).map(ValueRef::to_value) != Some(value.to_value()));
    let set = changed.map(|(name, value)| (name.to_owned(), value.to_value())).collect();
    let gone = before.iter().filter(|(name, _)| after.get(name).is_none());
    (set, gone.map(|(name, _)| name.to_owned()).collect())
}
