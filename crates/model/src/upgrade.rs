//! Shapes of entities. An item stores the number of its shape, in general none, which is the first.
//! Items of an older shape are upgraded when they are read; those of a newer one are refused, because
//! an older program would misread them, or drop what it does not know.

use roundtable_table::{Attributes, Item, Number, ValueRef};

use crate::entity::key_of;
use crate::error::display_key;
use crate::shape::EntityShape;
use crate::{Error, InvalidField, InvalidValue, Result};

/// The attribute with the number of an item's shape.
pub(crate) const SHAPE: &str = "shape";

/// An upgrade of an entity's items from one shape to the next.
#[derive(Clone, Copy, Debug)]
pub struct ShapeUpgrade {
    /// The name of its function.
    pub name: &'static str,
    /// Changes the attributes of an item; those of its keys follow from the fields when it is written.
    pub apply: fn(&mut Attributes) -> Result<(), InvalidField>,
}

impl EntityShape {
    /// Returns the number of the current shape.
    pub const fn number(&self) -> u64 {
        self.upgrades.len() as u64 + 1
    }

    /// Returns whether an item of this entity has an older shape.
    pub fn is_older(&self, item: &Item) -> bool {
        let stored = self.stored_number(item, item.get(SHAPE));
        stored.is_ok_and(|stored| stored < self.number())
    }

    /// Returns the item in the current shape; `None` if it has that. `stored` is its shape attribute.
    pub(crate) fn upgraded(
        &self,
        item: &Item,
        stored: Option<ValueRef<'_>>,
    ) -> Result<Option<Item>> {
        if stored.is_none() && self.upgrades.is_empty() {
            return Ok(None);
        }
        let (number, known) = (self.stored_number(item, stored)?, self.number());
        if number == known {
            return Ok(None);
        }
        let mut attributes = item.to_attributes();
        for upgrade in self.upgrades.iter().skip(usize::try_from(number - 1).unwrap_or(usize::MAX))
        {
            let done = (upgrade.apply)(&mut attributes);
            done.map_err(|invalid| invalid.of(self.name, &key_of(item)))?;
        }
        attributes.insert(SHAPE.to_owned(), known.into());
        Ok(Some(Item::from(attributes)))
    }

    /// Checks that this program knows the shape of an item.
    pub fn check_known(&self, item: &Item) -> Result<()> {
        self.stored_number(item, item.get(SHAPE)).map(drop)
    }

    fn stored_number(&self, item: &Item, stored: Option<ValueRef<'_>>) -> Result<u64> {
        let number = match stored {
            None => return Ok(1),
            Some(ValueRef::N(number)) => Number::to_u64(number).filter(|number| *number > 0),
            Some(_) => None,
        };
        let entity = self.name;
        let number = number.ok_or_else(|| {
            let reason = InvalidValue::of_value("the number of a shape", stored);
            InvalidField { field: SHAPE, reason }.of(entity, &key_of(item))
        })?;
        let known = self.number();
        if number > known {
            let key = display_key(&key_of(item));
            return Err(Error::NewerShape { entity, key, shape: number, known });
        }
        Ok(number)
    }
}
