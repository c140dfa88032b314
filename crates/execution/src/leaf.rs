//! Scalars and enums of answers.

use std::borrow::Cow;
use std::sync::Arc;

use crate::Writer;

/// The type of a field that may be null, where `S` is the type without that.
#[derive(Debug)]
pub struct Nullable<S>(std::marker::PhantomData<S>);

/// The type of a field that is a list of `S`.
#[derive(Debug)]
pub struct List<S>(std::marker::PhantomData<S>);

/// A value that can be written where the schema says `S`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no value of the schema's type `{S}`",
    label = "the schema expects `{S}` here"
)]
pub trait Leaf<S> {
    fn write(&self, out: &mut Writer);
}

impl<S, T: Leaf<S>> Leaf<Nullable<S>> for Option<T> {
    fn write(&self, out: &mut Writer) {
        match self {
            Some(value) => value.write(out),
            None => out.null(),
        }
    }
}

impl<S, T: Leaf<S>> Leaf<List<S>> for Vec<T> {
    fn write(&self, out: &mut Writer) {
        Leaf::<List<S>>::write(self.as_slice(), out);
    }
}

impl<S, T: Leaf<S>> Leaf<List<S>> for [T] {
    fn write(&self, out: &mut Writer) {
        out.raw(b"[");
        for (index, value) in self.iter().enumerate() {
            if index > 0 {
                out.raw(b",");
            }
            value.write(out);
        }
        out.raw(b"]");
    }
}

macro_rules! like_their_target {
    ($($pointer:ty),*) => {$(
        impl<S, T: Leaf<S> + ?Sized> Leaf<S> for $pointer {
            fn write(&self, out: &mut Writer) {
                T::write(self, out);
            }
        }
    )*};
}

like_their_target!(&T, Arc<T>, Box<T>);

impl<S, T: Leaf<S> + ToOwned + ?Sized> Leaf<S> for Cow<'_, T> {
    fn write(&self, out: &mut Writer) {
        T::write(self, out);
    }
}
