//! Functions that the generated implementations of [`Object`] call.

use std::marker::PhantomData;

use futures::FutureExt as _;
pub use futures::future::{BoxFuture, join_all};
pub use futures::join;

use crate::column::{Column, Output};
use crate::error::FieldError;
use crate::field_path::in_leaf;
use crate::input::{Input, InputError};
use crate::leaf::Leaf;
use crate::rows::{Context, EventSource, Events, NextEvent, Object, SharedValue, SharedValues};
use crate::writer::Writer;
use crate::{JsonMap, JsonValue};

pub fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

/// Reads a shared value for all objects, if any field needs it.
pub async fn read_shared_value<T: Object, F: SharedValue<T>>(
    objects: &[T],
    context: &T::Context,
    needed_by: Option<u16>,
) -> SharedValues<F> {
    let field = needed_by?;
    let shared_values = if context.traces_fields() {
        in_leaf(field, Box::pin(F::read(objects, context))).await
    } else {
        F::read(objects, context).await
    };
    let is_complete = |shared_values: &Vec<F>| shared_values.len() == objects.len();
    Some(shared_values.and_then(|shared_values| {
        is_complete(&shared_values)
            .then_some(shared_values)
            .ok_or_else(|| FieldError::internal("a shared value is missing"))
    }))
}

/// Returns the shared value of one object.
pub fn shared_value<F>(shared_values: &SharedValues<F>, row: usize) -> Result<&F, FieldError> {
    match shared_values {
        Some(Ok(shared_values)) => {
            shared_values.get(row).ok_or_else(|| FieldError::internal("a shared value is missing"))
        }
        Some(Err(error)) => Err(error.clone()),
        None => Err(FieldError::internal("a shared value was not read")),
    }
}

pub fn write_leaf<S, T: Leaf<S>>(value: &T, out: &mut Writer) -> Result<(), FieldError> {
    value.write(out);
    Ok(())
}

/// Returns the fields of an input object.
pub fn input_object(value: &JsonValue) -> Result<&JsonMap, InputError> {
    value.as_object().ok_or_else(|| InputError::new("expected an object"))
}

/// Reads a field of an input object.
pub fn read_field<S, T: Input<S>>(object: &JsonMap, name: &str) -> Result<T, InputError> {
    object.get(name).map_or_else(T::absent, T::read).map_err(|error| error.inside(name))
}

/// Returns how many parts have a field.
pub const fn occurrences(parts: &[&[u16]], field: u16) -> usize {
    let (mut count, mut rest) = (0, parts);
    while let [part, more @ ..] = rest {
        let mut fields = *part;
        while let [first, others @ ..] = fields {
            if *first == field {
                count += 1;
            }
            fields = others;
        }
        rest = more;
    }
    count
}

/// Returns the events of a subscription as columns.
pub fn event_columns<S, C, V, E>(events: Box<dyn EventSource<Result<V, E>>>) -> Events<C>
where
    S: 'static,
    C: 'static,
    V: Output<S, C> + 'static,
    E: Into<FieldError> + 'static,
{
    Box::new(EventColumns::<S, V, E> { events, field_type: PhantomData })
}

struct EventColumns<S, V, E> {
    events: Box<dyn EventSource<Result<V, E>>>,
    field_type: PhantomData<fn() -> S>,
}

impl<S, C: 'static, V: Output<S, C>, E: Into<FieldError>> EventSource<Column<C>>
    for EventColumns<S, V, E>
{
    fn read(&mut self) -> BoxFuture<'_, NextEvent<Column<C>>> {
        Box::pin(self.events.read().map(|next| next.map(|event| Column::of::<S, _>([event]))))
    }

    fn changed(&mut self) -> BoxFuture<'_, ()> {
        self.events.changed()
    }
}

pub fn unknown_leaf() -> FieldError {
    FieldError::internal("a field is missing")
}

pub fn unknown_edge<'a, C: Context>(parents: usize) -> BoxFuture<'a, Column<C>> {
    ready(Column::failed(parents, &unknown_leaf()))
}
