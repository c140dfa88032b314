//! One write of a mutation: an item before and after the write, and its cost.

use std::collections::BTreeMap;

use roundtable_model::Entity;
use roundtable_table::{Capacity, Item, WriteCost};

use super::super::{CapacityError, units};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    Put,
    Change,
    Delete,
    /// Checks a condition in a transaction.
    Check,
}

impl WriteKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Change => "change",
            Self::Delete => "delete",
            Self::Check => "check",
        }
    }
}

#[derive(Clone, Debug)]
pub struct MutationStep {
    pub kind: WriteKind,
    pub entity: &'static str,
    pub old: Option<Item>,
    pub new: Option<Item>,
    pub transactional: bool,
    /// The name and usual value of the count of such writes, where it varies.
    pub count: Option<(&'static str, f64)>,
}

pub(super) fn put<E: Entity>(new: &E) -> MutationStep {
    MutationStep::of::<E>(WriteKind::Put, None, Some(new))
}

pub(super) fn change<E: Entity>(old: &E, new: &E) -> MutationStep {
    MutationStep::of::<E>(WriteKind::Change, Some(old), Some(new))
}

pub(super) fn delete<E: Entity>(old: &E) -> MutationStep {
    MutationStep::of::<E>(WriteKind::Delete, Some(old), None)
}

pub(super) fn check<E: Entity>(item: &E) -> MutationStep {
    MutationStep::of::<E>(WriteKind::Check, Some(item), Some(item)).in_transaction()
}

/// A check that an item does not exist.
pub(super) fn absent<E: Entity>() -> MutationStep {
    MutationStep::of::<E>(WriteKind::Check, None, None).in_transaction()
}

impl MutationStep {
    fn of<E: Entity>(kind: WriteKind, old: Option<&E>, new: Option<&E>) -> Self {
        Self {
            kind,
            entity: E::SHAPE.name,
            old: old.map(Entity::item),
            new: new.map(Entity::item),
            transactional: false,
            count: None,
        }
    }

    /// Marks the write as part of a transaction.
    pub(super) fn in_transaction(mut self) -> Self {
        self.transactional = true;
        self
    }

    /// Repeats the write as often as `count` says, usually `usually` times.
    pub(super) fn times(mut self, count: &'static str, usually: f64) -> Self {
        self.count = Some((count, usually));
        self
    }

    /// Returns the size of the larger image.
    pub fn bytes(&self) -> usize {
        self.old.iter().chain(&self.new).map(Item::size).max().unwrap_or_default()
    }

    /// Returns the capacity that one such write consumes, including indexes.
    pub fn capacity(&self) -> Result<Capacity, CapacityError> {
        let charge = match self.kind {
            // A check writes nothing, but is charged like a write of the checked item.
            WriteKind::Check => WriteCost::check(self.bytes()),
            _ => self.changed()?,
        };
        Ok(if self.transactional { charge.in_transaction() } else { charge.standalone() })
    }

    fn changed(&self) -> Result<WriteCost, CapacityError> {
        let entity = self.entity;
        let table = roundtable_model::SCHEMA.iter().find(|table| table.entity(entity).is_some());
        let table = table.ok_or(CapacityError::NoTable { entity })?;
        WriteCost::change(&table.definition(table.name), self.old.as_ref(), self.new.as_ref())
            .map_err(|source| CapacityError::Sample { entity, source })
    }

    /// Returns the number of such writes, with these counts.
    pub fn number(&self, counts: &BTreeMap<&'static str, f64>) -> f64 {
        self.count.map_or(1.0, |(name, usually)| counts.get(name).copied().unwrap_or(usually))
    }

    /// Returns the units of all such writes, with these counts.
    pub fn units_of(&self, counts: &BTreeMap<&'static str, f64>) -> Result<f64, CapacityError> {
        Ok(units::writes(self.capacity()?) * self.number(counts))
    }
}
