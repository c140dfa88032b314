//! Recorded histories: the calls and results of concurrent callers, and the search for an order
//! that explains them.
//!
//! [`record`] lets tasks work on a few hot keys and records every call with its start and end.
//! [`explain`] then looks for one order of all calls that respects those times and that a plain
//! model of a table would answer the same way: for single items that is linearizability, for
//! transactions strict serializability (I14). [`walk`] and [`check_walks`] do the same for paging
//! (I13). [`check_store`] runs all of it.
//!
//! The model shares no code with any backend, not even the evaluation of conditions, so that an
//! error in shared code cannot hide itself. To show that the checkers work, [`FaultyBackend`] has
//! one known [`Fault`] each.
//!
//! Durability across crashes and streams are not checked here: those need a store that restarts.

mod call;
mod check;
mod conflict;
mod faults;
mod model;
mod paging;
mod record;
mod search;
mod walk;

pub use call::{Action, Answer, Call, Edit, Effect, Image, Precondition, Seen};
pub use check::{
    CheckCounts, HistoryFailure, check_items, check_paging, check_store, check_transactions,
    items_workload, transactions_workload,
};
pub use conflict::{Conflict, explain};
pub use faults::{Fault, FaultyBackend};
pub use model::{KEYS_MAX, State};
pub use paging::{ItemWrite, PagingViolation, ReadPage, View, Walk, WalkRecord, check_walks};
pub use record::{History, Mix, Workload, record};
pub use search::{CALLS_MAX, Verdict, search};
pub use walk::walk;
