//! The single table: every entity, key and access pattern on one page, and all that follows from it.
//!
//! `schema.rs` is the page. From it come the keys and codecs of the [entities], the questions that
//! [`Core`], [`LoginAttempts`] and [`Ops`] answer, and, as [data](shape), the document, the lint, the
//! capacity plan and the infrastructure of `roundtable table …`.
//!
//! It is not an object mapper for any schema: it is this one. It knows no rules of the product; what
//! may be done, and by whom, is `domain`'s.

// The macros name this crate from outside, and the page is inside it.
extern crate self as roundtable_model;

mod attribute;
pub mod capacity;
mod cursor;
pub mod derived;
pub mod documents;
pub mod entities;
mod entity;
mod error;
mod field;
mod id;
mod name;
mod part;
mod patch;
#[cfg(test)]
mod properties;
mod read;
pub mod samples;
mod schema;
pub mod shape;
mod time;
mod together;
mod words;

pub use roundtable_table as table;

pub use attribute::*;
pub use cursor::Cursor;
pub use entity::{Answer, At, Entity, Fields, IndexKeys, Reader, TYPE};
pub use error::{Error, FieldMisfit, Result};
pub use field::{Field, Holds, Is, Number};
pub use id::*;
pub use name::*;
pub use part::*;
pub use patch::{Patch, rekey};
pub use read::{
    First, Listing, Lookup, Lookups, Page, Partitions, Range, items_at, items_lately_at,
};
#[cfg(test)]
pub(crate) use roundtable_model_macros::Sample;
pub use roundtable_model_macros::{Fields, single_table};
pub use schema::*;
pub use time::*;
pub use together::{
    AssistEntry, Assists, EntityTimeline, Merged, MergedPage, PostStats, TimelineEntry,
    TimelinePage,
};
pub use words::*;

#[doc(hidden)]
pub use entity::{nested_from_value, part_is, read_field};
