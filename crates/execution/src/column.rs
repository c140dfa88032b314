//! Columns: the children that one edge of a plan found, for each of its parents.

use std::any::Any;
use std::ops::Range;

use crate::error::FieldError;
use crate::leaf::{Leaf, List, Nullable};
use crate::rows::{Object, Objects, Rows};
use crate::writer::Writer;

/// The children of many parents. Children of one type are stored together, so that the next edge reads
/// for all of them at once.
pub struct Column<C> {
    /// One for each parent.
    pub(crate) slots: Vec<Slot>,
    /// The items of all lists.
    pub(crate) items: Vec<Slot>,
    pub(crate) parts: Vec<Part<C>>,
}

/// The children of one type.
pub(crate) struct Part<C> {
    pub(crate) type_name: &'static str,
    pub(crate) rows: Box<dyn Rows<C>>,
}

/// The value of a field of one parent.
#[derive(Debug)]
pub(crate) enum Slot {
    Null,
    Object {
        part: usize,
        row: usize,
    },
    /// A range of the column's items.
    List(Range<usize>),
    /// A scalar, as it is written.
    Json(Vec<u8>),
    Failed(FieldError),
}

impl<C> std::fmt::Debug for Column<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Column").field("slots", &self.slots).finish_non_exhaustive()
    }
}

/// A value that an edge of the schema's type `S` may return for one parent.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no value of the schema's type `{S}`",
    label = "the schema expects `{S}` here"
)]
pub trait Output<S, C>: Sized {
    #[doc(hidden)]
    fn add_to(self, column: &mut Column<C>) -> Added;
}

/// The part of a column that one parent added.
#[derive(Debug)]
pub struct Added(Slot);

impl<C: 'static> Column<C> {
    fn with_capacity(parents: usize) -> Self {
        Self { slots: Vec::with_capacity(parents), items: Vec::new(), parts: Vec::new() }
    }

    /// Returns the column of values, one for each parent.
    pub fn of<S, V: Output<S, C>>(values: impl IntoIterator<Item = V>) -> Self {
        let values = values.into_iter();
        let mut column = Self::with_capacity(values.size_hint().0);
        for value in values {
            let Added(slot) = value.add_to(&mut column);
            column.slots.push(slot);
        }
        column
    }

    /// Returns the column of a read for all parents, which may have failed as a whole.
    pub fn of_batch<S, V: Output<S, C>>(
        parents: usize,
        values: Result<Vec<V>, FieldError>,
    ) -> Self {
        match values {
            Ok(values) if values.len() == parents => Self::of(values),
            Ok(_) => {
                Self::failed(parents, &FieldError::internal("an edge returned too few values"))
            }
            Err(error) => Self::failed(parents, &error),
        }
    }

    /// Returns the column of scalars that had to be read, one for each parent.
    pub fn of_leaves<S, V: Leaf<S>>(
        values: impl IntoIterator<Item = Result<V, FieldError>>,
    ) -> Self {
        let slot = |value: Result<V, FieldError>| match value {
            Ok(value) => {
                let mut out = Writer::default();
                value.write(&mut out);
                Slot::Json(out.into_bytes())
            }
            Err(error) => Slot::Failed(error),
        };
        let slots = values.into_iter().map(slot).collect();
        Self { slots, items: Vec::new(), parts: Vec::new() }
    }

    /// Returns the column of an edge that failed for all parents.
    pub fn failed(parents: usize, error: &FieldError) -> Self {
        let slots = (0..parents).map(|_| Slot::Failed(error.clone())).collect();
        Self { slots, items: Vec::new(), parts: Vec::new() }
    }

    /// Adds an object. For implementations of [`Output`].
    pub fn add_object<T: Object<Context = C>>(&mut self, name: &'static str, object: T) -> Added {
        let index = self.parts.iter().position(|part| {
            let rows: &dyn Any = &*part.rows;
            rows.is::<Objects<T>>()
        });
        let part = index.unwrap_or_else(|| {
            let rows = Box::new(Objects::<T>::new(Vec::with_capacity(self.slots.capacity())));
            self.parts.push(Part { type_name: name, rows });
            self.parts.len() - 1
        });
        let rows = self.parts.get_mut(part).map(|part| -> &mut dyn Any { &mut *part.rows });
        match rows.and_then(|rows| rows.downcast_mut::<Objects<T>>()) {
            Some(rows) => {
                rows.objects.push(object);
                Added(Slot::Object { part, row: rows.objects.len() - 1 })
            }
            None => Added(Slot::Failed(FieldError::internal("a part is missing"))),
        }
    }
}

impl<S, C, V: Output<S, C>> Output<Nullable<S>, C> for Option<V> {
    fn add_to(self, column: &mut Column<C>) -> Added {
        self.map_or(Added(Slot::Null), |value| value.add_to(column))
    }
}

impl<S, C, V: Output<S, C>> Output<List<S>, C> for Vec<V> {
    fn add_to(self, column: &mut Column<C>) -> Added {
        // Lists of lists are not supported: an item that were a list would be among its own items.
        let slots: Vec<Slot> = self.into_iter().map(|value| value.add_to(column).0).collect();
        let start = column.items.len();
        column.items.extend(slots);
        Added(Slot::List(start..column.items.len()))
    }
}

impl<S, C, V: Output<S, C>, E: Into<FieldError>> Output<S, C> for Result<V, E> {
    fn add_to(self, column: &mut Column<C>) -> Added {
        match self {
            Ok(value) => value.add_to(column),
            Err(error) => Added(Slot::Failed(error.into())),
        }
    }
}
