//! Media stores: a file uploaded by a signed URL can be downloaded by another, and in no other way
//! (R43).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bucket;
mod directory;
mod probes;
mod promises;
mod server;
mod stories;
mod transfers;
