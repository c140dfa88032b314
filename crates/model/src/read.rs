//! Runs access patterns: reads of single items, of several at once, and of pages, which are always
//! full unless the result ends.

mod listing;
mod lookup;
mod partitions;

pub use listing::{EntityPage, Listing, StoredPage};
pub use lookup::{BatchLookup, FirstLookup, Lookup, items_by_key, items_by_key_eventual};
pub use partitions::{Partitions, SortKeyRange};
