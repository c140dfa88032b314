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
use crate::rows::{Context, EventSource, Events, Fact, Facts, NextEvent, Object};
use crate::writer::Writer;
use crate::{JsonMap, JsonValue};

pub fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

/// Reads a fact for all objects, if any field needs it.
pub async fn read_fact<T: Object, F: Fact<T>>(
    objects: &[T],
    context: &T::Context,
    needed_by: Option<u16>,
) -> Facts<F> {
    let field = needed_by?;
    let facts = if context.traces_fields() {
        in_leaf(field, Box::pin(F::read(objects, context))).await
    } else {
        F::read(objects, context).await
    };
    let is_complete = |facts: &Vec<F>| facts.len() == objects.len();
    Some(facts.and_then(|facts| {
        is_complete(&facts)
            .then_some(facts)
            .ok_or_else(|| FieldError::internal("a fact is missing"))
    }))
}

/// Returns the fact of one object.
pub fn fact<F>(facts: &Facts<F>, row: usize) -> Result<&F, FieldError> {
    match facts {
        Some(Ok(facts)) => facts.get(row).ok_or_else(|| FieldError::internal("a fact is missing")),
        Some(Err(error)) => Err(error.clone()),
        None => Err(FieldError::internal("a fact was not read")),
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
