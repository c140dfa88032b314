//! The single table: its schema, with every entity, key and access pattern, and all code derived
//! from it.
//!
//! `schema.rs` is the schema. It defines the keys and codecs of the [entities], the access patterns
//! of [`Core`], [`LoginAttempts`] and [`Ops`], and, as [data](shape), the documentation, the lint,
//! the capacity plan and the infrastructure of `roundtable table …`.
//!
//! This is not a general object mapper, only the mapper of this schema. It knows no product rules;
//! permissions are in `domain`.

// The macros refer to this crate by its external name, and the schema is inside it.
extern crate self as roundtable_model;

mod attribute;
pub mod capacity;
mod composites;
mod cursor;
pub mod derived;
pub mod documents;
pub mod entities;
mod entity;
mod enums;
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

pub use roundtable_table as table;

pub use attribute::*;
pub use composites::{
    AssistEntry, Assists, EntityTimeline, MergedListing, MergedPage, PostStats, TimelineEntry,
    TimelinePage,
};
pub use cursor::Cursor;
pub use entity::{Entity, EntityKey, Fields, FromItem, IndexKeys, ItemReader, TYPE};
pub use enums::*;
pub use error::{Error, InvalidField, Result};
pub use field::{ComparableTo, Field, ListOf, NumericField};
pub use id::*;
pub use name::*;
pub use part::*;
pub use patch::{Patch, rekey};
pub use read::{
    BatchLookup, EntityPage, FirstLookup, Listing, Lookup, Partitions, SortKeyRange, items_by_key,
    items_by_key_eventual,
};
#[cfg(test)]
pub(crate) use roundtable_model_macros::Sample;
pub use roundtable_model_macros::{Fields, single_table};
pub use schema::*;
pub use time::*;

#[doc(hidden)]
pub use entity::{nested_from_value, part_is, read_field};

// Old names for the rename daemon, whose copy of the macros is older: removed at the end.
#[doc(hidden)]
pub use {
    entity::EntityKey as At, entity::FromItem as Answer, entity::ItemReader as Reader,
    error::InvalidField as FieldMisfit, read::BatchLookup as Lookups, read::FirstLookup as First,
    read::SortKeyRange as Range,
};
