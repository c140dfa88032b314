//! Typed field names for patches, conditions and filters, so that a typo does not compile.

use std::marker::PhantomData;
use std::str::FromStr;

use roundtable_table::{
    Condition, Item, Key, Operand, Path, Scalar, Value, attribute, exists, not_exists,
};

use crate::entity::{key_of, read_field};
use crate::shape::KeyTemplate;
use crate::{Attribute, Entity, FromItem, Result};

/// A field of an entity. `KEYED` is whether a key depends on it, or the entity has older shapes; a
/// patch accepts only other fields.
pub struct Field<E, T, const KEYED: bool> {
    attribute: &'static str,
    of: PhantomData<fn() -> (E, T)>,
}

impl<E, T, const KEYED: bool> Clone for Field<E, T, KEYED> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E, T, const KEYED: bool> Copy for Field<E, T, KEYED> {}

impl<E, T, const KEYED: bool> std::fmt::Debug for Field<E, T, KEYED> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.attribute)
    }
}

impl<E, T: Attribute, const KEYED: bool> Field<E, T, KEYED> {
    #[doc(hidden)]
    pub const fn new(attribute: &'static str) -> Self {
        Self { attribute, of: PhantomData }
    }

    /// Returns the name of its attribute.
    pub const fn name(self) -> &'static str {
        self.attribute
    }

    pub fn path(self) -> Path {
        Path::new(self.attribute)
    }

    pub fn exists(self) -> Condition {
        exists(self.attribute)
    }

    pub fn absent(self) -> Condition {
        not_exists(self.attribute)
    }

    /// The field equals `value`.
    pub fn is<A: Attribute>(self, value: &A) -> Condition
    where
        T: ComparableTo<A>,
    {
        value.to_value().map_or_else(|| self.absent(), |value| attribute(self.path()).eq(value))
    }

    /// The field does not equal `value`.
    pub fn is_not<A: Attribute>(self, value: &A) -> Condition
    where
        T: ComparableTo<A>,
    {
        value.to_value().map_or_else(|| self.exists(), |value| attribute(self.path()).ne(value))
    }

    /// The field is a list that contains `member`.
    pub fn has<A: Attribute>(self, member: &A) -> Condition
    where
        T: ListOf<A>,
    {
        let member = member.to_value().unwrap_or(Value::Null);
        Condition::Contains(self.path(), Operand::Value(member))
    }

    /// The field is at most `value`.
    pub fn at_most<A: Attribute>(self, value: &A) -> Condition
    where
        T: ComparableTo<A>,
    {
        attribute(self.path()).le(value.to_value().unwrap_or(Value::Null))
    }

    /// The field is at least `value`.
    pub fn at_least<A: Attribute>(self, value: &A) -> Condition
    where
        T: ComparableTo<A>,
    {
        attribute(self.path()).ge(value.to_value().unwrap_or(Value::Null))
    }
}

impl<E: FromItem, T: Attribute, const KEYED: bool> Field<E, T, KEYED> {
    /// Reads the field of a stored item, for callers that do not need the others.
    pub fn read(self, item: &Item) -> Result<T> {
        let read = read_field(self.attribute, item.get(self.attribute));
        read.map_err(|error| error.of(E::ENTITY.name, &key_of(item)))
    }
}

impl<E: Entity, T: FromStr> Field<E, T, true> {
    /// Reads the field from the primary key of an item; `None` if the key is of another entity.
    pub fn part_of(self, key: &Key) -> Option<T> {
        let main = E::SHAPE.main();
        let name = E::FIELDS.iter().find(|field| field.attribute == self.attribute)?.field;
        let part = |template: &KeyTemplate, text: Option<&Scalar>| {
            template.part_in(text?.as_text()?, name)?.parse().ok()
        };
        part(&main.sort, key.sort.as_ref()).or_else(|| part(&main.partition, Some(&key.partition)))
    }
}

/// A field type that can be compared with an `A`: the same type, or its `Option`.
#[diagnostic::on_unimplemented(message = "a field of type `{Self}` cannot be compared with `{A}`")]
pub trait ComparableTo<A> {}
impl<T> ComparableTo<T> for T {}
impl<T> ComparableTo<T> for Option<T> {}

/// A field type that is a list of `A`.
#[diagnostic::on_unimplemented(message = "a field of type `{Self}` is not a list of `{A}`")]
pub trait ListOf<A> {}
impl<T> ListOf<T> for Vec<T> {}
impl<T> ListOf<T> for Option<Vec<T>> {}

/// A field type that supports addition.
pub trait NumericField: Attribute {}
impl NumericField for u32 {}
impl NumericField for u64 {}
impl NumericField for i64 {}
impl<T: NumericField> NumericField for Option<T> {}
