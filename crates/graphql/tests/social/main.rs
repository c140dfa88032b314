//! The social half of the API: documents in, JSON out, over a town in memory.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::indexing_slicing, reason = "JSON answers null where there is nothing")]

mod errors;
mod feeds;
mod follows;
mod groups;
mod hidden;
mod limits;
mod loads;
mod media;
mod moderation;
mod nodes;
mod once;
mod paging;
mod posts;
mod stage;
