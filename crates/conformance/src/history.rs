//! Recorded histories: what concurrent callers asked and saw, and whether one order explains it.
//!
//! [`record`] lets tasks work on a few hot keys and writes down every call with the moment it was
//! asked and the moment it was answered. [`explain`] then looks for one order of all calls that
//! respects those moments and that a plain model of a table would answer the same way: for single
//! items that is linearizability, for transactions strict serializability (I14). [`walk`] and
//! [`check_walks`] do the same for paging (I13). [`check_store`] runs all of it.
//!
//! The model here shares no code with any backend, not even the evaluation of conditions, so that
//! an error in the contract's own arithmetic cannot hide itself. A checker that has never caught
//! anything shows nothing: [`Planted`] is a backend with one known [`Fault`] each.
//!
//! Not here: durability across crashes, and streams. Their checks need a store that restarts.

mod call;
mod check;
mod conflict;
mod faults;
mod model;
mod paging;
mod record;
mod search;
mod walk;

pub use call::{Action, Answer, Call, Demand, Edit, Effect, Image, Seen};
pub use check::{
    Failure, Tally, check_items, check_paging, check_store, check_transactions, items_workload,
    transactions_workload,
};
pub use conflict::{Conflict, explain};
pub use faults::{Fault, Planted};
pub use model::{KEYS_MAX, State};
pub use paging::{Lapse, PageSeen, View, Walk, Walked, Wrote, check_walks};
pub use record::{History, Mix, Workload, record};
pub use search::{CALLS_MAX, Verdict, search};
pub use walk::walk;
