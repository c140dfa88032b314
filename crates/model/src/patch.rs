//! Changes of items that keep indexes consistent: a patch cannot change fields that keys depend on,
//! and a rekey rewrites every index key.

use std::marker::PhantomData;

use roundtable_table::{Condition, Returning, Update, Value, Write, attribute, exists};

use crate::entity::TYPE;
use crate::error::display_key;
use crate::field::NumericField;
use crate::shape::Index;
use crate::{Attribute, Entity, EntityKey, Error, Field, Result};

/// The attribute that a rekey increments.
const VERSION: &str = "version";

/// Changes fields of one item that no key depends on.
#[derive(Debug)]
pub struct Patch<E> {
    update: Update,
    entity: PhantomData<fn() -> E>,
}

impl<E: Entity> Patch<E> {
    pub(crate) fn new(at: EntityKey<E>) -> Self {
        let update = Update::new(at).when(exists(Index::Main.partition_attribute()));
        Self { update, entity: PhantomData }
    }

    #[doc(hidden)]
    pub fn upsert<const N: usize>(
        at: EntityKey<E>,
        identity: [(&'static str, Option<Value>); N],
    ) -> Self {
        let mut update = Update::new(at).set(TYPE, E::SHAPE.name);
        for (field, value) in identity {
            let shape = E::SHAPE.fields.iter().find(|shape| shape.field == field);
            if let (Some(shape), Some(value)) = (shape, value) {
                update = update.set(shape.attribute, value);
            }
        }
        Self { update, entity: PhantomData }
    }

    /// Sets a field; `None` removes it.
    pub fn set<T: Attribute>(mut self, field: Field<E, T, false>, value: &T) -> Self {
        self.update = match value.to_value() {
            Some(value) => self.update.set(field.path(), value),
            None => self.update.remove(field.path()),
        };
        self
    }

    /// Adds to a number; an absent one counts as zero.
    pub fn add<T: NumericField>(mut self, field: Field<E, T, false>, amount: i64) -> Self {
        self.update = self.update.add(field.path(), amount);
        self
    }

    /// Applies only if `condition` and all earlier conditions hold.
    pub fn when(mut self, condition: Condition) -> Self {
        self.update = self.update.when(condition);
        self
    }

    /// Makes the update return this image of the item.
    pub fn returning(mut self, returning: Returning) -> Self {
        self.update = self.update.returning(returning);
        self
    }
}

impl<E> From<Patch<E>> for Update {
    fn from(patch: Patch<E>) -> Self {
        patch.update
    }
}

impl<E> From<Patch<E>> for Write {
    fn from(patch: Patch<E>) -> Self {
        patch.update.into()
    }
}

/// Changes an item from `before` to `after`, including index keys. It fails if the item no longer
/// has the version of `before`, and increments the version; the version of `after` is ignored.
///
/// Only differences are written, so a concurrent patch of other fields is not undone. An entity with
/// older shapes has no patches, and is written whole.
pub fn rekey<E: Entity>(before: &E, after: &E) -> Result<Update> {
    let (old, new) = (before.item(), after.item());
    let key = before.key().into_key();
    let refused =
        |field| Error::ImmutableField { entity: E::SHAPE.name, key: display_key(&key), field };
    let fixed = |name: &str| {
        let field = E::SHAPE.fields.iter().find(|field| field.attribute == name)?;
        let moves = E::SHAPE.parts.iter().any(|part| part.name == field.field && part.mutable);
        let fixed = E::SHAPE.in_key(field.field) && !moves && name != VERSION;
        fixed.then_some(field.attribute)
    };
    let exists = exists(Index::Main.partition_attribute());
    let mut update = Update::new(key.clone()).when(match before.version() {
        Some(version) => exists.and(attribute(VERSION).eq(version)),
        None => exists,
    });
    let mut moved = false;
    for (name, value) in old.changes(&new) {
        if let Some(field) = fixed(name) {
            return Err(refused(field));
        }
        moved |= is_key(&[Index::Main], name);
        if name == VERSION || is_key(&Index::SECONDARY, name) {
            continue;
        }
        update = match value {
            Some(value) => update.set(name, value.to_value()),
            None => update.remove(name),
        };
    }
    if !E::SHAPE.upgrades.is_empty() {
        let is_missing = |name: &str| {
            name != VERSION && !is_key(&Index::ALL, name) && old.get(name) == new.get(name)
        };
        for (name, value) in new.iter().filter(|(name, _)| is_missing(name)) {
            update = update.set(name, value.to_value());
        }
        // An older form of an absent field must not be taken for a new one.
        let is_absent = |name: &str| old.get(name).is_none() && new.get(name).is_none();
        for field in E::SHAPE.fields.iter().filter(|field| is_absent(field.attribute)) {
            update = update.remove(field.attribute);
        }
    }
    if moved {
        return Err(refused(Index::Main.partition_attribute()));
    }
    for index in Index::SECONDARY {
        for name in [index.partition_attribute(), index.sort_attribute()] {
            update = match new.text(name) {
                Some(key) => update.set(name, key),
                None => update.remove(name),
            };
        }
    }
    if let Some(version) = before.version() {
        update = update.set(VERSION, version + 1);
    }
    Ok(update)
}

/// Returns whether an attribute is a key of one of these indexes.
fn is_key(indexes: &[Index], name: &str) -> bool {
    indexes
        .iter()
        .any(|index| index.partition_attribute() == name || index.sort_attribute() == name)
}
