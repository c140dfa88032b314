//! The table contract over the AWS SDK: Amazon DynamoDB, or any server that speaks its API.
//!
//! [`Dynamo`] is a [`Backend`](roundtable_table::Backend): it turns requests into expressions and
//! responses into items. It also does what DynamoDB leaves to its users: expired items are hidden
//! before DynamoDB sweeps them, unprocessed parts of batches and conflicting transactions are retried
//! with backoff, and a merge over partitions is a set of concurrent queries.
//!
//! It is not a cache and keeps no items. The state it keeps (stream ARNs and iterators, the time a
//! caller's token was first sent with) can be lost without harm to data.
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
mod merge;
mod pages;
mod range;
mod read_projection;
mod reads;
mod retry;
mod shards;
mod streams;
mod tables;
mod transactions;
mod values;
mod writes;

pub use config::{Config, Credentials, Environment, RetryPolicy};
pub use dynamo::Dynamo;
