//! The table contract: DynamoDB's semantics as typed Rust values.
//!
//! This crate owns the contract: [values](Value) and [items](Item), [definitions](TableDefinition),
//! the [operations](Query), [conditions](Condition) and [updates](Update) as trees, the
//! [limits], the [capacity arithmetic](Capacity), the [stream](Change), and the [`Backend`] trait
//! behind the [`Store`] and [`Table`] handles. It contains no backend: `engine` embeds one, `dynamo`
//! talks to Amazon's.
//!
//! It is not an object mapper. Items are attributes; `model` gives them types and names.

mod backend;
mod capacity;
mod change;
mod check;
mod clock;
mod condition;
mod definition;
mod error;
mod essential;
mod item;
mod key;
mod lease_key;
pub mod limits;
mod number;
mod path;
mod read_budget;
mod reads;
mod table;
mod trace;
pub mod update;
mod value;
mod writes;

pub use async_trait::async_trait;
pub use backend::{
    Backend, BackendDecorator, Capabilities, GetManyOutput, GetOutput, ItemPage, SharedBackend,
    WalkPage, WriteOutput,
};
pub use capacity::{Capacity, ReadMode, WriteCost, project_index};
pub use change::{Change, ChangeKind, Sequence, ShardInfo, StreamPage, StreamRead, StreamStart};
pub use clock::{Clock, ManualClock, SystemClock};
pub use condition::{Comparison, Condition, Operand, attribute, exists, not_exists, size_of};
pub use definition::{
    IndexDefinition, IndexProjection, KeyAttribute, KeyDefinition, KeyKind, SortOrder,
    TableDefinition,
};
pub use error::{CancelReason, Error, Invalid, Result};
pub use essential::{essential, is_essential};
pub use item::{
    AttributeName, Blobs, Changes, Entries, Item, ItemBuilder, ItemTemplate, Numbers, Texts,
    ValueRef, ValueSlot, Values,
};
pub use key::{Key, Position};
pub use lease_key::LeaseKey;
pub use limits::Limit;
pub use number::{Number, NumberError};
pub use path::{Path, PathStep};
pub use read_budget::{ReadBudget, ReadPool};
pub use reads::{BatchGet, Get, Merge, Order, Query, Scan, SortRange, TableGet, Walk};
pub use table::{Store, Table};
pub use trace::{Observer, Recorder, TableOperation};
pub use update::{Term, UpdateAction};
pub use value::{Attributes, Scalar, Value, ValueKind};
pub use writes::{
    BatchWrite, Check, Delete, Put, Returning, TableWrite, Transaction, Update, Write,
};
