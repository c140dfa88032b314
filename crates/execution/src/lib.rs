//! Execution of GraphQL documents, for any schema.
//!
//! A document is compiled to a [`Plan`] once. Running a plan has two steps. First it reads: each edge of
//! the plan is called once, with all parents that need it, and returns a [`Column`] of children. Then it
//! writes: the answer goes into one buffer, depth first, in the order of the document.
//!
//! Types of the schema implement [`Object`]; this crate knows none of them.

mod allowed_documents;
mod answer;
mod column;
mod documents;
mod error;
mod field_path;
mod generated;
mod input;
mod introspect;
mod leaf;
mod limits;
mod persisted;
mod plan;
mod plan_cache;
mod request;
mod resolve;
mod rows;
mod schema;
mod tokens;
mod write;
mod writer;

pub use apollo_compiler::response::{JsonMap, JsonValue};

pub use self::allowed_documents::AllowedDocuments;
pub use self::answer::{Answer, AnswerTimes};
pub use self::column::{Added, Column, Output};
pub use self::documents::{Documents, PreparedRequest};
pub use self::error::{FieldError, Location, RequestError};
pub use self::field_path::{FieldPath, current_field};
#[doc(hidden)]
pub use self::generated::{
    BoxFuture, event_columns, input_object, join, join_all, occurrences, read_field,
    read_shared_value, ready, shared_value, unknown_edge, unknown_leaf, write_leaf,
};
pub use self::input::{Arguments, Given, Input, InputError};
pub use self::leaf::{Leaf, List, Nullable};
pub use self::limits::QueryLimits;
pub use self::plan::{OperationType, Plan, RequestCost, Variables};
pub use self::request::Request;
pub use self::resolve::{execute, execute_event, subscribed_field};
pub use self::rows::{
    Context, EventSource, Events, Listed, NextEvent, Object, RootFields, SharedValue, SharedValues,
    Subscribing,
};
pub use self::schema::{PageSizes, Schema};
pub use self::writer::Writer;
