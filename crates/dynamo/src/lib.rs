//! The table contract over the AWS SDK: Amazon DynamoDB, or any server that speaks its API.
//!
//! [`Dynamo`] is a [`Backend`](roundtable_table::Backend): the trees of the contract become
//! expressions, answers become items, and what DynamoDB leaves to its users is done here: expired
//! items are hidden before they are swept, unprocessed parts of batches and transactions that met
//! others are repeated with backoff, and a merge over partitions is a set of concurrent queries.
//! [`Leases`] let several [workers](Worker) share the shards of a stream.
//!
//! It is not a cache and keeps no items. What it remembers (stream addresses and iterators, the
//! clock reading a caller's token was first sent with) can be lost without harm to data.
//!
//! ```no_run
//! # async fn example() -> roundtable_table::Result<()> {
//! use roundtable_dynamo::{Config, Dynamo};
//! use roundtable_table::Store;
//!
//! let store = Store::new(Dynamo::connect(Config::local("http://127.0.0.1:8000")));
//! println!("{:?}", store.list_tables().await?);
//! # Ok(())
//! # }
//! ```

mod batches;
mod config;
mod cost;
mod dynamo;
mod errors;
mod expiry;
mod expression;
mod leases;
mod merge;
mod pages;
mod range;
mod reads;
mod retry;
mod shards;
mod streams;
mod tables;
mod transactions;
mod values;
mod view;
mod worker;
mod writes;

pub use config::{Config, Credentials, Environment, Retries};
pub use dynamo::Dynamo;
pub use leases::{Keeper, Lease, Leases};
pub use worker::Worker;
