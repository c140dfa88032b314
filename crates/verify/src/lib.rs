//! Checks the invariants of a quiet store, and rebuilds the data that is derived from facts.
//!
//! [`Verifier`] reads every table and index once, in parallel, and keeps no items. Facts (a like)
//! and the items that state their number (a counter) are added to hash sums of a few megabytes,
//! which must come to zero. Only where a sum does not is a second, narrower pass made, which names
//! the keys. So memory is bounded however large the store is.
//!
//! It refuses to guess: what does not follow from facts is reported and left as it is. It depends
//! on no backend; checks that only one backend can do (checksums, the log) are passed in.
//!
//! A new entity needs a `TallySource`. If facts of it are counted, or it makes a name unique, it has
//! one entry for the fact and one for the item that states it; otherwise add it to `no_entries!`.

mod check;
mod entity_checks;
mod error;
mod finding;
mod lag;
mod owner_checks;
mod partition_checks;
mod progress;
mod repair;
mod scan;
mod stream_check;
mod subject;
mod sums;
mod tallies;
mod tally;
mod tally_source;
mod verifier;

pub use error::{Result, VerifyError};
pub use finding::{Finding, Invariant, VerifyReport};
pub use lag::ProcessorLag;
pub use progress::{NoProgress, ProgressReporter};
pub use repair::{RepairReport, UnrepairedFinding};
pub use verifier::{Tables, Verifier};
