//! One write of a mutation: an item before and after, and what that costs.

use std::collections::BTreeMap;

use roundtable_table::{Capacity, Charge, Item};

use super::super::{CapacityError, units};
use crate::Entity;

/// What a write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Makes an item.
    Put,
    /// Changes one.
    Change,
    /// Removes one.
    Delete,
    /// Only looks at one, in a transaction.
    Check,
}

impl Act {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Change => "change",
            Self::Delete => "delete",
            Self::Check => "check",
        }
    }
}

/// One write of a mutation.
#[derive(Clone, Debug)]
pub struct Step {
    /// What it does.
    pub act: Act,
    /// To which entity.
    pub entity: &'static str,
    /// The item before.
    pub old: Option<Item>,
    /// The item after.
    pub new: Option<Item>,
    /// Whether it is part of a transaction.
    pub transactional: bool,
    /// How many there are of it, where that varies: the count's name and its usual value.
    pub count: Option<(&'static str, f64)>,
}

/// A new item.
pub(super) fn put<E: Entity>(new: &E) -> Step {
    Step::of::<E>(Act::Put, None, Some(new))
}

/// An item that changes.
pub(super) fn change<E: Entity>(old: &E, new: &E) -> Step {
    Step::of::<E>(Act::Change, Some(old), Some(new))
}

/// An item that goes.
pub(super) fn delete<E: Entity>(old: &E) -> Step {
    Step::of::<E>(Act::Delete, Some(old), None)
}

/// An item that must be as expected.
pub(super) fn check<E: Entity>(item: &E) -> Step {
    Step::of::<E>(Act::Check, Some(item), Some(item)).together()
}

/// An item that must not be there.
pub(super) fn absent<E: Entity>() -> Step {
    Step::of::<E>(Act::Check, None, None).together()
}

impl Step {
    fn of<E: Entity>(act: Act, old: Option<&E>, new: Option<&E>) -> Self {
        Self {
            act,
            entity: E::SHAPE.name,
            old: old.map(Entity::item),
            new: new.map(Entity::item),
            transactional: false,
            count: None,
        }
    }

    /// As part of a transaction.
    pub(super) fn together(mut self) -> Self {
        self.transactional = true;
        self
    }

    /// As many times as `count` says, usually so many.
    pub(super) fn times(mut self, count: &'static str, usually: f64) -> Self {
        self.count = Some((count, usually));
        self
    }

    /// The larger of its images, in bytes.
    pub fn bytes(&self) -> usize {
        self.old.iter().chain(&self.new).map(Item::size).max().unwrap_or_default()
    }

    /// What one of it costs, indexes included.
    pub fn capacity(&self) -> Result<Capacity, CapacityError> {
        let charge = match self.act {
            // A check writes nothing, and is charged like a write of what it looks at.
            Act::Check => Charge::check(self.bytes()),
            _ => self.changed()?,
        };
        Ok(if self.transactional { charge.in_transaction() } else { charge.alone() })
    }

    fn changed(&self) -> Result<Charge, CapacityError> {
        let entity = self.entity;
        let home = crate::SCHEMA.iter().find(|table| table.entity(entity).is_some());
        let home = home.ok_or(CapacityError::NoTable { entity })?;
        Charge::change(&home.definition(home.name), self.old.as_ref(), self.new.as_ref())
            .map_err(|source| CapacityError::Sample { entity, source })
    }

    /// How many of it there are.
    pub fn number(&self, counts: &BTreeMap<&'static str, f64>) -> f64 {
        self.count.map_or(1.0, |(name, usually)| counts.get(name).copied().unwrap_or(usually))
    }

    /// What all of it costs, with so many of each.
    pub fn units_of(&self, counts: &BTreeMap<&'static str, f64>) -> Result<f64, CapacityError> {
        Ok(units::writes(self.capacity()?) * self.number(counts))
    }
}
