//! Changing items so that no index goes stale: a patch cannot touch what keys depend on, and a rekey
//! rewrites every index key.

use std::marker::PhantomData;

use roundtable_table::{Condition, Returning, Update, Value, Write, attribute, exists};

use crate::entity::TYPE;
use crate::error::shown;
use crate::field::Number;
use crate::shape::Index;
use crate::{At, Attribute, Entity, Error, Field, Result};

/// The attribute that a rekey raises.
const VERSION: &str = "version";

/// Changes fields of one item that no key depends on.
#[derive(Debug)]
pub struct Patch<E> {
    update: Update,
    entity: PhantomData<fn() -> E>,
}

impl<E: Entity> Patch<E> {
    pub(crate) fn new(at: At<E>) -> Self {
        let update = Update::new(at).when(exists(Index::Main.partition_attribute()));
        Self { update, entity: PhantomData }
    }

    #[doc(hidden)]
    pub fn upsert<const N: usize>(at: At<E>, identity: [(&'static str, Option<Value>); N]) -> Self {
        let mut update = Update::new(at).set(TYPE, E::SHAPE.name);
        for (field, value) in identity {
            let shape = E::SHAPE.fields.iter().find(|shape| shape.field == field);
            if let (Some(shape), Some(value)) = (shape, value) {
                update = update.set(shape.attribute, value);
            }
        }
        Self { update, entity: PhantomData }
    }

    /// Sets a field; `None` takes it away.
    pub fn set<T: Attribute>(mut self, field: Field<E, T, false>, value: &T) -> Self {
        self.update = match value.to_value() {
            Some(value) => self.update.set(field.path(), value),
            None => self.update.remove(field.path()),
        };
        self
    }

    /// Adds to a number; what is not there counts as nothing.
    pub fn add<T: Number>(mut self, field: Field<E, T, false>, amount: i64) -> Self {
        self.update = self.update.add(field.path(), amount);
        self
    }

    /// Only if `condition` holds, together with any given before.
    pub fn when(mut self, condition: Condition) -> Self {
        self.update = self.update.when(condition);
        self
    }

    /// Returns this image of the item.
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

/// Changes an item from `before` to `after`, index keys and all. It fails when the item is no longer
/// at the version of `before`, and raises the version; the version of `after` does not matter.
///
/// Only what differs is written, so a patch of other fields in between is not undone.
pub fn rekey<E: Entity>(before: &E, after: &E) -> Result<Update> {
    let (old, new) = (before.item(), after.item());
    let key = before.key().into_key();
    let refused = |field| Error::Fixed { entity: E::SHAPE.name, key: shown(&key), field };
    let fixed = |name: &str| {
        let field = E::SHAPE.fields.iter().find(|field| field.attribute == name)?;
        let moves = E::SHAPE.parts.iter().any(|part| part.name == field.field && part.mutable);
        let fixed = E::SHAPE.in_key(field.field) && !moves && name != VERSION;
        fixed.then_some(field.attribute)
    };
    let there = exists(Index::Main.partition_attribute());
    let mut update = Update::new(key.clone()).when(match before.version() {
        Some(version) => there.and(attribute(VERSION).eq(version)),
        None => there,
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

/// Whether an attribute is a key of one of these: those of indexes are rewritten, whether they differ
/// or not.
fn is_key(indexes: &[Index], name: &str) -> bool {
    indexes
        .iter()
        .any(|index| index.partition_attribute() == name || index.sort_attribute() == name)
}
