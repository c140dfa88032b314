//! The GraphQL API: the contract of `schema.graphql` over the services of `domain`.
//!
//! A request is an [`Asked`]: who asks, and the services. Resolvers read values, ask one service and show
//! what it gave; what the fields of many items need is loaded for all of them at once (`loaders`). Who
//! may do what, and who may see what, the services decide, and nothing here.

mod connection;
mod cursors;
mod edits;
mod limits;
mod loaders;
mod mutations;
mod node;
mod queries;
mod refusal;
mod request;
mod response;
mod scalars;
mod served;
mod services;
mod subscriptions;
mod types;
mod words;

pub use cursors::Cursors;
pub use limits::Limits;
pub use mutations::Mutation;
pub use queries::Query;
pub use refusal::Refused;
pub use request::{Asked, Client};
pub use response::{Answer, Fault, code_of, is_unasked};
pub use served::{Builder, Prepared, Schema, schema};
pub use services::{Backstage, BackstageFigures, Issuer, Services};
pub use subscriptions::Subscription;
