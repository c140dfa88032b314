//! The single table: its schema, with every entity, key and access pattern, and the code derived
//! from it.
//!
//! `schema.rs` is the schema. It defines the keys and codecs of the [entities] and the access
//! patterns of [`Core`], [`LoginAttempts`] and [`Ops`]. It is also [data](shape), which `planning`
//! reads.
//!
//! This is not a general object mapper, only the mapper of this schema. It knows no product rules;
//! permissions are in `domain`.

// The macros refer to this crate by its external name, and the schema is inside it.
extern crate self as roundtable_model;

// First, because the others use its list of entities.
#[macro_use]
mod schema;

mod attribute;
mod composites;
mod cursor;
pub mod entities;
mod entity;
mod enums;
mod error;
mod field;
mod id;
mod name;
mod owner;
mod part;
mod patch;
#[cfg(test)]
mod properties;
mod read;
pub mod samples;
pub mod shape;
mod time;
mod upgrade;

pub use roundtable_table as table;

pub use attribute::*;
pub use composites::{
    ActivityTimeline, ActivityTimelinePage, AssistEntry, Assists, EntityTimeline, MergedListing,
    MergedPage, PostStats, TimelineEntry, TimelinePage,
};
pub use cursor::{Cursor, PackingScope};
pub use entity::{Entity, EntityKey, Fields, FromItem, IndexKeys, ItemReader, TYPE};
pub use enums::*;
pub use error::{Error, InvalidField, Result};
pub use field::{ComparableTo, Field, ListOf, NumericField};
pub use id::*;
pub use name::*;
pub use owner::{OwnerId, OwnerKind};
pub use part::*;
pub use patch::{Patch, rekey};
pub use read::{
    BatchLookup, EntityPage, FirstLookup, Listing, Lookup, Partitions, SortKeyRange, StoredPage,
    items_by_key, items_by_key_eventual,
};
#[cfg(test)]
pub(crate) use roundtable_model_macros::Sample;
pub use roundtable_model_macros::{Fields, single_table};
pub use schema::*;
pub use time::*;

#[doc(hidden)]
pub use entity::{nested_from_value, part_is, read_field};
#[doc(hidden)]
pub use owner::owner_kind;
