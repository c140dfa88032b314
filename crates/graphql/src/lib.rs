//! The GraphQL API: the contract of `schema.graphql` over the services of `domain`.
//!
//! Each request has a [`RequestContext`] with its client and the services. There is a file for each noun,
//! with its types, queries, mutations and subscriptions. Resolvers call one service and convert its
//! result; what many objects need is read at once. The services decide who may do or see something, never
//! this crate.

mod accounts;
mod activities;
mod assistance;
mod audit;
mod comments;
mod connection;
mod edits;
mod enums;
mod events;
mod feeds;
mod follows;
mod goals;
mod groups;
mod inputs;
mod media;
mod memo;
mod moderation;
mod mutes;
mod node;
mod nodes;
mod notifications;
mod objects;
mod operations;
mod posts;
mod promotions;
mod quests;
mod reactions;
mod request;
mod rooms;
mod scalars;
mod schema;
mod search;
mod timelines;
mod trade;
mod users;
mod webhooks;

/// A type for each type of the contract.
mod schema_types {
    roundtable_graphql_macros::schema_types!();
}

pub use roundtable_execution::{
    Answer, AnswerTimes, FieldPath, JsonMap, NextEvent, OperationType, PreparedRequest,
    QueryLimits, Request, RequestCost, RequestError, current_field,
};

pub use crate::request::RequestContext;
pub use crate::schema::{Event, SDL, Schema, SubscriptionEvents};
