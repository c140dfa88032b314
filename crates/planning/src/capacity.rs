//! The cost of the table on DynamoDB: the request units of every access pattern and mutation, their
//! total for given rates, and the price per month. Storage, streams, backups and transfer are not
//! included, nor are the processors' own writes (checkpoints, leases, jobs). Expiry is free.
//!
//! Access patterns are computed from the schema and the sizes of typical items, mutations are recorded
//! on the reference backend (`mutations.toml`), both with DynamoDB's rounding:
//! - a get rounds each item up to 4 KB, a query the sum of its page; eventual reads cost half;
//! - a write rounds the larger image up to 1 KB, for the table and for each index it changes; a moved
//!   index entry counts twice;
//! - in a transaction the table's share counts twice and that of the indexes once, since they are
//!   updated after the commit; a check is charged like a write of the checked item, without indexes.
//!
//! Mutations are recorded one at a time; processors that handle several in a batch read less. Retries
//! of processors, failed transactions and repeated reads cost more than is computed here.

mod catalogue;
mod columns;
mod error;
mod expression;
mod mutations;
mod nearest;
mod plan;
mod prices;
mod rates;
mod reads;
mod settings;
mod typical;
mod units;

pub use self::catalogue::{CostCatalogue, MutationEntry, catalogue};
pub use self::error::CapacityError;
pub use self::expression::CountExpression;
pub use self::mutations::{
    CountValues, MutationRecord, REQUEST_IDS, WriteKind, WriteRecord, mutations,
};
pub use self::plan::{CapacityPlan, MutationCost, ReadCost, plan};
pub use self::prices::Prices;
pub use self::rates::{CapacityEstimate, ReadRate, RequestRates, WriteRate};
