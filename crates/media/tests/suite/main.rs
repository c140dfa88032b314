//! Stores of files: what is sent by a signed address can be fetched by another, and nothing else can
//! (R43).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bucket;
mod directory;
mod promises;
mod server;
mod stories;
