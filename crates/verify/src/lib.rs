//! Checks that a quiet store holds what RELIABILITY.md says must always hold, and rebuilds what is
//! derived from facts.
//!
//! [`Verify`] reads every table and index once, in parallel, and keeps no items: what belongs together
//! is entered into a ledger of a few megabytes, whose accounts must balance. Only where one
//! does not is a second, narrower look taken, which names the keys. So memory is bounded however large
//! the store is: see [`Verify`].
//!
//! It judges what is stored and refuses to guess: what does not follow from facts is reported and left.
//! It knows no backend; what only one of them can tell (checksums, the log) is handed in.
//!
//! A new entity goes into the list of `kinds.rs`, where a test asks for it. If facts of it are counted,
//! or it makes a name unique, it says so in `tell.rs`: one entry for the fact, one for what states it.

mod accounts;
mod books;
mod chain;
mod check;
mod failure;
mod finding;
mod kinds;
mod lag;
mod ledger;
mod progress;
mod repair;
mod runs;
mod scan;
mod subject;
mod tell;
mod verify;

pub use failure::{Failure, Result};
pub use finding::{Finding, Invariant, Report};
pub use lag::Lag;
pub use progress::{Progress, Silent};
pub use repair::{Left, Repaired};
pub use verify::{Tables, Verify};
