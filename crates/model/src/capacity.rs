//! What the table costs on DynamoDB: units of every question and every mutation, in total for given
//! rates, and the price of a month. It knows requests only: storage, streams, backups and transfer
//! are not in it, nor is the processors' own bookkeeping (checkpoints, leases, jobs), and what expires
//! goes for free.
//!
//! Units come from the schema and typical items, by DynamoDB's rounding:
//! - a get rounds each item up to 4 KB, a query the sum of its page; eventual reads cost half;
//! - a write rounds the larger image up to 1 KB, for the table and for each index it touches; a moved
//!   index entry counts twice;
//! - in a transaction the table's part counts twice and that of the indexes once, since they follow
//!   after the commit; a check is charged like a write of the item it looks at, and has no indexes.
//!
//! A processor that retries, a transaction that is refused and a page that is asked for twice cost
//! more than is said here.

mod catalogue;
mod columns;
mod error;
mod mutations;
mod nearest;
mod plan;
mod prices;
mod rates;
mod reads;
mod settings;
mod typical;
mod units;

pub use self::catalogue::{Catalogue, StepEntry, WriteEntry, catalogue};
pub use self::error::CapacityError;
pub use self::mutations::{Act, Mutation, REQUEST_IDS, Step, mutations};
pub use self::plan::{Plan, ReadLine, WriteLine, plan};
pub use self::prices::Prices;
pub use self::rates::{Estimate, Rates, ReadRate, WriteRate};
