//! Asking the questions of the page: single items, several at once, and pages that are always full
//! unless the answer ends.

mod listing;
mod lookup;
mod partitions;

pub use listing::{Listing, Page};
pub use lookup::{First, Lookup, Lookups, items_at, items_lately_at};
pub use partitions::{Partitions, Range};
