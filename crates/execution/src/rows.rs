//! Objects of a type, and what is read for many of them at once.

use std::any::Any;
use std::sync::OnceLock;

use futures::future::BoxFuture;

use crate::column::{Column, Output};
use crate::error::FieldError;
use crate::input::Arguments;
use crate::writer::Writer;

/// The values that all fields of a request share.
pub trait Context: Send + Sync + 'static {
    /// Called before each mutation and each event: what was read before may have changed.
    fn start_step(&self) {}

    /// Returns whether [`current_field`](crate::current_field) is wanted, which costs time.
    fn traces_fields(&self) -> bool {
        false
    }
}

/// An object type of the schema. Fields are numbered as the schema lists them.
pub trait Object: Send + Sync + Sized + 'static {
    type Context: Context;
    /// Values beside the objects themselves that fields need.
    type SharedValues: Default + Send + Sync + 'static;

    /// Reads what the given leaf fields need, each shared value once for all objects.
    fn read_shared_values<'a>(
        objects: &'a [Self],
        context: &'a Self::Context,
        fields: &'a [u16],
    ) -> BoxFuture<'a, Self::SharedValues>;

    /// Reads the children that one field selects, for all objects.
    fn read_edge<'a>(
        objects: &'a [Self],
        context: &'a Self::Context,
        field: u16,
        arguments: &'a Arguments,
    ) -> BoxFuture<'a, Column<Self::Context>>;

    /// Writes a leaf field of the object at `row`.
    fn write_leaf(
        &self,
        row: usize,
        shared_values: &Self::SharedValues,
        context: &Self::Context,
        field: u16,
        out: &mut Writer,
    ) -> Result<(), FieldError>;
}

/// A value that fields of `T` need and that is read for many objects at once.
pub trait SharedValue<T: Object>: Send + Sync + Sized + 'static {
    /// Returns the shared values of all objects, in their order.
    fn read(
        objects: &[T],
        context: &T::Context,
    ) -> impl Future<Output = Result<Vec<Self>, FieldError>> + Send;
}

/// A type that lists of the schema have as their nodes.
pub trait Listed: Output<Self::Item, Self::Context> + Clone + Send + Sync + 'static {
    type Context: Context;
    /// These stand for the types of the schema.
    type Item;
    type Edge;
    type Connection;

    const EDGE: &'static str;
    const CONNECTION: &'static str;
}

/// Some fields of a root.
pub trait RootFields {
    type Context: Context;

    const FIELDS: &'static [u16];

    /// Reads a field of a query or mutation; `None` if it is not among these.
    fn read_edge<'a>(
        _: &'a Self::Context,
        _: u16,
        _: &'a Arguments,
    ) -> Option<BoxFuture<'a, Column<Self::Context>>> {
        None
    }

    /// Subscribes to a field; `None` if it is not among these.
    fn subscribe<'a>(
        _: &'a Self::Context,
        _: u16,
        _: &'a Arguments,
    ) -> Option<Subscribing<'a, Self::Context>> {
        None
    }
}

/// The events of a subscription, each as the column of its one field.
pub type Events<C> = Box<dyn EventSource<Column<C>>>;

/// The events of a subscription. Reading and waiting are separate, so that the reads can be scheduled.
pub trait EventSource<T>: Send {
    /// Reads the next event, without waiting for one.
    fn read(&mut self) -> BoxFuture<'_, NextEvent<T>>;

    /// Waits, after a read without an event, until there may be one. Reads nothing.
    fn changed(&mut self) -> BoxFuture<'_, ()>;
}

#[derive(Debug)]
pub enum NextEvent<T> {
    Event(T),
    /// There is none yet.
    Later,
    /// The last one, such as an error.
    Last(T),
}

impl<T> NextEvent<T> {
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> NextEvent<U> {
        match self {
            Self::Event(event) => NextEvent::Event(convert(event)),
            Self::Later => NextEvent::Later,
            Self::Last(event) => NextEvent::Last(convert(event)),
        }
    }
}

/// A subscription that is being set up.
pub type Subscribing<'a, C> = BoxFuture<'a, Result<Events<C>, FieldError>>;

/// The shared values of a column; `None` if no field needs them.
pub type SharedValues<F> = Option<Result<Vec<F>, FieldError>>;

/// The objects of one type in a column. An object of unknown type to the executor.
pub(crate) trait Rows<C>: Any + Send + Sync {
    fn read_shared_values<'a>(&'a self, context: &'a C, fields: &'a [u16]) -> BoxFuture<'a, ()>;

    fn read_edge<'a>(
        &'a self,
        context: &'a C,
        field: u16,
        arguments: &'a Arguments,
    ) -> BoxFuture<'a, Column<C>>;

    fn write_leaf(
        &self,
        row: usize,
        context: &C,
        field: u16,
        out: &mut Writer,
    ) -> Result<(), FieldError>;
}

pub(crate) struct Objects<T: Object> {
    pub(crate) objects: Vec<T>,
    shared_values: OnceLock<T::SharedValues>,
}

impl<T: Object> Objects<T> {
    pub(crate) fn new(objects: Vec<T>) -> Self {
        Self { objects, shared_values: OnceLock::new() }
    }
}

impl<T: Object> Rows<T::Context> for Objects<T> {
    fn read_shared_values<'a>(
        &'a self,
        context: &'a T::Context,
        fields: &'a [u16],
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let shared_values = T::read_shared_values(&self.objects, context, fields).await;
            // Each column is read once.
            let _ = self.shared_values.set(shared_values);
        })
    }

    fn read_edge<'a>(
        &'a self,
        context: &'a T::Context,
        field: u16,
        arguments: &'a Arguments,
    ) -> BoxFuture<'a, Column<T::Context>> {
        T::read_edge(&self.objects, context, field, arguments)
    }

    fn write_leaf(
        &self,
        row: usize,
        context: &T::Context,
        field: u16,
        out: &mut Writer,
    ) -> Result<(), FieldError> {
        let shared_values = self.shared_values.get_or_init(T::SharedValues::default);
        match self.objects.get(row) {
            Some(object) => object.write_leaf(row, shared_values, context, field, out),
            None => Err(FieldError::internal("a row is missing")),
        }
    }
}
