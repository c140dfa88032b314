//! The search index (R58), on tantivy: which documents contain which words.
//!
//! The index is derived data. It names candidates for the domain's [`Search`](roundtable_domain::Search),
//! which reads each as it is now; it is never asked whether a viewer may see something. It follows the
//! stream, is committed together with its position there, and is rebuilt from the table if it is missing,
//! damaged, or of another version. It knows no rules and no protocol.

mod compare;
mod directory;
mod error;
mod fields;
mod find;
mod handle;
mod indexer;
mod query;
mod rebuild;
mod settings;
mod tag_terms;
mod writer;

pub use compare::{IndexComparison, IndexDifference, compare};
pub use error::IndexError;
pub use handle::{IndexState, SearchStatus};
pub use indexer::Indexer;
pub use settings::{IndexLocation, IndexSettings};
