//! Fuzzing: GraphQL documents against the schema of a populated town, and HTTP requests against a server.
//!
//! Nothing may panic, not even if the panic is caught. Every response must have the contract's shape and
//! reveal no internal details. Internal errors count as failures, since nothing is broken here.
//! Strangers must not see hidden content.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a failed setup should stop the run"
)]
#![expect(clippy::print_stderr, reason = "the run reports its progress")]
#![expect(clippy::missing_panics_doc, reason = "a finding is a panic")]
// The future of a query nests one future for each type that it can select.
#![recursion_limit = "256"]

mod api_town;
mod bodies;
mod choices;
mod document_writer;
mod documents;
mod formats;
mod frames;
mod grammar;
mod literals;
mod oracle;
mod populated_town;
mod response_checks;
mod runner;
// Shared with the tests of the API.
#[path = "../../crates/graphql/tests/support/services.rs"]
mod services;
mod test_server;
mod value_pool;

pub use bodies::bodies;
pub use documents::documents;
pub use formats::{cursors, exports, records, tokens, values};
pub use oracle::{Comparison, compare_with_oracle, generate_oracle};
pub use runner::{Coverage, run, run_target, smoke};
