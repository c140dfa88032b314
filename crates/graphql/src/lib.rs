//! The GraphQL API: the contract of `schema.graphql` over the services of `domain`.
//!
//! Each request has a [`RequestContext`] with its client and the services. Resolvers parse values, call one
//! service and convert its result; fields of many items are loaded in batches (`loaders`). The services
//! decide who may do or see something, never this crate.

mod connection;
mod cursors;
mod edits;
mod enums;
mod errors;
mod limits;
mod loaders;
mod mutations;
mod node;
mod queries;
mod request;
mod response;
mod scalars;
mod schema;
mod services;
mod subscriptions;
mod types;

pub use cursors::CursorCipher;
pub use errors::ApiError;
pub use limits::QueryLimits;
pub use mutations::MutationRoot;
pub use queries::QueryRoot;
pub use request::{ClientInfo, RequestContext};
pub use response::{GraphqlError, GraphqlResponse, error_code, is_request_error};
pub use schema::{PreparedRequest, Schema, SchemaBuilder, schema_builder};
pub use services::{Services, StreamBacklog, StreamControl, TokenIssuer};
pub use subscriptions::SubscriptionRoot;
