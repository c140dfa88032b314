//! Fields by name: for patches, conditions and filters that a typo cannot get past the compiler.

use std::marker::PhantomData;

use roundtable_table::{Condition, Operand, Path, Value, attribute, exists, not_exists};

use crate::Attribute;

/// A field of an entity. `KEYED` tells whether a key depends on it: then a patch will not take it.
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

    /// The attribute it is.
    pub const fn name(self) -> &'static str {
        self.attribute
    }

    /// Where it is in the item.
    pub fn path(self) -> Path {
        Path::new(self.attribute)
    }

    /// It is there.
    pub fn exists(self) -> Condition {
        exists(self.attribute)
    }

    /// It is not there.
    pub fn absent(self) -> Condition {
        not_exists(self.attribute)
    }

    /// It is `value`.
    pub fn is<A: Attribute>(self, value: &A) -> Condition
    where
        T: Is<A>,
    {
        value.to_value().map_or_else(|| self.absent(), |value| attribute(self.path()).eq(value))
    }

    /// It is not `value`.
    pub fn is_not<A: Attribute>(self, value: &A) -> Condition
    where
        T: Is<A>,
    {
        value.to_value().map_or_else(|| self.exists(), |value| attribute(self.path()).ne(value))
    }

    /// It is a list, and `member` is in it.
    pub fn has<A: Attribute>(self, member: &A) -> Condition
    where
        T: Holds<A>,
    {
        let member = member.to_value().unwrap_or(Value::Null);
        Condition::Contains(self.path(), Operand::Value(member))
    }

    /// It is at most `value`.
    pub fn at_most<A: Attribute>(self, value: &A) -> Condition
    where
        T: Is<A>,
    {
        attribute(self.path()).le(value.to_value().unwrap_or(Value::Null))
    }

    /// It is at least `value`.
    pub fn at_least<A: Attribute>(self, value: &A) -> Condition
    where
        T: Is<A>,
    {
        attribute(self.path()).ge(value.to_value().unwrap_or(Value::Null))
    }
}

/// A field that can be compared with an `A`: of that type, or of its `Option`.
#[diagnostic::on_unimplemented(message = "a field of type `{Self}` is never a `{A}`")]
pub trait Is<A> {}
impl<T> Is<T> for T {}
impl<T> Is<T> for Option<T> {}

/// A field that can hold an `A` among others.
#[diagnostic::on_unimplemented(message = "a field of type `{Self}` holds no `{A}`")]
pub trait Holds<A> {}
impl<T> Holds<T> for Vec<T> {}
impl<T> Holds<T> for Option<Vec<T>> {}

/// A field that can be added to.
pub trait Number: Attribute {}
impl Number for u32 {}
impl Number for u64 {}
impl Number for i64 {}
impl<T: Number> Number for Option<T> {}
