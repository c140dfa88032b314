//! Fuzzing: GraphQL documents against the schema with a town behind it, and whatever HTTP can carry
//! against a server.
//!
//! Nothing may panic, not even where a panic would be caught; every answer must be of the contract's
//! shape and say nothing of the inside; and as nothing is broken here, no answer may say that something
//! is. What is told to a stranger must hold nothing that is for others.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a run that cannot go on should stop"
)]
#![expect(clippy::print_stderr, reason = "telling how it goes is part of the job")]
#![expect(clippy::missing_panics_doc, reason = "panicking is how something found is told")]
// What answers a query is one future within another for each kind of thing that can be asked.
#![recursion_limit = "256"]

mod answers;
mod bodies;
mod bytes;
mod documents;
mod driving;
mod frames;
mod grammar;
mod literals;
mod pool;
mod served;
// As the tests of the API have them.
#[path = "../../crates/graphql/tests/props/services.rs"]
mod services;
mod stage;
mod writing;

pub use bodies::bodies;
pub use documents::documents;
pub use driving::{Seen, drive, smoke};
